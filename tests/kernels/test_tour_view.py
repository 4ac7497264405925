"""What a step sees of a tour: the kernel and its reference against the problems' own features and loads."""

import pytest
import torch
from torch import Tensor

from begun import begun
from dact.kernels.tour_view import CAPACITY, COORDINATES, Nodes, tour_view_reference
from dact.operators import OPERATORS
from dact.problems import PROBLEMS, Batch, capacity

pytest.importorskip("triton")


def nodes_of(batch: Batch) -> Nodes:
    """What views are told of a batch."""
    return Nodes(batch.coordinates_BN2, batch.demand_BN, batch.capacity_B, batch.depots)


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


def expected_loads(batch: Batch, tour_BN: Tensor) -> Tensor:
    """The six numbers of each position by the problem's own loads."""
    around = capacity.loads(batch, tour_BN)
    low = (around.route_BN.masked_fill(around.depot_BN, -1), around.before_BN, around.rest_BN)
    return torch.stack((*low, around.route_BN, around.until_BN, around.after_BN), dim=2)


CASES = [(2, 1, 9), (2, 2, 9), (3, 1, 9), (3, 2, 9), (31, 1, 9), (31, 9, 9), (32, 4, 0), (33, 7, 9)]
CASES += [(70, 20, 10**7), (130, 30, 100), (1056, 56, 10**6)]


@pytest.mark.parametrize(("size", "depots", "largest"), CASES)
@pytest.mark.usefixtures("poisoned")
def test_capacity_view(size: int, depots: int, largest: int, device: str) -> None:
    """Loads are exact and features are the problem's: one route or many, empty routes, no demand, large demand."""
    from dact.kernels.tour_view.triton_impl import tour_view_triton

    batch = some_batch(size, depots, largest)
    tour_BN = some_tours(batch)
    expected_BNF = PROBLEMS["cvrp"].node_features(batch, tour_BN)
    reference_BNF, reference = tour_view_reference(tour_BN, nodes_of(batch), CAPACITY)
    features_BNF, loads = tour_view_triton(tour_BN.to(device), nodes_of(batch.to(device)), CAPACITY)
    assert reference is not None
    assert loads is not None
    assert torch.equal(reference.load_BN6, expected_loads(batch, tour_BN))
    assert torch.equal(loads.load_BN6.cpu(), reference.load_BN6)
    torch.testing.assert_close(reference_BNF, expected_BNF, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(features_BNF.cpu(), expected_BNF, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", [2, 31, 33])
@pytest.mark.usefixtures("poisoned")
def test_coordinates_view(size: int, device: str) -> None:
    """Coordinates in tour order, and no loads."""
    from dact.kernels.tour_view.triton_impl import tour_view_triton

    batch = some_batch(size, 1, 0)
    tour_BN = some_tours(batch)
    expected_BN2 = PROBLEMS["tsp"].node_features(batch, tour_BN)
    for make, where in ((tour_view_reference, "cpu"), (tour_view_triton, device)):
        features_BN2, loads = make(tour_BN.to(where), nodes_of(batch.to(where)), COORDINATES)
        assert torch.equal(features_BN2.cpu(), expected_BN2)
        assert loads is None


def test_problems_name_the_view_they_are(problem_name: str, batch: Batch) -> None:
    """A problem's view gives its features, and loads exactly where some 2-opt moves are forbidden."""
    problem = PROBLEMS[problem_name]
    tour_BN = begun(problem.name, batch).tour_BN
    assert problem.view is not None
    features_BNF, loads = tour_view_reference(tour_BN, nodes_of(batch), problem.view)
    torch.testing.assert_close(features_BNF, problem.node_features(batch, tour_BN))
    assert (loads is None) == (problem.allowed_moves(batch, tour_BN, OPERATORS["two_opt"]) is None)
