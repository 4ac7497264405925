"""Which moves keep every vehicle within its capacity, in integers.

The closed forms here are checked against `by_trial`, which works for any operator. Positions are those of an
anchored tour, so position 0 is a depot; a route runs from one depot to the next, the last one back to position 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from dact import tours
from dact.operators import OPERATORS, Operator
from dact.problems.base import Batch


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


def loads(batch: Batch, tour_BN: Tensor) -> Loads:
    """Loads by cumulative sums in tour order; no loop over nodes."""
    demand_BN = tours.in_tour_order(batch.demand_BN, tour_BN)
    depot_BN = tour_BN < batch.depots
    route_BN = depot_BN.long().cumsum(1) - 1
    total_BD = torch.zeros(tour_BN.shape[0], batch.depots, dtype=demand_BN.dtype, device=tour_BN.device)
    total_BD.scatter_add_(1, route_BN, demand_BN)
    route_total_BN = total_BD.gather(1, route_BN)
    served_BN = demand_BN.cumsum(1, dtype=demand_BN.dtype)
    earlier_BN = (total_BD.cumsum(1, dtype=demand_BN.dtype) - total_BD).gather(1, route_BN)
    within_BN = served_BN - demand_BN - earlier_BN
    previous_total_BN = total_BD.gather(1, (route_BN - 1) % batch.depots)
    return Loads(
        demand_BN=demand_BN,
        depot_BN=depot_BN,
        route_BN=route_BN,
        before_BN=torch.where(depot_BN, previous_total_BN, within_BN),
        since_BN=torch.where(depot_BN, route_total_BN, route_total_BN - within_BN),
    )


def feasible(batch: Batch, tour_BN: Tensor) -> Tensor:
    """True for each row in which no vehicle is overloaded."""
    around = loads(batch, tour_BN)
    return (around.since_BN <= batch.capacity_B.unsqueeze(1)).all(1)


def by_trial(batch: Batch, tour_BN: Tensor, operator: Operator) -> Tensor:
    """(B, N, N): apply every move and look. Slow, and right for any operator."""
    size = tour_BN.shape[1]
    pair_P2 = torch.cartesian_prod(*[torch.arange(size, device=tour_BN.device)] * 2)
    allowed_RNN = []
    for row in range(tour_BN.shape[0]):
        row_P = torch.full((len(pair_P2),), row, device=tour_BN.device)
        changed_PN = operator(tour_BN[row_P], pair_P2)
        allowed_RNN.append(feasible(batch.take(row_P), changed_PN).view(size, size))
    return torch.stack(allowed_RNN)


def _reversal(low: tuple[Tensor, ...], high: tuple[Tensor, ...], room_B11: Tensor) -> Tensor:
    """Feasibility of reversing low..high for outer products of the two ends' (route, depot, head, tail) loads.

    Without a depot inside, the segment turns within its route. Otherwise its last stretch joins what comes
    before it and its first stretch joins what comes after it.
    """
    low_route, low_depot, low_before, low_rest = (x.unsqueeze(2) for x in low)
    high_route, high_until, high_after = (x.unsqueeze(1) for x in high)
    same_route = (low_route == high_route) & ~low_depot
    return same_route | ((low_before + high_until <= room_B11) & (low_rest + high_after <= room_B11))


def two_opt_allowed(batch: Batch, tour_BN: Tensor) -> Tensor:
    """Closed form for 2-opt. A segment over position 0 stands for its complement, as in the operator."""
    around = loads(batch, tour_BN)
    room_B11 = batch.capacity_B.view(-1, 1, 1)
    low = (around.route_BN, around.depot_BN, around.before_BN, around.rest_BN)
    high = (around.route_BN, around.until_BN, around.after_BN)
    straight_BNN = _reversal(low, high, room_B11)
    # The complement of first..second runs from second + 1 to first - 1.
    next_low = tuple(x.roll(-1, dims=1) for x in low)
    previous_high = tuple(x.roll(1, dims=1) for x in high)
    around_BNN = _reversal(next_low, previous_high, room_B11).transpose(1, 2)
    place_N = torch.arange(tour_BN.shape[1], device=tour_BN.device)
    first_N1, second_1N = place_N.unsqueeze(1), place_N.unsqueeze(0)
    size = len(place_N)
    over_start_NN = (first_N1 > second_1N) | (first_N1 == 0)
    # Nothing is reversed when the complement is empty.
    empty_NN = over_start_NN & ((second_1N + 1) % size == first_N1)
    return torch.where(over_start_NN, around_BNN, straight_BNN) | empty_NN


def _depot_moves(around: Loads, batch: Batch, moved_demand: Tensor | int) -> tuple[Tensor, ...]:
    """For a depot at `first` and a node at `second`: is second on the route that ends (starts) at first, and
    what would the two routes carry if first stood elsewhere (with `moved_demand` added in its place)?"""
    route_1 = around.route_BN.unsqueeze(2)
    route_2 = around.route_BN.unsqueeze(1)
    ends_here = route_2 == (route_1 - 1) % batch.depots
    starts_here = route_2 == route_1
    merged = around.before_BN.unsqueeze(2) + around.since_BN.unsqueeze(2) + moved_demand
    return ends_here, starts_here, merged


def insert_allowed(batch: Batch, tour_BN: Tensor) -> Tensor:
    """Closed form for insert: first moves to just behind second, into the route that passes there."""
    around = loads(batch, tour_BN)
    room_B11 = batch.capacity_B.view(-1, 1, 1)
    until_B1N = around.until_BN.unsqueeze(1)
    total_B1N = until_B1N + around.after_BN.unsqueeze(1)
    same_route = around.route_BN.unsqueeze(2) == around.route_BN.unsqueeze(1)
    customer = same_route | (total_B1N + around.demand_BN.unsqueeze(2) <= room_B11)
    # A depot that leaves merges its two routes; where it lands it cuts a route in two.
    ends_here, starts_here, merged = _depot_moves(around, batch, 0)
    cut_first = merged - until_B1N
    cut_second = around.before_BN.unsqueeze(2) + until_B1N
    depot = torch.where(ends_here, cut_first <= room_B11, merged <= room_B11)
    depot = torch.where(starts_here, cut_second <= room_B11, depot)
    allowed_BNN = torch.where(around.depot_BN.unsqueeze(2), depot, customer)
    return allowed_BNN | _diagonal(tour_BN)


def swap_allowed(batch: Batch, tour_BN: Tensor) -> Tensor:
    """Closed form for swap."""
    around = loads(batch, tour_BN)
    room_B11 = batch.capacity_B.view(-1, 1, 1)
    demand_1, demand_2 = around.demand_BN.unsqueeze(2), around.demand_BN.unsqueeze(1)
    total_BN = around.until_BN + around.after_BN
    grow_BNN = total_BN.unsqueeze(2) - demand_1 + demand_2 <= room_B11
    same_route = around.route_BN.unsqueeze(2) == around.route_BN.unsqueeze(1)
    customers = same_route | (grow_BNN & grow_BNN.transpose(1, 2))
    # Depot first, customer second: the customer joins the merged route, the depot cuts the customer's route.
    ends_here, starts_here, merged = _depot_moves(around, batch, demand_2)
    cut_first = merged - around.until_BN.unsqueeze(1)
    cut_second = around.before_BN.unsqueeze(2) + around.until_BN.unsqueeze(1)
    depot = torch.where(ends_here, cut_first <= room_B11, merged <= room_B11)
    depot = torch.where(starts_here, cut_second <= room_B11, depot)
    is_depot_1, is_depot_2 = around.depot_BN.unsqueeze(2), around.depot_BN.unsqueeze(1)
    mixed = torch.where(is_depot_1, depot, depot.transpose(1, 2))
    return torch.where(is_depot_1 ^ is_depot_2, mixed, customers | (is_depot_1 & is_depot_2))


def _diagonal(tour_BN: Tensor) -> Tensor:
    return torch.eye(tour_BN.shape[1], dtype=torch.bool, device=tour_BN.device)


CLOSED_FORMS: dict[Operator, Callable[[Batch, Tensor], Tensor]] = {
    OPERATORS["two_opt"]: two_opt_allowed,
    OPERATORS["insert"]: insert_allowed,
    OPERATORS["swap"]: swap_allowed,
}
