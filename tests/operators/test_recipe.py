"""docs/recipes.md, "Add an operator", followed with an or-opt: it has the properties that the suite asks of all."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest
import torch
from torch import Tensor

from begun import begun
from dact import tours
from dact.operators import OPERATORS
from dact.policy import Policy, PolicyConfig
from dact.problems import PROBLEMS, Batch, capacity
from dact.search import GraphedEngine, PlainEngine, SearchConfig, engine_for

NAME = "or_opt"


def or_opt(tour_BN: Tensor, move_B2: Tensor) -> Tensor:
    """The tours with the nodes at positions `first` and `first` + 1 moved to just after the one at `second`."""
    size = tour_BN.shape[1]
    place_BN = torch.arange(size, device=tour_BN.device).expand_as(tour_BN)
    first_B1, second_B1 = move_B2[:, :1], move_B2[:, 1:]
    offset_BN = (place_BN - first_B1) % size
    stays_B1 = (second_B1 - first_B1) % size < 2
    key_BN = torch.where((offset_BN < 2) & ~stays_B1, second_B1 + (offset_BN + 1) / 3, place_BN)
    return tours.anchor(tour_BN.gather(1, key_BN.argsort(1)))


def naive_or_opt(tour: list[int], first: int, second: int) -> list[int]:
    """Take two nodes out and put them back after a third."""
    pair = [tour[first], tour[(first + 1) % len(tour)]]
    if tour[second] in pair:
        return tour
    rest = [node for node in tour if node not in pair]
    place = rest.index(tour[second]) + 1
    return [*rest[:place], *pair, *rest[place:]]


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> None:
    """The operator's line in the registry."""
    monkeypatch.setitem(OPERATORS, NAME, or_opt)


def suite_of(folder: str, name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the suite."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / folder)
    return importlib.import_module(name)


@pytest.mark.usefixtures("added")
def test_properties_of_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does what list surgery does, row by row."""
    suite = suite_of("operators", "test_operators", monkeypatch)
    monkeypatch.setitem(suite.NAIVE, NAME, naive_or_opt)
    suite.test_operator_equals_naive_surgery(NAME)
    suite.test_rows_do_not_mix(NAME)


@pytest.mark.usefixtures("added")
def test_feasible_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moves that overload a vehicle are closed, found by trial."""
    assert or_opt not in capacity.CLOSED_FORMS
    suite = suite_of("problems", "test_capacity", monkeypatch)
    suite.test_exactly_the_feasible_moves_are_allowed(NAME)


@pytest.mark.usefixtures("added")
def test_steps(problem_name: str, batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Walks stay feasible and costs add up."""
    suite = suite_of("search", "test_step", monkeypatch)
    suite.test_random_walks_stay_feasible_and_costs_add_up(problem_name, batch, NAME)


@pytest.mark.usefixtures("added")
def test_engines(problem_name: str, batch: Batch) -> None:
    """It is searched with on a CPU, and on a GPU by the engine that needs no kernel of it."""
    problem, config = PROBLEMS[problem_name], SearchConfig(operator=NAME)
    policy = Policy(PolicyConfig(features=problem.features))
    assert isinstance(engine_for(problem, policy, config, torch.device("cuda")), GraphedEngine)
    engine = engine_for(problem, policy, config, torch.device("cpu"))
    assert isinstance(engine, PlainEngine)
    state = engine.advance(batch, begun(problem_name, batch), 3)
    torch.testing.assert_close(state.cost_B, batch.cost(state.tour_BN))
