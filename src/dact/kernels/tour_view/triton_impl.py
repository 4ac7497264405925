"""A program per row reads the tour once and writes features and loads.

Shape letters: as in reference.py, with P >= N positions, a power of two.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import power_of_two
from dact.kernels.pick_move import Feasible
from dact.kernels.records import Instances
from dact.kernels.tour_view.reference import COORDINATES, VIEWS


@triton.jit
def _larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def _smaller(a, b):
    return tl.minimum(a, b)


@triton.jit
def _around(place_P, demand_P, depot_P, after_depot_P, before_depot_P, N):
    """Loads before and since each position.

    Cumulated demand never falls, so its value at the last depot before a position is a running maximum, and its
    value at the next depot behind it a running minimum from the end. Position 0 ends the last route.
    """
    served_P = tl.cumsum(demand_P, 0)
    start_P = served_P - demand_P
    total = tl.max(served_P, 0)
    opened_P = tl.associative_scan(tl.where(after_depot_P, start_P, 0), 0, _larger)
    reached_P = tl.where(before_depot_P & (place_P + 1 < N), served_P, total)
    closed_P = tl.associative_scan(reached_P, 0, _smaller, reverse=True)
    last = total - tl.max(tl.where(depot_P, start_P, 0), 0)
    return tl.where(place_P == 0, last, start_P - opened_P), closed_P - start_P


@triton.jit
def _leg(x_P, y_P, coordinates_ptr, node_P, inside_P):
    """Lengths of the edges to other nodes."""
    x_P -= tl.load(coordinates_ptr + 2 * node_P, mask=inside_P, other=0.0)
    y_P -= tl.load(coordinates_ptr + 2 * node_P + 1, mask=inside_P, other=0.0)
    return tl.sqrt(x_P * x_P + y_P * y_P)


@triton.jit
def _view_kernel(
    tour_ptr, coordinates_ptr, demand_ptr, capacity_ptr, feature_ptr, load_ptr, depots, N,
    F: tl.constexpr, P: tl.constexpr, LOADS: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    place_P = tl.arange(0, P)
    inside_P = place_P < N
    tour_ptr += row * N
    coordinates_ptr += row * N * 2
    feature_ptr += row * N * F
    node_P = tl.load(tour_ptr + place_P, mask=inside_P, other=0).to(tl.int32)
    x_P = tl.load(coordinates_ptr + 2 * node_P, mask=inside_P, other=0.0)
    y_P = tl.load(coordinates_ptr + 2 * node_P + 1, mask=inside_P, other=0.0)
    tl.store(feature_ptr + place_P * F, x_P, mask=inside_P)
    tl.store(feature_ptr + place_P * F + 1, y_P, mask=inside_P)
    if LOADS:
        previous_P = tl.load(tour_ptr + tl.where(place_P > 0, place_P, N) - 1, mask=inside_P, other=0).to(tl.int32)
        next_P = tl.load(tour_ptr + tl.where(place_P + 1 < N, place_P + 1, 0), mask=inside_P, other=0).to(tl.int32)
        demand_P = tl.load(demand_ptr + row * N + node_P, mask=inside_P, other=0)
        depot_P = inside_P & (node_P < depots)
        before_P, since_P = _around(place_P, demand_P, depot_P, previous_P < depots, next_P < depots, N)
        room = tl.load(capacity_ptr + row).to(tl.float32)
        tl.store(feature_ptr + place_P * F + 2, _leg(x_P, y_P, coordinates_ptr, previous_P, inside_P), mask=inside_P)
        tl.store(feature_ptr + place_P * F + 3, _leg(x_P, y_P, coordinates_ptr, next_P, inside_P), mask=inside_P)
        tl.store(feature_ptr + place_P * F + 4, tl.div_rn(before_P.to(tl.float32), room), mask=inside_P)
        tl.store(feature_ptr + place_P * F + 5, tl.div_rn(demand_P.to(tl.float32), room), mask=inside_P)
        tl.store(feature_ptr + place_P * F + 6, tl.div_rn(since_P.to(tl.float32), room), mask=inside_P)
        route_P = tl.cumsum(depot_P.to(tl.int32), 0) - 1
        load_ptr += (row * N + place_P) * 6
        tl.store(load_ptr, tl.where(depot_P, -1, route_P), mask=inside_P)
        tl.store(load_ptr + 1, before_P, mask=inside_P)
        tl.store(load_ptr + 2, tl.where(depot_P, 0, since_P), mask=inside_P)
        tl.store(load_ptr + 3, tl.where(depot_P, -2, route_P), mask=inside_P)
        tl.store(load_ptr + 4, tl.where(depot_P, 0, before_P + demand_P), mask=inside_P)
        tl.store(load_ptr + 5, since_P - demand_P, mask=inside_P)


def tour_view_triton(tour_BN: Tensor, instances: Instances, view: str, idle: bool = True) -> tuple[Tensor, Feasible]:
    """As the reference."""
    rows, size = tour_BN.shape
    padded = power_of_two(size, least=32)
    features_BNF = torch.empty(rows, size, VIEWS[view], device=tour_BN.device)
    load_BN6 = None
    if view != COORDINATES:
        load_BN6 = torch.empty(rows, size, 6, device=tour_BN.device, dtype=torch.int32)
    nodes = (instances.coordinates_BN2, instances.demand_BN, instances.capacity_B)
    _view_kernel[(rows,)](
        tour_BN.contiguous(), *(x.contiguous() for x in nodes), features_BNF, load_BN6, instances.depots, size,
        F=VIEWS[view], P=padded, LOADS=load_BN6 is not None, num_warps=max(1, min(8, padded // 256)),
    )  # fmt: skip
    room_B = None if load_BN6 is None else instances.capacity_B
    return features_BNF, Feasible(load_BN6, room_B, idle=idle, depots=instances.depots)
