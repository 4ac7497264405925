"""Optimal tours of very small instances, by trying all tours.

Shape letters: B instances, T tours, N tour length.
"""

from itertools import permutations
from math import perm

import torch
from torch import Tensor

from dact.problems import Batch
from dact.problems.capacity import feasible

MOST_TOURS = 120
"""Five customers without a depot, three with one."""


def best_of_all(batch: Batch) -> Tensor | None:
    """(B, N): the best tour of every instance; None where there are too many to try them all."""
    free, placed = batch.length - 1, batch.customers - (0 if batch.depots else 1)
    if perm(free, placed) > MOST_TOURS:
        return None
    tour_TN = torch.tensor(every_tour(batch.length, max(batch.depots, 1)), device=batch.device)
    cost_BT = torch.stack([_cost(batch, tour_N) for tour_N in tour_TN], dim=1)
    return tour_TN[cost_BT.argmin(1)]


def every_tour(length: int, depots: int) -> list[list[int]]:
    """All tours that begin with node 0: customers at all places in all orders, depots at the remaining places."""
    tours = []
    for places in permutations(range(1, length), length - depots):
        customer_at = {place: depots + number for number, place in enumerate(places)}
        other = iter(range(1, depots))
        tours.append([0] + [customer_at[at] if at in customer_at else next(other) for at in range(1, length)])
    return tours


def _cost(batch: Batch, tour_N: Tensor) -> Tensor:
    """(B,): of one tour in every instance, infinite where it overloads a vehicle."""
    tour_BN = tour_N.expand(batch.rows, -1)
    cost_B = batch.cost(tour_BN)
    return cost_B.masked_fill(~feasible(batch, tour_BN), torch.inf) if batch.depots else cost_B
