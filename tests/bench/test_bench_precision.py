"""Comparing two searches in pairs."""

from dataclasses import replace

import numpy as np
import pytest

from dact.bench import compare, comparison, paired_sets
from dact.evaluation import Evaluation, evaluate
from dact.pipeline import SolveConfig

CONFIG = SolveConfig(steps=8, device="cpu", weights="untrained")


@pytest.fixture
def done() -> Evaluation:
    """Six instances."""
    return evaluate(paired_sets([("tsp", 8)], 6)[0], CONFIG)


def test_the_same_search_is_alike(done: Evaluation):
    """No difference, no error."""
    same = comparison(done, done)
    assert (same.difference, same.standard_error, same.percent, same.alike) == (0, 0, 0, True)


@pytest.mark.parametrize(
    ("changes", "alike"),
    [
        ([1e-4, -1e-4, 2e-4, -2e-4, 1e-4, -1e-4], True),
        ([1e-4, 1.1e-4, 1e-4, 1.1e-4, 1e-4, 1.1e-4], False),
        ([0.1, -0.1, 0.1, -0.1, 0.1, 0.1], False),
    ],
    ids=["noise", "small but certain", "large but uncertain"],
)
def test_verdict(done: Evaluation, changes: list[float], alike: bool):
    """Alike means both small and within two standard errors, by hand."""
    other = replace(done, costs=done.costs - np.array(changes))
    row = comparison(done, other)
    assert row.difference == pytest.approx(np.mean(changes))
    assert row.standard_error == pytest.approx(np.std(changes, ddof=1) / np.sqrt(6))
    assert row.percent == pytest.approx(100 * np.mean(changes) / other.costs.mean(), abs=1e-3)
    assert row.alike == alike


def test_both_solve_the_same_instances():
    """A row for each set, with the settings that were compared."""
    sets = paired_sets([("tsp", 6), ("cvrp", 6)], 4)
    rows = list(compare(sets, CONFIG, replace(CONFIG, seed=1)))
    assert [row.instances for row in rows] == ["tsp6_seed2468", "cvrp6_seed2468"]
    assert {(row.one, row.other, row.count, row.steps) for row in rows} == {("float32 seed 0", "float32 seed 1", 4, 8)}
    expected = evaluate(sets[0], CONFIG).costs - evaluate(sets[0], replace(CONFIG, seed=1)).costs
    assert rows[0].difference == pytest.approx(expected.mean())
