"""The pairs of positions that may be drawn, written out by a kernel."""

import pytest
import torch
from torch import Tensor

from begun import begun
from dact.kernels.pick_move import open_pairs
from dact.kernels.tour_view import CAPACITY, Nodes, tour_view_reference
from dact.operators import OPERATORS
from dact.problems import PROBLEMS
from dact.search.step import open_moves

pytest.importorskip("triton")


def moves_so_far(rows: int, size: int, device: str) -> tuple[Tensor, Tensor]:
    """Tours, and nodes that were moved last; in the first row none."""
    torch.manual_seed(size)
    tour_BN = torch.stack([torch.randperm(size) for _ in range(rows)]).to(device)
    last_B2 = tour_BN[:, [1, 3]].clone()
    last_B2[0] = -1
    return tour_BN, last_B2


@pytest.mark.parametrize("size", [5, 15, 17, 31, 33, 63, 65, 127, 129])
@pytest.mark.usefixtures("poisoned")
def test_all_open_pairs(size: int, device: str) -> None:
    """Written out, they are the reference's; also under a mask."""
    from dact.kernels.pick_move.opened import open_pairs_triton

    tour, last = moves_so_far(3, size, device)
    assert torch.equal(open_pairs_triton(tour, last, None), open_pairs(tour, last, None))
    mask = torch.rand(3, size, size, device=device) < 0.5
    assert torch.equal(open_pairs_triton(tour, last, mask), open_pairs(tour, last, mask))


@pytest.mark.usefixtures("poisoned")
def test_within_capacity(device: str) -> None:
    """By loads, they are the moves that the problem allows."""
    from dact.kernels.pick_move.opened import open_pairs_triton

    problem = PROBLEMS["cvrp"]
    batch = problem.sample(13, 4, torch.Generator().manual_seed(2)).to(device)
    tour = begun(problem.name, batch).tour_BN
    last = tour[:, [2, 5]]
    nodes = Nodes(batch.coordinates_BN2, batch.demand_BN, batch.capacity_B, batch.depots)
    _, loads = tour_view_reference(tour, nodes, CAPACITY)
    expected = open_moves(problem, batch, tour, last, OPERATORS["two_opt"])
    assert not expected.all()
    assert torch.equal(open_pairs_triton(tour, last, loads), expected)
