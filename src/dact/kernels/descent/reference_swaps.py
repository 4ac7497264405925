"""Reference for exchanges of two customers between routes (SWAP*) in plain PyTorch: all pairs of all rows at once.

Shape letters: R rows, N positions, U and V customers.
"""

import torch
from torch import Tensor

from dact.kernels.descent.job import Terrain
from dact.kernels.descent.reference import NO_GAIN
from dact.kernels.descent.reference_view import View, take


def best_swaps_reference(terrain: Terrain, tour_RN: Tensor, source_R: Tensor, price_R: Tensor | None = None) -> Tensor:
    """(R,) what the best exchange gains, -inf if there is none: two customers of two routes change over, each to the
    cheapest place in the other's route. Without a price of overload, both routes stay within the capacity."""
    view = View(terrain, tour_RN, source_R)
    customer_RU = torch.arange(terrain.depots, view.size).expand(len(tour_RN), -1)
    place_RU = take(view.position_RN, customer_RU)
    before_RU, behind_RU = view.node(place_RU - 1), view.node(place_RU + 1)
    saved_RU = _detour(view, before_RU, customer_RU, behind_RU)
    cost_RUV = _cheapest(view, customer_RU, place_RU)
    gain_RUV = saved_RU.unsqueeze(2) + saved_RU.unsqueeze(1) - cost_RUV - cost_RUV.transpose(1, 2)
    then_RUV, more_RUV, elsewhere_RUV = _overload(view, customer_RU, place_RU)
    if price_R is None:
        elsewhere_RUV &= then_RUV == 0
    else:
        gain_RUV -= price_R.view(-1, 1, 1) * more_RUV
    gain_RUV = gain_RUV.masked_fill(~elsewhere_RUV, NO_GAIN)
    return gain_RUV.flatten(1).amax(1)


def _cheapest(view: View, customer_RU: Tensor, place_RU: Tensor) -> Tensor:
    """(R, U, V) the cheapest insertion of u into the route of v without v."""
    here_RN, there_RN = view.tour_RN, view.tour_RN.roll(-1, dims=1)
    u_RUN = customer_RU.unsqueeze(2).expand(-1, -1, view.size)
    cost_RUN = _detour(view, here_RN.unsqueeze(1).expand_as(u_RUN), u_RUN, there_RN.unsqueeze(1).expand_as(u_RUN))
    # Behind the node at place n: in the route of v, and not beside v.
    n_N = torch.arange(view.size)
    of_v_RVN = view.route_RN.unsqueeze(1) == view.route(place_RU).unsqueeze(2)
    beside_RVN = (n_N == place_RU.unsqueeze(2)) | (n_N == place_RU.unsqueeze(2) - 1)
    elsewhere_RUVN = cost_RUN.unsqueeze(2).masked_fill(~(of_v_RVN & ~beside_RVN).unsqueeze(1), torch.inf)
    u_RUV = customer_RU.unsqueeze(2).expand(-1, -1, customer_RU.shape[1])
    before_RV, behind_RV = view.node(place_RU - 1), view.node(place_RU + 1)
    instead_RUV = _detour(view, before_RV.unsqueeze(1).expand_as(u_RUV), u_RUV, behind_RV.unsqueeze(1).expand_as(u_RUV))
    return torch.minimum(elsewhere_RUVN.amin(3), instead_RUV)


def _overload(view: View, customer_RU: Tensor, place_RU: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """(R, U, V) how far both routes exceed the capacity after an exchange, together, and by how much that is more than
    before; and whether they are two."""
    terrain, route_RU = view.terrain, view.route(place_RU)
    demand_RU = take(terrain.demand_IN.long()[view.source_R], customer_RU)
    load_RU = view.load(view.start(route_RU), view.end(route_RU))
    beyond_RU = load_RU - terrain.capacity_I.long()[view.source_R].unsqueeze(1)
    more_RUV = demand_RU.unsqueeze(1) - demand_RU.unsqueeze(2)
    then_RUV = (beyond_RU.unsqueeze(2) + more_RUV).clamp(min=0) + (beyond_RU.unsqueeze(1) - more_RUV).clamp(min=0)
    now_RUV = beyond_RU.clamp(min=0).unsqueeze(2) + beyond_RU.clamp(min=0).unsqueeze(1)
    return then_RUV, then_RUV - now_RUV, route_RU.unsqueeze(2) != route_RU.unsqueeze(1)


def _detour(view: View, before: Tensor, node: Tensor, behind: Tensor) -> Tensor:
    return view.length(before, node) + view.length(node, behind) - view.length(before, behind)
