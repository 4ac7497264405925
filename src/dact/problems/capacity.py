"""Which moves keep every vehicle within its capacity, in integers.

The closed forms here are checked against `by_trial`, which works for any operator.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from dact.kernels.pick_move.moves import within_capacity
from dact.kernels.tour_view.loads import Loads, loads
from dact.operators import OPERATORS, Operator
from dact.problems.base import Batch


def feasible(batch: Batch, tour_BN: Tensor) -> Tensor:
    """True for each row in which no vehicle is overloaded."""
    around = loads(batch, tour_BN)
    return (around.since_BN <= batch.capacity_B.unsqueeze(1)).all(1)


def by_trial(batch: Batch, tour_BN: Tensor, operator: Operator) -> Tensor:
    """(B, N, N), by applying every move. Slow, but correct for any operator."""
    size = tour_BN.shape[1]
    pair_P2 = torch.cartesian_prod(*[torch.arange(size, device=tour_BN.device)] * 2)
    allowed_RNN = []
    for row in range(tour_BN.shape[0]):
        row_P = torch.full((len(pair_P2),), row, device=tour_BN.device)
        changed_PN = operator(tour_BN[row_P], pair_P2)
        allowed_RNN.append(feasible(batch.take(row_P), changed_PN).view(size, size))
    return torch.stack(allowed_RNN)


def two_opt_allowed(batch: Batch, tour_BN: Tensor) -> Tensor:
    """Closed form for 2-opt."""
    return within_capacity(loads(batch, tour_BN).ends(), batch.capacity_B)


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
