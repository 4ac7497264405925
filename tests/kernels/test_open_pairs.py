"""The pairs of positions that may be drawn, written out by a kernel."""

import pytest
import torch
from torch import Tensor

from begun import begun, open_moves
from dact.kernels.pick_move import Feasible, idle_moves, open_pairs_reference
from dact.kernels.tour_view import CAPACITY, tour_view_reference
from dact.operators import OPERATORS
from dact.problems import PROBLEMS

pytest.importorskip("triton")


def moves_so_far(rows: int, size: int, device: str) -> tuple[Tensor, Tensor]:
    """Tours, and nodes that were moved last; in the first row none."""
    torch.manual_seed(size)
    tour_BN = torch.stack([torch.randperm(size) for _ in range(rows)]).to(device)
    last_B2 = tour_BN[:, [1, min(3, size - 1)]].clone()
    last_B2[0] = -1
    return tour_BN, last_B2


@pytest.mark.parametrize("idle", [True, False])
@pytest.mark.parametrize("size", [3, 4, 5, 15, 17, 31, 33, 63, 65, 127, 129])
@pytest.mark.usefixtures("poisoned")
def test_all_open_pairs(size: int, idle: bool, device: str) -> None:
    """Written out, they are the reference's; with depots and without, also under a mask."""
    from dact.kernels.pick_move.opened import open_pairs_triton

    # The interpreter takes seconds for each long row.
    rows, some = (2, (0, size // 3)) if size > 60 and device == "cpu" else (3, (0, 1, size // 3))
    tour, last = moves_so_far(rows, size, device)
    mask = torch.rand(rows, size, size, device=device) < 0.5
    for depots in some:
        for feasible in (Feasible(), Feasible(mask_BNN=mask)):
            told = feasible._replace(idle=idle, depots=depots)
            assert torch.equal(open_pairs_triton(tour, last, told), open_pairs_reference(tour, last, told))


@pytest.mark.parametrize("idle", [True, False])
@pytest.mark.usefixtures("poisoned")
def test_within_capacity(idle: bool, device: str) -> None:
    """By loads, they are the moves that the problem allows."""
    from dact.kernels.pick_move.opened import open_pairs_triton

    problem = PROBLEMS["cvrp"].with_idle_moves(idle)
    batch = problem.sample(13, 4, torch.Generator().manual_seed(2)).to(device)
    tour = begun(problem.name, batch).tour_BN
    last = tour[:, [2, 5]]
    _, feasible = tour_view_reference(tour, batch, CAPACITY, idle)
    expected = open_moves(problem, batch, tour, last, OPERATORS["two_opt"])
    assert not expected.all()
    assert torch.equal(open_pairs_triton(tour, last, feasible), expected)


@pytest.mark.parametrize("busy", [0, 1, 2, 3, 4])
@pytest.mark.usefixtures("poisoned")
def test_rows_with_hardly_a_move_keep_their_idle_ones(busy: int, device: str) -> None:
    """Idle moves are closed from the third move on that is not idle, wherever it is."""
    from dact.kernels.pick_move.opened import open_pairs_triton

    size, depots = 37, 5
    tour, last = moves_so_far(3, size, device)
    idle = idle_moves(tour, depots)
    mask = idle.clone()
    for row in range(3):
        place = (~idle[row]).nonzero()
        chosen = place[-busy:] if row == 0 else place[torch.randperm(len(place))[:busy].to(device)]
        if busy:
            mask[row][chosen[:, 0], chosen[:, 1]] = True
    told = Feasible(mask_BNN=mask, idle=False, depots=depots)
    found = open_pairs_triton(tour, last, told)
    assert torch.equal(found, open_pairs_reference(tour, last, told))
    assert bool((found & idle).any()) == (busy <= 2)
