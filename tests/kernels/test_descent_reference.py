"""The plain-PyTorch truth about moves: against tours that are really changed, hand-worked examples, brute force."""

import time
from itertools import combinations

import pytest
import torch
from descent_cases import CASES, delivering, every_code, starts, terrain_of, travelling
from torch import Tensor

from begun import is_permutation
from dact.kernels.descent.job import tour_cost
from dact.kernels.descent.moves import NEIGHBOURHOODS, codes
from dact.kernels.descent.reference import (
    best_moves_reference,
    candidates_reference,
    descend_reference,
    make_moves_reference,
)
from dact.problems import PROBLEMS, Batch
from dact.problems.capacity import feasible

SMALL = [name for name, batch in CASES.items() if batch.length <= 23]
SQUARE = torch.tensor([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
Routes = frozenset[tuple[int, ...]]


def changed(batch: Batch, tour_N: Tensor, neighbourhood: str) -> tuple[Tensor, Tensor]:
    """All tours that a neighbourhood gives from one, and what they gain."""
    tour_BN = tour_N.expand(batch.rows, -1)
    terrain = terrain_of(batch, tour_BN)
    chosen = codes((neighbourhood,), routes=batch.depots > 0)
    move_RC6, gain_RC = candidates_reference(terrain, tour_BN, torch.arange(batch.rows), chosen)
    open_C = gain_RC[0] > -torch.inf
    return make_moves_reference(tour_N.expand(int(open_C.sum()), -1), move_RC6[0][open_C]), gain_RC[0][open_C]


def canonical(batch: Batch, tour: list[int]) -> Routes:
    """The routes of a tour, whatever their order and direction; of one without depots the only one, from node 0."""
    if not batch.depots:
        at = tour.index(0)
        routes = [tuple(tour[at:] + tour[:at])]
        return frozenset(min(route, (route[0], *route[:0:-1])) for route in routes)
    routes = PROBLEMS["cvrp"].routes(batch, tour)
    return frozenset(min(route, route[::-1]) for route in routes)


def reached(batch: Batch, tour_N: Tensor, *neighbourhoods: str) -> set[Routes]:
    """What neighbourhoods give besides the tour itself."""
    found = {canonical(batch, t.tolist()) for name in neighbourhoods for t in changed(batch, tour_N, name)[0]}
    return found - {canonical(batch, tour_N.tolist())}


@pytest.mark.parametrize("name", SMALL)
def test_gains_are_differences_of_cost(name: str) -> None:
    """What a candidate gains is the cost before less the cost after; after it the tour is feasible."""
    batch = CASES[name]
    tour_BN, source_R = starts(batch), torch.arange(batch.rows)
    terrain = terrain_of(batch, tour_BN)
    move_RC6, gain_RC = candidates_reference(terrain, tour_BN, source_R, every_code(terrain))
    row_M, which_M = (gain_RC > -torch.inf).nonzero(as_tuple=True)
    after_MN = make_moves_reference(tour_BN[row_M], move_RC6[row_M, which_M])
    difference_M = tour_cost(terrain, tour_BN, source_R)[row_M] - tour_cost(terrain, after_MN, row_M)
    torch.testing.assert_close(gain_RC[row_M, which_M], difference_M, rtol=0, atol=1e-9)
    assert is_permutation(after_MN).all()
    if batch.depots:
        assert feasible(batch.take(row_M), after_MN).all()
        assert (after_MN[:, 0] < batch.depots).all()


def test_a_crossing_is_removed() -> None:
    """2-opt takes the crossing out of a square's diagonals and gains two diagonals less two sides."""
    batch = travelling(SQUARE)
    tour_BN = torch.tensor([0, 2, 1, 3]).expand(batch.rows, -1)
    terrain, source_R = terrain_of(batch, tour_BN), torch.arange(batch.rows)
    gain_R, move_R6 = best_moves_reference(terrain, tour_BN, source_R, NEIGHBOURHOODS["two_opt"])
    assert gain_R.tolist() == pytest.approx(batch.rows * [2 * 2**0.5 - 2])
    after = make_moves_reference(tour_BN, move_R6)[0].tolist()
    assert canonical(batch, after) == canonical(batch, [0, 1, 2, 3])


def test_a_node_goes_where_it_belongs() -> None:
    """Or-opt brings a node back to the side of the rectangle it lies on, and gains two diagonals less one side."""
    batch = travelling(torch.tensor([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]]))
    tours, gain_C = changed(batch, torch.tensor([0, 2, 3, 1, 4]), "or_opt")
    assert gain_C.max().item() == pytest.approx(2 * 2**0.5 - 2)
    assert canonical(batch, tours[gain_C.argmax()].tolist()) == canonical(batch, [0, 1, 2, 3, 4])


def line_of_routes() -> Batch:
    """A depot at 0; customers 1 to 4 at -2, -1, 1, 2; each vehicle carries two of them, and none is spare."""
    points = torch.tensor([[x, 0.0] for x in (0.0, -2.0, -1.0, 1.0, 2.0)])
    return delivering(points, torch.ones(4), 2, 2)


def test_customers_change_routes() -> None:
    """Where both vehicles are full, or-opt can do nothing; swap exchanges two that are on the wrong sides."""
    batch, tour_N = line_of_routes(), torch.tensor([0, 2, 4, 1, 3, 5])
    assert reached(batch, tour_N, "or_opt") == set()
    tours, gain_C = changed(batch, tour_N, "swap")
    assert gain_C.max() == 12 - 8
    assert canonical(batch, tours[gain_C.argmax()].tolist()) == {(1, 2), (3, 4)}


@pytest.mark.parametrize(
    ("tour", "neighbourhood"), [((0, 2, 4, 1, 5, 3), "two_opt_star"), ((0, 2, 4, 1, 3, 5), "two_opt")]
)
def test_pieces_of_two_routes_are_joined(tour: tuple[int, ...], neighbourhood: str) -> None:
    """Tails of two routes change places (2-opt*), or the tail of one and the head of the other, both turned (2-opt)."""
    batch = line_of_routes()
    tours, gain_C = changed(batch, torch.tensor(tour), neighbourhood)
    found = {canonical(batch, tour.tolist()): gain for tour, gain in zip(tours, gain_C.tolist(), strict=True)}
    assert found[frozenset({(1, 2), (3, 4)})] == gain_C.max() > 0


def test_every_or_opt_and_swap_of_a_tour() -> None:
    """Or-opt and swap without depots reach exactly the tours that moving stretches and exchanging nodes gives."""
    batch, order = travelling(torch.rand(8, 2)), [3, 1, 7, 0, 5, 2, 6, 4]
    expected = set()
    for first in range(8):
        turned = order[first:] + order[:first]
        for length in (1, 2, 3):
            stretch, rest = turned[:length], turned[length:]
            for at in range(len(rest)):
                expected |= {canonical(batch, rest[:at] + x + rest[at:]) for x in (stretch, stretch[::-1])}
    tour_N = torch.tensor(order)
    assert reached(batch, tour_N, "or_opt") == expected - {canonical(batch, order)}
    swaps = [[{u: v, v: u}.get(node, node) for node in order] for u, v in combinations(order, 2)]
    assert reached(batch, tour_N, "swap") == {canonical(batch, tour) for tour in swaps} - {canonical(batch, order)}
    flips = [order[:i] + order[i:j][::-1] + order[j:] for i, j in combinations(range(9), 2)]
    assert reached(batch, tour_N, "two_opt") == {canonical(batch, tour) for tour in flips} - {canonical(batch, order)}


@pytest.mark.parametrize("capacity", [100, 9])
def test_every_join_of_two_routes(capacity: int) -> None:
    """2-opt* and 2-opt reach exactly the feasible ways to cut two routes and join the pieces, and 2-opt in a route."""
    demand = torch.tensor([2, 3, 1, 4, 2, 2, 3])
    batch = delivering(torch.rand(8, 2), demand, capacity, 4)
    routes = [(1, 2, 3), (5, 4), (6, 7), ()]
    tour_N = torch.tensor([0, 4, 5, 6, 1, 8, 7, 2, 9, 10, 3])
    expected: set[Routes] = set()
    for one, two in combinations(routes, 2):
        others = [route for route in routes if route not in (one, two)]
        cuts = [(i, j) for i in range(len(one) + 1) for j in range(len(two) + 1)]
        joined = [(one[:i] + two[j:], two[:j] + one[i:]) for i, j in cuts]
        joined += [(one[:i] + two[:j][::-1], one[i:][::-1] + two[j:]) for i, j in cuts]
        expected |= {
            frozenset(min(route, route[::-1]) for route in (*pair, *others) if route)
            for pair in joined
            if all(int(demand[[c - 1 for c in route]].sum()) <= capacity for route in pair if route)
        }
    for route in routes:
        others = [other for other in routes if other != route]
        flips = [route[:i] + route[i:j][::-1] + route[j:] for i, j in combinations(range(len(route) + 1), 2)]
        expected |= {frozenset(min(r, r[::-1]) for r in (flip, *others) if r) for flip in flips}
    assert reached(batch, tour_N, "two_opt", "two_opt_star") == expected - {canonical(batch, tour_N.tolist())}


def test_ties_go_to_the_first() -> None:
    """Of moves that gain the same, the first in the order of node, partner and code is taken."""
    batch = CASES["tsp, whole matrix"]
    tour_BN, source_R = starts(batch), torch.arange(batch.rows)
    terrain = terrain_of(batch, tour_BN)
    chosen = every_code(terrain)
    move_RC6, gain_RC = candidates_reference(terrain, tour_BN, source_R, chosen)
    gain_R, move_R6 = best_moves_reference(terrain, tour_BN, source_R, chosen)
    for row in range(batch.rows):
        equal_M = (gain_RC[row] == gain_R[row]).nonzero()[:, 0]
        assert len(equal_M) > 1
        assert torch.equal(move_R6[row], move_RC6[row, equal_M[0]])


@pytest.mark.parametrize("name", SMALL)
def test_descents_end_in_local_optima(name: str) -> None:
    """A descent ends where no candidate gains, no worse and feasible; every move gained what it had to."""
    batch = CASES[name]
    tour_BN, source_R = starts(batch), torch.arange(batch.rows)
    terrain = terrain_of(batch, tour_BN)
    chosen = codes(routes=batch.depots > 0)
    after_RN, moves_R, optimal_R = descend_reference(terrain, tour_BN, source_R, chosen)
    assert optimal_R.all()
    assert (best_moves_reference(terrain, after_RN, source_R, chosen)[0] <= terrain.least_I).all()
    gained_R = tour_cost(terrain, tour_BN, source_R) - tour_cost(terrain, after_RN, source_R)
    assert (gained_R >= moves_R * terrain.least_I.double()).all()
    assert is_permutation(after_RN).all()
    assert not batch.depots or feasible(batch, after_RN).all()


def test_neighbour_lists() -> None:
    """With lists of neighbours, the candidates are those of all pairs whose partner is on the list."""
    batch = CASES["cvrp of 19"]
    tour_BN, source_R = starts(batch), torch.arange(batch.rows)
    chosen, customers = codes(routes=True), batch.customers
    _, every_RC = candidates_reference(terrain_of(batch, tour_BN), tour_BN, source_R, chosen)
    terrain = terrain_of(batch, tour_BN, neighbours=4)
    _, some_RC = candidates_reference(terrain, tour_BN, source_R, chosen)
    every_RUWV = every_RC.view(batch.rows, customers, customers + 1, len(chosen))
    some_RUWV = some_RC.view(batch.rows, customers, 5, len(chosen))
    near_RUK = terrain.near_INK[:, batch.depots :].long() - batch.depots
    listed = every_RUWV.take_along_dim(near_RUK.unsqueeze(3), dim=2)
    assert torch.equal(some_RUWV[:, :, :4], listed)
    assert torch.equal(some_RUWV[:, :, 4], every_RUWV[:, :, -1])


def test_the_deadline() -> None:
    """A descent that has no time left gives its tours back and says that they are not locally optimal."""
    batch = CASES["cvrp of 19"]
    tour_BN, source_R = starts(batch), torch.arange(batch.rows)
    terrain = terrain_of(batch, tour_BN)
    end = descend_reference(terrain, tour_BN, source_R, codes(routes=True), deadline=time.perf_counter())
    assert torch.equal(end.tour_RN, tour_BN)
    assert not end.optimal_R.any()
    assert not end.moves_R.any()
