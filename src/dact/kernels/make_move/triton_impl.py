"""A program per row makes the move and writes the row's next state.

Shape letters: as in reference.py, with P >= N positions, a power of two.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import power_of_two
from dact.kernels.make_move import KERNELS
from dact.kernels.make_move.reference import LEAST_GAIN
from dact.kernels.records import Instances, SearchState
from dact.kernels.row_draws import STEP
from dact.operators import Operator

LEAST = tl.constexpr(LEAST_GAIN)


@triton.jit
def accept(node_P, cost, incumbent_P, incumbent_cost, stall, patience):
    """Tour, cost, incumbent, its cost and the stall after the candidate `node_P`: `accepted` for one row."""
    better = cost < (1 - LEAST) * incumbent_cost
    incumbent_P = tl.where(better, node_P, incumbent_P)
    incumbent_cost = tl.where(better, cost, incumbent_cost)
    stall = tl.where(better, 0, stall + 1)
    tired = stall >= patience
    node_P, cost = tl.where(tired, incumbent_P, node_P), tl.where(tired, incumbent_cost, cost)
    return node_P, cost, incumbent_P, incumbent_cost, tl.where(tired, 0, stall)


@triton.jit
def source(place, first, second, N, OPERATOR: tl.constexpr):
    """Where the node comes from that stands at a place after the move; the formulas of `dact.operators`."""
    if OPERATOR == "two_opt":
        over_start = (first > second) | (first == 0)
        low = tl.where(over_start, second + 1, first)
        high = tl.where(over_start, tl.where(first == 0, N, first) - 1, second)
        origin = tl.where((place >= low) & (place <= high), low + high - place, place)
    elif OPERATOR == "insert":
        forward = first < second
        landing = tl.where(forward, second, tl.minimum(second + 1, first))
        left = forward & (place >= first) & (place < landing)
        right = (first >= second) & (place > landing) & (place <= first)
        origin = tl.where(place == landing, first, place + left.to(tl.int32) - right.to(tl.int32))
    else:
        origin = tl.where(place == first, second, tl.where(place == second, first, place))
    return origin


@triton.jit
def _leg(node_P, next_P, inside_P, row, coordinates_ptr, distance_ptr, matrix_ptr, N, MATRIX: tl.constexpr):
    """Lengths of the edges from nodes to the next, before any scale."""
    if MATRIX:
        distance_ptr += tl.load(matrix_ptr + row).to(tl.int64) * N * N
        leg_P = tl.load(distance_ptr + node_P * N + next_P, mask=inside_P, other=0.0)
    else:
        coordinates_ptr += row * N * 2
        x_P = tl.load(coordinates_ptr + 2 * node_P, mask=inside_P, other=0.0)
        y_P = tl.load(coordinates_ptr + 2 * node_P + 1, mask=inside_P, other=0.0)
        x_P -= tl.load(coordinates_ptr + 2 * next_P, mask=inside_P, other=0.0)
        y_P -= tl.load(coordinates_ptr + 2 * next_P + 1, mask=inside_P, other=0.0)
        leg_P = tl.sqrt(x_P * x_P + y_P * y_P)
    return leg_P


@triton.jit
def _move_kernel(
    tour_ptr, incumbent_ptr, incumbent_cost_ptr, stall_ptr, stream_ptr, move_ptr,
    coordinates_ptr, scale_ptr, distance_ptr, matrix_ptr,
    new_tour_ptr, new_cost_ptr, new_incumbent_ptr, new_incumbent_cost_ptr, new_stall_ptr, last_ptr, new_stream_ptr,
    patience, N, P: tl.constexpr, OPERATOR: tl.constexpr, MATRIX: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    place_P = tl.arange(0, P)
    inside_P = place_P < N
    tour_ptr += row * N
    first = tl.load(move_ptr + 2 * row).to(tl.int32)
    second = tl.load(move_ptr + 2 * row + 1).to(tl.int32)
    start = 0
    if OPERATOR != "two_opt":
        # Node 0 may have moved: everything is read from where it now stands onwards.
        moved_P = tl.load(tour_ptr + source(place_P, first, second, N, OPERATOR), mask=inside_P, other=-1)
        start = tl.sum(tl.where(moved_P == 0, place_P, 0), 0)
    source_P = source((place_P + start) % N, first, second, N, OPERATOR)
    next_P = source((place_P + start + 1) % N, first, second, N, OPERATOR)
    node_P = tl.load(tour_ptr + source_P, mask=inside_P, other=0)
    next_node_P = tl.load(tour_ptr + next_P, mask=inside_P, other=0)
    leg_P = _leg(node_P, next_node_P, inside_P, row, coordinates_ptr, distance_ptr, matrix_ptr, N, MATRIX)
    cost = tl.sum(leg_P, 0)
    if not MATRIX:
        cost = tl.load(scale_ptr + row) * cost
    incumbent_P = tl.load(incumbent_ptr + row * N + place_P, mask=inside_P, other=0)
    best, stall = tl.load(incumbent_cost_ptr + row), tl.load(stall_ptr + row)
    node_P, cost, incumbent_P, best, stall = accept(node_P, cost, incumbent_P, best, stall, patience)
    tl.store(new_tour_ptr + row * N + place_P, node_P, mask=inside_P)
    tl.store(new_incumbent_ptr + row * N + place_P, incumbent_P, mask=inside_P)
    tl.store(new_cost_ptr + row, cost)
    tl.store(new_incumbent_cost_ptr + row, best)
    tl.store(new_stall_ptr + row, stall)
    tl.store(last_ptr + 2 * row, tl.load(tour_ptr + first))
    tl.store(last_ptr + 2 * row + 1, tl.load(tour_ptr + second))
    tl.store(new_stream_ptr + row, tl.load(stream_ptr + row) + STEP)


def make_move_triton(
    state: SearchState, move_B2: Tensor, instances: Instances, operator: Operator, patience: int
) -> SearchState:
    """As the reference; a ValueError for operators without a kernel."""
    if operator not in KERNELS:
        raise ValueError(f"operator '{getattr(operator, '__name__', operator)}' has no kernel")
    rows, size = state.tour_BN.shape
    padded = power_of_two(size, least=32)
    before = (state.tour_BN, state.incumbent_BN, state.incumbent_cost_B, state.stall_B, state.stream_B, move_B2)
    lengths = (instances.coordinates_BN2, instances.scale_B, instances.distance_INN, instances.matrix_B)
    written = {name: x for name, x in vars(state).items() if name != "recent_BL"}
    new = {name: torch.empty(x.shape, dtype=x.dtype, device=x.device) for name, x in written.items()}
    _move_kernel[(rows,)](
        *(None if x is None else x.contiguous() for x in (*before, *lengths)), *new.values(), patience, size,
        P=padded, OPERATOR=KERNELS[operator], MATRIX=instances.distance_INN is not None, STEP=STEP,
        num_warps=max(1, min(4, padded // 64)),
    )  # fmt: skip
    return SearchState(**new, recent_BL=state.recent_BL)
