"""Moves that change nothing."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dact.kernels.pick_move.moves import close_idle, idle_moves
from dact.kernels.row_draws import streams
from dact.operators import OPERATORS, two_opt
from dact.policy import Policy, PolicyConfig
from dact.problems import PROBLEMS, Cvrp
from dact.search import PlainEngine, SearchConfig, start_state


def edges(tour: list[int], depots: int) -> Counter[tuple[int, ...]]:
    """What a tour costs depends on these alone: pairs of neighbours, all depots being one place."""
    place = [max(0, node - depots + 1) if depots else node for node in tour]
    return Counter(tuple(sorted(pair)) for pair in zip(place, place[1:] + place[:1], strict=True))


@settings(deadline=None, max_examples=60)
@given(order=st.permutations(range(1, 8)), depots=st.integers(0, 5))
def test_idle_moves_keep_every_edge(order: list[int], depots: int) -> None:
    """Exactly the moves after which each node has the neighbours that it had."""
    tour_BN = torch.tensor([[0, *order]])
    before, size = edges(tour_BN[0].tolist(), depots), tour_BN.shape[1]
    expected = [
        [edges(two_opt(tour_BN, torch.tensor([[i, j]]))[0].tolist(), depots) == before for j in range(size)]
        for i in range(size)
    ]
    assert idle_moves(tour_BN, depots)[0].tolist() == expected


def test_feasible_moves_that_are_not_idle(problem_name: str, generator: torch.Generator) -> None:
    """2-opt loses its idle moves and no others; other operators keep all."""
    problem = PROBLEMS[problem_name]
    batch = problem.sample(10, 3, generator)
    tour_BN = problem.greedy_start(batch)
    feasible = problem.allowed_moves(batch, tour_BN, two_opt)
    feasible = torch.ones(3, batch.length, batch.length, dtype=torch.bool) if feasible is None else feasible
    found = problem.with_idle_moves(False).allowed_moves(batch, tour_BN, two_opt)
    assert found is not None
    assert torch.equal(found, feasible & ~idle_moves(tour_BN, batch.depots))
    for name in ("insert", "swap"):
        usual, same = (
            each.allowed_moves(batch, tour_BN, OPERATORS[name]) for each in (problem, problem.with_idle_moves(False))
        )
        assert usual is same is None or torch.equal(usual, same)  # type: ignore[arg-type]


def test_a_move_always_remains(generator: torch.Generator) -> None:
    """Where nearly all moves are idle they stay open, since a search has to do something; other rows lose theirs."""
    assert close_idle(None, torch.tensor([[0, 1, 2]]), 0).all()
    batch = Cvrp().sample(10, 2, generator)
    tour_BN = Cvrp().greedy_start(batch)
    feasible = torch.ones(2, batch.length, batch.length, dtype=torch.bool)
    feasible[1] = idle_moves(tour_BN, batch.depots)[1]
    closed = close_idle(feasible, tour_BN, batch.depots)
    assert not (closed[0] & idle_moves(tour_BN, batch.depots)[0]).any()
    assert torch.equal(closed[1], feasible[1])


@pytest.mark.parametrize("problem_name", ["tsp", "cvrp"])
def test_every_step_changes_the_routes(problem_name: str, generator: torch.Generator) -> None:
    """A search without idle moves makes none, where an untrained one with them makes many."""
    problem = PROBLEMS[problem_name]
    batch = problem.sample(8, 4, generator)
    policy = Policy(PolicyConfig(features=problem.features)).eval()
    idle = []
    for each in (problem, problem.with_idle_moves(False)):
        tour_BN = each.greedy_start(batch)
        state = start_state(tour_BN, batch.cost(tour_BN), streams(1, range(4), torch.device("cpu")))
        count = 0
        for _ in range(12):
            after = PlainEngine(each, policy, SearchConfig()).advance(batch, state, 1)
            pairs = zip(state.tour_BN.tolist(), after.tour_BN.tolist(), strict=True)
            count += sum(edges(a, batch.depots) == edges(b, batch.depots) for a, b in pairs)
            state = after
        idle.append(count)
    assert idle[0] > 5
    assert idle[1] == 0
