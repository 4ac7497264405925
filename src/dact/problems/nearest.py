"""Nearest-neighbour tours of large instances on a CPU: what greedy starts give, in a fraction of the time.

PyTorch takes longer to begin an operation than to do it here, and visited nodes need not be looked at again.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dact.problems.base import Batch

LARGE = 2_000
"""Nodes from which on this is used."""
TIDY = 16
"""Visited nodes are removed whenever they are one in so many."""


def suits(batch: Batch) -> bool:
    """Is this for such a batch? Lengths of matrices need not be computed, so that PyTorch is as fast there."""
    return batch.length >= LARGE and batch.device.type == "cpu" and batch.distance_INN is None


def nearest_tours(batch: Batch) -> tuple[Tensor, Tensor]:
    """Tours that always go to the nearest open customer that fits, else to the next depot; and which rows ran out of
    depots.
    """
    parts = batch.coordinates_BN2, batch.scale_B, batch.demand_BN, batch.capacity_B
    rows = zip(*(part.numpy() for part in parts), strict=True)
    made = [_one_tour(*row, depots=batch.depots) for row in rows]
    return torch.from_numpy(np.stack([tour for tour, _ in made])), torch.tensor([short for _, short in made])


def _one_tour(
    points_N2: NDArray[np.float32], scale: np.float32, demand_N: NDArray[np.int32], capacity: np.int32, *, depots: int
) -> tuple[NDArray[np.int64], bool]:
    """Of equally near ones the lowest number; PyTorch's roots are not always correctly rounded, and its ties others."""
    node_R = np.arange(max(depots, 1), len(points_N2))
    x_R, y_R = np.ascontiguousarray(points_N2[node_R].T)
    demand_R, left, gone = demand_N[node_R], len(node_R), 0
    tour_N = np.zeros(len(points_N2), dtype=np.int64)
    room, depot = capacity, 0
    for place in range(1, len(tour_N)):
        here = points_N2[tour_N[place - 1]]
        apart_R = scale * np.sqrt(np.square(here[0] - x_R) + np.square(here[1] - y_R))
        if depots:
            apart_R[demand_R > room] = np.inf
        nearest = int(apart_R.argmin()) if left else 0
        if not left or apart_R[nearest] == np.inf:
            depot += 1
            tour_N[place], room = min(depot, depots - 1), capacity
            continue
        tour_N[place], room = node_R[nearest], room - demand_R[nearest]
        x_R[nearest], left, gone = np.inf, left - 1, gone + 1
        if gone * TIDY > len(node_R):
            open_R = np.isfinite(x_R)
            node_R, x_R, y_R, demand_R = node_R[open_R], x_R[open_R], y_R[open_R], demand_R[open_R]
            gone = 0
    return tour_N, left > 0
