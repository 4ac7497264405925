"""From instances in their own units to the unit square."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dact.instances import Instance, InstanceSet
from dact.instances.distances import row_blocks

LARGE = 4_000
"""Nodes beyond which a matrix takes more time and memory than it saves."""


def unit_square(points_MN2: NDArray[np.float64]) -> tuple[Tensor, Tensor]:
    """Points moved and scaled (one factor for both axes) to fill the unit square, and the factor per row.

    Points that lie in the unit square already are left as they are: the distributions the policy was trained
    on fill it, and their costs stay comparable.
    """
    low_M12 = points_MN2.min(axis=1, keepdims=True)
    high_M12 = points_MN2.max(axis=1, keepdims=True)
    extent_M = (high_M12 - low_M12).max(axis=(1, 2))
    fits_M = (low_M12.min(axis=(1, 2)) >= 0) & (high_M12.max(axis=(1, 2)) <= 1) & (extent_M > 0.5)
    scale_M = np.where(fits_M | (extent_M == 0), 1.0, extent_M)
    scaled_MN2 = (points_MN2 - low_M12) / scale_M[:, None, None]
    # The shorter side is centred, so that the symmetries of the square keep the points inside.
    margin_M12 = (1 - (high_M12 - low_M12) / scale_M[:, None, None]) / 2
    unit_MN2 = np.where(fits_M[:, None, None], points_MN2, scaled_MN2 + margin_M12)
    return torch.from_numpy(unit_MN2.astype(np.float32)), torch.from_numpy(scale_M.astype(np.float32))


def instance_points(instances: Sequence[Instance]) -> tuple[Tensor, Tensor, Tensor | None]:
    """Unit-square points, scale and own-rule distance matrix of each instance, stacked; no matrices where instances
    are large and their distances are those of the points."""
    points, scale = unit_square(np.stack([instance.points() for instance in instances]))
    if not any(map(needs_matrix, instances)):
        return points, scale, None
    nodes = instances[0].size
    matrix_INN = np.empty((len(instances), nodes, nodes), dtype=np.float32)
    for instance, matrix_NN in zip(instances, matrix_INN, strict=True):
        if nodes <= LARGE:
            matrix_NN[:] = instance.distances()
            continue
        # Not kept in float64, which takes twice the memory.
        for rows in row_blocks(nodes):
            matrix_NN[rows] = instance.lengths(np.arange(nodes)[rows, None], np.arange(nodes))
    return points, scale, torch.from_numpy(matrix_INN)


def needs_matrix(instance: Instance) -> bool:
    """Is the instance searched with a matrix of its distances?"""
    return instance.size <= LARGE or instance.rule != "euclidean"


def set_points(instances: InstanceSet) -> tuple[Tensor, Tensor]:
    """Unit-square points and scale of every row of a set."""
    return unit_square(np.asarray(instances.coordinates, dtype=np.float64))
