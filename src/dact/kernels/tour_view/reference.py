"""Reference in plain PyTorch.

Shape letters: B rows, N positions, F features.
"""

import torch
from torch import Tensor

from dact import tours
from dact.kernels.pick_move import Feasible
from dact.kernels.records import Instances
from dact.kernels.tour_view.loads import loads

COORDINATES = "coordinates"
"""Nodes are points, and every move is feasible."""
CAPACITY = "capacity"
"""Customers have demands, routes run from depot to depot, and no route may serve more than the capacity."""
VIEWS = {COORDINATES: 2, CAPACITY: 7}
"""Kinds of views and their number of features."""


def tour_view_reference(tour_BN: Tensor, instances: Instances, view: str, idle: bool = True) -> tuple[Tensor, Feasible]:
    """features_BNF in tour order and the feasible 2-opt moves, idle ones among them or not.

    With a capacity, features are coordinates, distance to the nodes before and after, load before, demand, load since
    (with) the node. Loads are shares of the capacity, and a depot carries the load of the route that ends there and of
    the one that starts there, as in the authors' code.
    """
    point_BN2 = tours.in_tour_order(instances.coordinates_BN2, tour_BN)
    if view == COORDINATES:
        return point_BN2, Feasible(idle=idle, depots=instances.depots)
    around = loads(instances, tour_BN)
    leg_BN = instances.plane_distance(tour_BN, tour_BN.roll(-1, dims=1))
    leg_BN2 = torch.stack((leg_BN.roll(1, dims=1), leg_BN), dim=2)
    share_BN3 = torch.stack((around.before_BN, around.demand_BN, around.since_BN), dim=2)
    features_BN7 = torch.cat((point_BN2, leg_BN2, share_BN3 / instances.capacity_B.view(-1, 1, 1)), dim=2)
    return features_BN7, Feasible(around.ends(), instances.capacity_B, idle=idle, depots=instances.depots)
