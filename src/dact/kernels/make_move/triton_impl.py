"""A program per row makes the move and overwrites the row's state.

Shape letters: as in reference.py, with P >= N positions, a power of two.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import power_of_two
from dact.kernels.make_move.reference import LEAST_GAIN, OPERATORS, Costs, Search
from dact.kernels.row_draws import STEP


@triton.jit
def _source(place, first, second, N, OPERATOR: tl.constexpr):
    """Where the node comes from that stands at a place after the move; the formulas of the reference."""
    if OPERATOR == "two_opt":
        over_start = (first > second) | (first == 0)
        low = tl.where(over_start, second + 1, first)
        high = tl.where(over_start, tl.where(first == 0, N, first) - 1, second)
        source = tl.where((place >= low) & (place <= high), low + high - place, place)
    elif OPERATOR == "insert":
        forward = first < second
        landing = tl.where(forward, second, tl.minimum(second + 1, first))
        left = forward & (place >= first) & (place < landing)
        right = (first >= second) & (place > landing) & (place <= first)
        source = tl.where(place == landing, first, place + left.to(tl.int32) - right.to(tl.int32))
    else:
        source = tl.where(place == first, second, tl.where(place == second, first, place))
    return source


@triton.jit
def _move_kernel(
    tour_ptr, cost_ptr, incumbent_ptr, incumbent_cost_ptr, stall_ptr, last_ptr, stream_ptr, move_ptr,
    coordinates_ptr, scale_ptr, distance_ptr, matrix_ptr, patience, N,
    P: tl.constexpr, OPERATOR: tl.constexpr, MATRIX: tl.constexpr, LEAST: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    place_P = tl.arange(0, P)
    inside_P = place_P < N
    tour_ptr += row * N
    incumbent_ptr += row * N
    first = tl.load(move_ptr + 2 * row).to(tl.int32)
    second = tl.load(move_ptr + 2 * row + 1).to(tl.int32)
    last_first, last_second = tl.load(tour_ptr + first), tl.load(tour_ptr + second)
    start = 0
    if OPERATOR != "two_opt":
        # Node 0 may have moved: everything is read from where it now stands onwards.
        moved_P = tl.load(tour_ptr + _source(place_P, first, second, N, OPERATOR), mask=inside_P, other=-1)
        start = tl.sum(tl.where(moved_P == 0, place_P, 0), 0)
    source_P = _source((place_P + start) % N, first, second, N, OPERATOR)
    next_P = _source((place_P + start + 1) % N, first, second, N, OPERATOR)
    node_P = tl.load(tour_ptr + source_P, mask=inside_P, other=0)
    next_node_P = tl.load(tour_ptr + next_P, mask=inside_P, other=0)
    if MATRIX:
        distance_ptr += tl.load(matrix_ptr + row).to(tl.int64) * N * N
        leg_P = tl.load(distance_ptr + node_P * N + next_node_P, mask=inside_P, other=0.0)
        cost = tl.sum(leg_P, 0)
    else:
        coordinates_ptr += row * N * 2
        x_P = tl.load(coordinates_ptr + 2 * node_P, mask=inside_P, other=0.0)
        y_P = tl.load(coordinates_ptr + 2 * node_P + 1, mask=inside_P, other=0.0)
        x_P -= tl.load(coordinates_ptr + 2 * next_node_P, mask=inside_P, other=0.0)
        y_P -= tl.load(coordinates_ptr + 2 * next_node_P + 1, mask=inside_P, other=0.0)
        cost = tl.load(scale_ptr + row) * tl.sum(tl.sqrt(x_P * x_P + y_P * y_P), 0)
    best = tl.load(incumbent_cost_ptr + row)
    better = cost < (1 - LEAST) * best
    stall = tl.where(better, 0, tl.load(stall_ptr + row) + 1)
    tired = stall >= patience
    incumbent_P = tl.load(incumbent_ptr + place_P, mask=inside_P, other=0)
    incumbent_P = tl.where(better, node_P, incumbent_P)
    best = tl.where(better, cost, best)
    # All of the row has been read before any of it is overwritten.
    tl.debug_barrier()
    tl.store(tour_ptr + place_P, tl.where(tired, incumbent_P, node_P), mask=inside_P)
    tl.store(incumbent_ptr + place_P, incumbent_P, mask=inside_P)
    tl.store(cost_ptr + row, tl.where(tired, best, cost))
    tl.store(incumbent_cost_ptr + row, best)
    tl.store(stall_ptr + row, tl.where(tired, 0, stall))
    tl.store(last_ptr + 2 * row, last_first)
    tl.store(last_ptr + 2 * row + 1, last_second)
    tl.store(stream_ptr + row, tl.load(stream_ptr + row) + STEP)


def make_move_triton(search: Search, move_B2: Tensor, costs: Costs, operator: str, patience: int) -> Search:
    """As the reference, but `search` itself is overwritten and handed back."""
    if operator not in OPERATORS:
        raise ValueError(f"operator '{operator}' is not one of {', '.join(OPERATORS)}")
    if not all(x.is_contiguous() for x in search):
        raise ValueError("a search that is overwritten needs contiguous tensors")
    rows, size = search.tour_BN.shape
    padded = power_of_two(size, least=32)
    _move_kernel[(rows,)](
        *search, move_B2.contiguous(), *(None if x is None else x.contiguous() for x in costs), patience, size,
        P=padded, OPERATOR=operator, MATRIX=costs.distance_INN is not None, LEAST=LEAST_GAIN, STEP=STEP,
        num_warps=max(1, min(4, padded // 64)),
    )  # fmt: skip
    return search
