"""Instances in their own units, shown in the unit square."""

import numpy as np
import torch

from dact.problems.unit_square import unit_square


def test_points_fill_the_square_with_one_scale() -> None:
    """A 200 x 100 rectangle becomes 1 x 0.5, centred, and one unit is 200 long."""
    unit, scale = unit_square(np.array([[[100.0, 300.0], [300.0, 400.0]]]))
    torch.testing.assert_close(unit, torch.tensor([[[0.0, 0.25], [1.0, 0.75]]]))
    assert scale.tolist() == [200.0]


def test_points_in_the_unit_square_stay() -> None:
    """The distribution the policy was trained on is not stretched."""
    points = np.array([[[0.1, 0.2], [0.9, 0.7]]])
    unit, scale = unit_square(points)
    torch.testing.assert_close(unit, torch.from_numpy(points).float())
    assert scale.tolist() == [1.0]


def test_a_single_point_is_legal() -> None:
    """All nodes in one place: no division by zero."""
    unit, scale = unit_square(np.full((1, 4, 2), 1e6))
    assert torch.isfinite(unit).all()
    assert scale.tolist() == [1.0]
