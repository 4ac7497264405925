"""Instances in their own units, shown in the unit square."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dact.instances import Instance
from dact.problems import PROBLEMS
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


@pytest.mark.parametrize("demand", [None, [0, 1, 2, 3, 1, 2]])
def test_large_instances_have_no_matrix(monkeypatch: pytest.MonkeyPatch, demand: list[int] | None) -> None:
    """Costs by the points of a large Euclidean instance are those by its matrix; other rules keep theirs."""
    points = [[0.0, 0.0], [30.0, 5.0], [7.0, 90.0], [44.0, 44.0], [12.0, 60.0], [80.0, 2.0]]
    instance = Instance.from_arrays(points, demand=demand, capacity=None if demand is None else 5)
    rounded = replace(instance, rule="euc_2d")
    problem = PROBLEMS["tsp" if demand is None else "cvrp"]
    usual = problem.collate([instance])
    monkeypatch.setattr("dact.problems.unit_square.LARGE", 5)
    large = problem.collate([instance])
    assert (usual.distance_INN is None, large.distance_INN is None) == (False, True)
    assert problem.collate([rounded]).distance_INN is not None
    tour_BN = problem.greedy_start(usual)
    torch.testing.assert_close(large.cost(tour_BN), usual.cost(tour_BN))
