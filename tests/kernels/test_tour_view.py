"""What a step sees of a tour: the kernel against its reference, and that against counting."""

import pytest
import torch
from torch import Tensor

from begun import begun
from dact import tours
from dact.kernels.pick_move import feasible_moves
from dact.kernels.tour_view import CAPACITY, COORDINATES, loads, tour_view_reference
from dact.operators import OPERATORS
from dact.problems import PROBLEMS, Batch

pytest.importorskip("triton")


def some_batch(size: int, depots: int, largest: int, rows: int = 3) -> Batch:
    """Random customers, of whom some have no demand."""
    generator = torch.Generator().manual_seed(size)
    demand = torch.randint(0, largest + 1, (rows, size), generator=generator, dtype=torch.int32)
    demand = demand * torch.randint(0, 4, (rows, size), generator=generator, dtype=torch.int32).clamp(max=1)
    demand[:, :depots] = 0
    return Batch(
        coordinates_BN2=torch.rand(rows, size, 2, generator=generator),
        scale_B=torch.ones(rows),
        demand_BN=demand,
        capacity_B=torch.full((rows,), max(1, largest * size // (2 * depots)), dtype=torch.int32),
        depots=depots,
    )


def some_tours(batch: Batch) -> Tensor:
    """Nodes in any order behind node 0; in the second row all depots come first, in the third last."""
    generator = torch.Generator().manual_seed(batch.length)
    key = torch.rand(batch.rows, batch.length, generator=generator)
    key[1, : batch.depots] -= 1
    key[2, : batch.depots] += 1
    key[:, 0] = -2
    return key.argsort(1)


CASES = [(2, 1, 9), (2, 2, 9), (3, 1, 9), (3, 2, 9), (31, 1, 9), (31, 9, 9), (32, 4, 0), (33, 7, 9)]
CASES += [(70, 20, 10**7), (130, 30, 100), (1056, 56, 10**6)]


@pytest.mark.parametrize(("size", "depots", "largest"), CASES)
@pytest.mark.usefixtures("poisoned")
def test_capacity_view(size: int, depots: int, largest: int, device: str) -> None:
    """Loads are exact and features agree: one route or many, empty routes, no demand, large demand."""
    from dact.kernels.tour_view.triton_impl import tour_view_triton

    batch = some_batch(size, depots, largest)
    tour_BN = some_tours(batch)
    expected_BNF, expected = tour_view_reference(tour_BN, batch, CAPACITY)
    features_BNF, feasible = tour_view_triton(tour_BN.to(device), batch.to(device), CAPACITY)
    assert feasible.load_BN6 is not None
    assert expected.load_BN6 is not None
    assert torch.equal(feasible.load_BN6.cpu(), expected.load_BN6)
    torch.testing.assert_close(features_BNF.cpu(), expected_BNF, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", [2, 31, 33])
@pytest.mark.usefixtures("poisoned")
def test_coordinates_view(size: int, device: str) -> None:
    """Coordinates in tour order, and no loads."""
    from dact.kernels.tour_view.triton_impl import tour_view_triton

    batch = some_batch(size, 1, 0)
    tour_BN = some_tours(batch)
    expected_BN2 = tours.in_tour_order(batch.coordinates_BN2, tour_BN)
    for make, where in ((tour_view_reference, "cpu"), (tour_view_triton, device)):
        features_BN2, feasible = make(tour_BN.to(where), batch.to(where), COORDINATES)
        assert torch.equal(features_BN2.cpu(), expected_BN2)
        assert feasible.load_BN6 is None


def test_loads_by_counting() -> None:
    """What a route serves before and since each position, by walking along it."""
    batch = some_batch(31, 9, 9)
    tour_BN = some_tours(batch)
    around = loads(batch, tour_BN)
    for row, tour in enumerate(tour_BN.tolist()):
        served = [int(batch.demand_BN[row, node]) for node in tour]
        starts = [place for place, node in enumerate(tour) if node < batch.depots]
        for place, node in enumerate(tour):
            start = max(s for s in starts if s <= place)
            end = min((s for s in starts if s > place), default=len(tour))
            before = sum(served[start:place])
            if node < batch.depots:
                before = sum(served[max((s for s in starts if s < place), default=starts[-1]) : place or len(tour)])
            assert around.before_BN[row, place] == before
            assert around.since_BN[row, place] == sum(served[place:end])


@pytest.mark.parametrize("idle", [True, False])
def test_problems_name_the_view_they_are(problem_name: str, batch: Batch, idle: bool) -> None:
    """A problem's view gives its features and exactly its allowed 2-opt moves."""
    problem = PROBLEMS[problem_name].with_idle_moves(idle)
    tour_BN = begun(problem.name, batch).tour_BN
    assert problem.view is not None
    features_BNF, feasible = tour_view_reference(tour_BN, batch, problem.view, problem.idle)
    torch.testing.assert_close(features_BNF, problem.node_features(batch, tour_BN))
    found, expected = feasible_moves(tour_BN, feasible), problem.allowed_moves(batch, tour_BN, OPERATORS["two_opt"])
    assert found is expected is None or torch.equal(found, expected)
