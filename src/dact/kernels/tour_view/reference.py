"""The truth: cumulated demands in tour order, in plain PyTorch.

Shape letters: B rows, N positions, F features.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from dact.kernels.pick_move.reference import Capacity

COORDINATES = "coordinates"
"""Nodes are points, and every move is feasible."""
CAPACITY = "capacity"
"""Customers have demands, routes run from depot to depot, and no route may serve more than the capacity."""
VIEWS = {COORDINATES: 2, CAPACITY: 7}
"""Kinds of views and their number of features."""


class Nodes(NamedTuple):
    """What is known of each node, as in `dact.problems.Batch`: nodes below `depots` are depots, without demand."""

    coordinates_BN2: Tensor
    demand_BN: Tensor
    capacity_B: Tensor
    depots: int


def tour_view_reference(tour_BN: Tensor, nodes: Nodes, view: str) -> tuple[Tensor, Capacity | None]:
    """features_BNF in tour order, and the loads around each position where moves may be infeasible."""
    point_BN2 = nodes.coordinates_BN2.gather(1, tour_BN.unsqueeze(2).expand(-1, -1, 2))
    if view == COORDINATES:
        return point_BN2, None
    leg_BN = (point_BN2 - point_BN2.roll(-1, dims=1)).square().sum(2).sqrt()
    demand_BN = nodes.demand_BN.gather(1, tour_BN)
    depot_BN = tour_BN < nodes.depots
    before_BN, since_BN = _around(demand_BN, depot_BN)
    share_BN3 = torch.stack((before_BN, demand_BN, since_BN), dim=2) / nodes.capacity_B.view(-1, 1, 1)
    features_BN7 = torch.cat((point_BN2, torch.stack((leg_BN.roll(1, dims=1), leg_BN), dim=2), share_BN3), dim=2)
    route_BN = depot_BN.int().cumsum(1, dtype=torch.int32) - 1
    low = (route_BN.masked_fill(depot_BN, -1), before_BN, since_BN.masked_fill(depot_BN, 0))
    high = (route_BN, (before_BN + demand_BN).masked_fill(depot_BN, 0), since_BN - demand_BN)
    return features_BN7, Capacity(torch.stack((*low, *high), dim=2), nodes.capacity_B)


def _around(demand_BN: Tensor, depot_BN: Tensor) -> tuple[Tensor, Tensor]:
    """What the route around a position serves before it and from it on; a depot ends one route and starts another.

    Cumulated demand never falls, so its value at the last depot before a position is a running maximum, and its
    value at the next depot behind it a running minimum from the end.
    """
    served_BN = demand_BN.cumsum(1, dtype=torch.int32)
    start_BN = served_BN - demand_BN
    # Demand served when the last depot strictly before a position was left, and when the next behind it is reached.
    opened_BN = torch.where(depot_BN.roll(1, dims=1), start_BN, 0).cummax(1).values
    reached_BN = torch.where(depot_BN.roll(-1, dims=1), served_BN, served_BN[:, -1:])
    closed_BN = reached_BN.flip(1).cummin(1).values.flip(1)
    before_BN = start_BN - opened_BN
    # Position 0 ends the last route.
    last_B = served_BN[:, -1] - torch.where(depot_BN, start_BN, 0).amax(1)
    return torch.cat((last_B.unsqueeze(1), before_BN[:, 1:]), dim=1), closed_BN - start_BN
