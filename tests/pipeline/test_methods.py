"""A second search method fits beside the policy's."""

from pathlib import Path
from typing import get_args

import pytest

import dact
from dact.cli import options
from dact.evaluation import evaluate
from dact.instances import generate_set
from dact.pipeline import SEARCHES, Setup, SolveConfig
from dact.problems import Batch
from dact.search import Searcher, SearchState
from dact.search.searcher import StepByStep


class Still(StepByStep):
    """Finds nothing, and needs no policy for it."""

    name = "still"
    graph_steps = 4

    def row_bytes(self, length: int) -> int:
        return length

    def prepare(self, batch: Batch, state: SearchState) -> None:
        pass

    def advance(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        return state


def make_still(setup: Setup) -> Searcher:
    """As a method is registered."""
    assert setup.config.search == "still"
    return Still()


@pytest.fixture
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register it, and let no weights be read."""

    def refuse(path: Path) -> None:
        raise AssertionError(f"{path} is read")

    monkeypatch.setitem(SEARCHES, "still", make_still)
    monkeypatch.setattr("dact.policy.weights.load_weights", refuse)


@pytest.mark.usefixtures("_still")
def test_a_method_without_weights_loads_none(tmp_path: Path):
    """Solving, evaluating and keeping results work with a method that never asks for a policy."""
    instances = generate_set("cvrp", 8, 3, seed=1)
    result = dact.solve(instances[0], search="still", steps=10)
    assert (result.cost, result.steps, result.weights) == (result.start_cost, 10, None)
    done = evaluate(instances, SolveConfig(search="still", steps=4), out=tmp_path / "kept.jsonl")
    assert done.weights is None
    again = evaluate(instances, SolveConfig(search="still", steps=4), out=tmp_path / "kept.jsonl")
    assert (again.solved, again.mean_cost) == (0, done.mean_cost)


def test_the_policy_asks_for_its_weights():
    """The one method that there always is says which weights it used."""
    assert dact.solve(generate_set("tsp", 8, 1, seed=1)[0], steps=1, search="policy").weights == "tsp20"


def test_help_names_every_method():
    """`--search` says what there is."""
    (option,) = (each for each in get_args(options.Search) if hasattr(each, "help"))
    assert all(name in option.help for name in SEARCHES)
