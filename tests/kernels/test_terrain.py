"""Neighbour lists of large instances."""

import pytest
import torch

from dact.kernels.descent import terrain
from dact.kernels.descent.terrain import make_terrain


def lists(*, matrix: bool = False, neighbours: int = 7) -> torch.Tensor:
    """Of three instances with 40 nodes on a grid, so that many distances are equal."""
    points_IN2 = torch.randint(0, 6, (3, 40, 2), generator=torch.Generator().manual_seed(2)).float()
    distance_MNN = torch.cdist(points_IN2, points_IN2) if matrix else None
    nothing_IN, which_I = torch.zeros(3, 40, dtype=torch.int32), torch.tensor([2, 0, 1])
    return make_terrain(
        points_IN2,
        nothing_IN,
        nothing_IN[:, 0],
        4,
        neighbours=neighbours,
        start_cost_I=torch.ones(3),
        distance_MNN=distance_MNN,
        matrix_I=which_I if matrix else None,
    ).near_INK


@pytest.mark.parametrize("matrix", [False, True])
@pytest.mark.parametrize("chunk", [1, 90, 40 * 40, 2**24])
def test_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch, chunk: int, matrix: bool) -> None:
    """Neighbours found for some nodes at a time are those found for all at once."""
    whole = lists(matrix=matrix)
    monkeypatch.setattr(terrain, "CHUNK", chunk)
    assert torch.equal(lists(matrix=matrix), whole)


def test_nearest_without_sorting_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest of many nodes are found among some candidates as among all."""
    whole = lists(neighbours=3)
    monkeypatch.setattr(terrain, "SORTED", 10)
    assert torch.equal(lists(neighbours=3), whole)
