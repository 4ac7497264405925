"""Timing the search, and costing its answers again."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from begun import begun
from dact.bench import QUICK_SEARCH_CASES, SEARCH_CASES, SearchCase, measure_search, with_file
from dact.instances import generate_set
from dact.pipeline import SolveConfig, recost
from dact.problems import PROBLEMS, Batch
from dact.search import PlainEngine, SearchState

CONFIG = SolveConfig(device="cpu", weights="untrained")


def test_authors_numbers():
    """The cases are those of the table, with the rates that the authors' code reached."""
    assert [(case.name, case.instances, case.authors_per_s) for case in SEARCH_CASES] == [
        ("tsp20", 10_000, 98_000),
        ("tsp50", 10_000, None),
        ("tsp100", 10_000, 33_000),
        ("cvrp20", 10_000, 39_000),
        ("cvrp50", 10_000, None),
        ("cvrp100", 10_000, 10_000),
        ("cvrp200-x", 1_000, None),
        ("tsp100-x8", 1, None),
        ("cvrp1000", 8, None),
    ]


def test_instances_like_x_have_250_positions():
    """The sampled ones are as long as X-n200-k36 with its depots, give or take a few."""
    (case,) = (case for case in SEARCH_CASES if case.name == "cvrp200-x")
    assert abs(replace(case, instances=2).batch(torch.device("cpu"), PROBLEMS["cvrp"]).length - 250) <= 5


def test_row():
    """Rates count instances and not their augmentations, and are compared with the authors'."""
    case = SearchCase(name="small", problem="tsp", size=6, instances=2, augment=3, authors_per_s=100.0)
    (row,) = measure_search([case], CONFIG, seconds=0, repeats=3)
    assert (row.case, row.positions, row.rows, row.steps, row.repeats) == ("small", 6, 6, 8, 3)
    assert (row.engine, row.precision, row.weights) == ("plain", "float32", "untrained")
    assert 0 < row.p20_ms <= row.p50_ms <= row.p80_ms
    assert row.per_s == pytest.approx(2000 / row.p50_ms, rel=0.01)
    assert row.times_faster == pytest.approx(row.per_s / 100, rel=0.01)
    assert row.cost_error < 1e-6


def test_copies_of_a_file():
    """A given instance takes the place of the sampled ones like X, and has its own rule."""
    given = replace(generate_set("cvrp", 7, 1, 1)[0], name="mine", rule="euc_2d")
    cases = with_file(QUICK_SEARCH_CASES, given)
    assert [case.name for case in cases] == ["tsp20", "mine", "tsp20-x8"]
    batch = cases[1].batch(torch.device("cpu"), PROBLEMS["cvrp"])
    assert batch.rows == 4
    assert batch.distance_INN is not None
    assert len(batch.distance_INN) == 1
    (row,) = measure_search([cases[1]], CONFIG, seconds=0, repeats=1)
    assert row.cost_error < 1e-6


def test_a_large_file_takes_the_place_of_the_large_case():
    """Eight rows of it, not a thousand."""
    large = replace(generate_set("cvrp", 900, 1, 1)[0], name="large")
    cases = with_file(SEARCH_CASES, large)
    assert {case.name: case.instances for case in cases if case.given} == {"large": 8}


def test_wrong_answers_give_no_times(monkeypatch: pytest.MonkeyPatch):
    """A search that breaks a tour raises."""

    def broken(self: PlainEngine, batch: Batch, state: SearchState, *rest: object) -> SearchState:
        return replace(state, incumbent_BN=torch.zeros_like(state.incumbent_BN))

    monkeypatch.setattr(PlainEngine, "advance", broken)
    with pytest.raises(RuntimeError, match="row 0 does not visit every node once"):
        list(measure_search([QUICK_SEARCH_CASES[0]], CONFIG, seconds=0, repeats=1))


def test_wrong_costs_give_no_times(monkeypatch: pytest.MonkeyPatch):
    """A search that tells other costs than its tours have raises."""
    advance = PlainEngine.advance

    def flattering(self: PlainEngine, *arguments: Any) -> SearchState:
        state = advance(self, *arguments)
        return replace(state, incumbent_cost_B=0.999 * state.incumbent_cost_B)

    monkeypatch.setattr(PlainEngine, "advance", flattering)
    with pytest.raises(RuntimeError, match=r"the cost of row \d is off by"):
        list(measure_search([QUICK_SEARCH_CASES[0]], CONFIG, seconds=0, repeats=1))


def test_recost_is_the_batchs_own_cost(problem_name: str, batch: Batch, generator: torch.Generator):
    """In float64, up to the rounding of the batch; rotated tours cost the same."""
    tour_BN = begun(problem_name, batch).tour_BN
    cost_B = recost(batch, tour_BN)
    assert cost_B.dtype == torch.float64
    torch.testing.assert_close(cost_B.float(), batch.cost(tour_BN))
    torch.testing.assert_close(recost(batch, tour_BN.roll(3, dims=1)), cost_B)


def test_overloads_are_found(generator: torch.Generator):
    """Customers of all routes in one vehicle are too many, wherever the tour begins."""
    batch = PROBLEMS["cvrp"].sample(30, 2, generator)
    tour_BN = torch.arange(batch.length).expand(2, -1)
    for turn in (0, 7):
        with pytest.raises(RuntimeError, match="row 0 overloads a vehicle"):
            recost(batch, tour_BN.roll(turn, dims=1))
