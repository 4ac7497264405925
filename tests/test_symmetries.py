"""The symmetries of the square."""

import pytest
import torch

from dact import symmetries


def test_symmetries_are_eight_different_isometries_of_the_square() -> None:
    """Each matrix is orthogonal with entries -1, 0, 1, and no two agree."""
    matrices = symmetries.SYMMETRIES
    assert torch.equal(matrices @ matrices.transpose(1, 2), torch.eye(2).expand(8, 2, 2))
    assert len({tuple(matrix.flatten().tolist()) for matrix in matrices}) == 8


def test_augment_keeps_distances_and_the_unit_square() -> None:
    """All eight pictures have the original distances and stay in the square; the first is the original."""
    points_BN2 = torch.rand(3, 7, 2, generator=torch.Generator().manual_seed(1))
    turned_RN2 = symmetries.augment(points_BN2, 8)
    assert turned_RN2.shape == (24, 7, 2)
    assert turned_RN2.min() >= 0
    assert turned_RN2.max() <= 1
    expected = torch.cdist(points_BN2, points_BN2).repeat_interleave(8, 0)
    torch.testing.assert_close(torch.cdist(turned_RN2, turned_RN2), expected)
    torch.testing.assert_close(turned_RN2[::8], points_BN2)


@pytest.mark.parametrize("copies", [0, 9])
def test_augment_refuses_other_numbers(copies: int) -> None:
    """A square has one to eight symmetries."""
    with pytest.raises(ValueError, match=f"augment is {copies}"):
        symmetries.augment(torch.zeros(1, 2, 2), copies)
