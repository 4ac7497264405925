"""Idle moves: 2-opt moves that leave every route (TSP: the tour) as it is, up to its direction and place.

CVRP is learnt faster where they are closed, from nothing and at small sizes: docs/log.md.
"""

import torch
from torch import Tensor

from dact.problems.base import Batch


def idle_moves(tour_BN: Tensor, depots: int) -> Tensor:
    """(B, N, N) bool over position pairs.

    Reversing first..second takes away the edges at its two ends and puts back two others, which are the same if both
    ends are depots, if both neighbours of the ends are, or if all nodes but at most one are on one side.
    """
    size = tour_BN.shape[1]
    depot_BN = tour_BN < depots
    ends_BNN = depot_BN.unsqueeze(2) & depot_BN.unsqueeze(1)
    neighbours_BNN = depot_BN.roll(1, dims=1).unsqueeze(2) & depot_BN.roll(-1, dims=1).unsqueeze(1)
    place_N = torch.arange(size, device=tour_BN.device)
    outside_NN = (place_N.unsqueeze(1) - place_N.unsqueeze(0) - 1) % size
    return ends_BNN | neighbours_BNN | (outside_NN <= 1) | (outside_NN == size - 1)


def close_idle(feasible_BNN: Tensor | None, batch: Batch, tour_BN: Tensor) -> Tensor:
    """The feasible moves (None: all) that are not idle; all of them in rows where only the last pair might remain,
    which a step may not make either."""
    idle_BNN = idle_moves(tour_BN, batch.depots)
    feasible_BNN = torch.ones_like(idle_BNN) if feasible_BNN is None else feasible_BNN
    busy_BNN = feasible_BNN & ~idle_BNN
    enough_B = busy_BNN.flatten(1).sum(1) > 2
    return torch.where(enough_B.view(-1, 1, 1), busy_BNN, feasible_BNN)
