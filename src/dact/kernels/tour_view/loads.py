"""What the routes of a tour serve, position by position, in integers.

Positions are those of an anchored tour, so position 0 is a depot; a route runs from one depot to the next, the last
one back to position 0. Shape letters: B rows, N positions, D depots.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from dact import tours
from dact.kernels.records import Instances


@dataclass(frozen=True, kw_only=True)
class Loads:
    """Per position of a tour, the load of the route around it.

    A customer sees what its route serves `before` it and `since` (itself included) it. A depot ends one
    route, whose load is its `before`, and starts the next, whose load is its `since`.
    """

    demand_BN: Tensor
    depot_BN: Tensor
    route_BN: Tensor
    before_BN: Tensor
    since_BN: Tensor

    @property
    def until_BN(self) -> Tensor:
        """Served by the route from its depot up to and with this position; nothing yet at a depot."""
        return (self.before_BN + self.demand_BN).masked_fill(self.depot_BN, 0)

    @property
    def after_BN(self) -> Tensor:
        """Served by the route behind this position; at a depot, all of the route that starts there."""
        return self.since_BN - self.demand_BN

    @property
    def rest_BN(self) -> Tensor:
        """Served from this position to the end of the route; nothing if the route ends here, at a depot."""
        return self.since_BN.masked_fill(self.depot_BN, 0)

    def ends(self) -> Tensor:
        """(B, N, 6) int32: the loads of `dact.kernels.pick_move.Feasible`."""
        low = (self.route_BN.masked_fill(self.depot_BN, -1), self.before_BN, self.rest_BN)
        high = (self.route_BN.masked_fill(self.depot_BN, -2), self.until_BN, self.after_BN)
        return torch.stack((*low, *high), dim=2).int()


def loads(instances: Instances, tour_BN: Tensor) -> Loads:
    """Loads by cumulative sums in tour order; no loop over nodes."""
    demand_BN = tours.in_tour_order(instances.demand_BN, tour_BN)
    depot_BN = tour_BN < instances.depots
    route_BN = depot_BN.long().cumsum(1) - 1
    total_BD = torch.zeros(tour_BN.shape[0], instances.depots, dtype=demand_BN.dtype, device=tour_BN.device)
    total_BD.scatter_add_(1, route_BN, demand_BN)
    route_total_BN = total_BD.gather(1, route_BN)
    served_BN = demand_BN.cumsum(1, dtype=demand_BN.dtype)
    earlier_BN = (total_BD.cumsum(1, dtype=demand_BN.dtype) - total_BD).gather(1, route_BN)
    within_BN = served_BN - demand_BN - earlier_BN
    previous_total_BN = total_BD.gather(1, (route_BN - 1) % instances.depots)
    return Loads(
        demand_BN=demand_BN,
        depot_BN=depot_BN,
        route_BN=route_BN,
        before_BN=torch.where(depot_BN, previous_total_BN, within_BN),
        since_BN=torch.where(depot_BN, route_total_BN, route_total_BN - within_BN),
    )
