"""Which pairs may be drawn, inside kernels: for second positions (W, M, 1) and first positions (1, 1, T), say.

Whatever a pair depends on is read per position: once for the second positions, once per block of first ones.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import power_of_two
from dact.kernels.pick_move.moves import Feasible

EVERY, CAPACITY, MASK = 0, 1, 2
"""Kinds of feasibility."""
PAIRS = 512
"""Pairs per step of `_closed_kernel`."""


@triton.jit
def of_row(row, last_ptr, room_ptr, closed_ptr, depots, KIND: tl.constexpr, IDLE: tl.constexpr):
    """The nodes of the last move, the room of a vehicle, whether idle moves are closed, and the number of depots."""
    last_first, last_second = -1, -1
    if last_ptr is not None:
        last_first = tl.load(last_ptr + 2 * row).to(tl.int32)
        last_second = tl.load(last_ptr + 2 * row + 1).to(tl.int32)
    room, closed = 0, True
    if KIND == 1:
        room = tl.load(room_ptr + row)
    if not IDLE and closed_ptr is not None:
        closed = tl.load(closed_ptr + row) != 0
    return last_first, last_second, room, closed, depots


@triton.jit
def _node(place, tour_ptr, origin, N):
    return tl.load(tour_ptr + origin + place, mask=place < N, other=-2).to(tl.int32)


@triton.jit
def _last(node, of_row):
    """1 at the first node of the last move, 2 at the second, 0 elsewhere: only that pair adds up to 3."""
    return tl.where(node == of_row[0], 1, tl.where(node == of_row[1], 2, 0))


@triton.jit
def _ends(start, end, inside, load_ptr, origin):
    """Route, head and tail of spans that start at one position, and of those that end at another; see `Feasible`."""
    start_ptr = load_ptr + origin * 6 + start * 6
    end_ptr = load_ptr + origin * 6 + end * 6 + 3
    low_route, before = tl.load(start_ptr, inside, 0), tl.load(start_ptr + 1, inside, 0)
    high_route, until = tl.load(end_ptr, inside, 0), tl.load(end_ptr + 1, inside, 0)
    rest, after = tl.load(start_ptr + 2, inside, 0), tl.load(end_ptr + 2, inside, 0)
    return low_route, before, rest, high_route, until, after


@triton.jit
def of_second(second, tour_ptr, load_ptr, origin, of_row, N, KIND: tl.constexpr, IDLE: tl.constexpr):
    """What `open_pairs` needs of the second positions."""
    node = _node(second, tour_ptr, origin, N)
    next_place = tl.where(second + 1 < N, second + 1, 0)
    last = _last(node, of_row)
    loads, depots = (last, last, last, last, last, last), (last, last)
    if KIND == 1:
        loads = _ends(next_place, second, second < N, load_ptr, origin)
    elif not IDLE:
        depots = (node < of_row[4], _node(next_place, tour_ptr, origin, N) < of_row[4])
    return last, loads, depots


@triton.jit
def _within_capacity(first, second, of_first, of_second, room, N):
    """Is the 2-opt move feasible? A span over position 0 stands for its complement, second + 1 to first - 1."""
    low_route, before, rest, high_route, until, after = of_first
    next_route, next_before, next_rest, second_route, second_until, second_after = of_second
    straight = (second_until <= room - before) & (second_after <= room - rest) | (low_route == second_route)
    around = (next_before <= room - until) & (next_rest <= room - after) | (next_route == high_route)
    nothing = tl.where(second + 1 < N, second + 1, 0) == first
    return tl.where((first > second) | (first == 0), around | nothing, straight)


@triton.jit
def _among_depots(of_first, of_second):
    """Are both ends of a span depots, or both neighbours of the ends? Their routes say so."""
    ends = (of_first[0] == -1) & (of_second[3] == -2)
    return ends | (of_first[3] == -2) & (of_second[0] == -1)


@triton.jit
def _changes_a_route(first, second, among_depots, N):
    """Not idle; see `idle_moves`."""
    outside = first - second - 1
    outside = tl.where(outside < 0, outside + N, outside)
    return (outside > 1) & (outside < N - 1) & (among_depots == 0)


@triton.jit
def open_pairs(
    first, second, of_row, of_second, tour_ptr, load_ptr, mask_ptr, origin, N, KIND: tl.constexpr, IDLE: tl.constexpr
):
    """(W, M, T): pairs that may be drawn; `origin` counts the positions of earlier rows."""
    node = _node(first, tour_ptr, origin, N)
    before = tl.where(first > 0, first, N) - 1
    opened = (first < N) & (second < N) & (first != second) & (_last(node, of_row) + of_second[0] != 3)
    if KIND == 1:
        of_first = _ends(first, before, first < N, load_ptr, origin)
        opened &= _within_capacity(first, second, of_first, of_second[1], of_row[2], N)
        if not IDLE:
            among = _among_depots(of_first, of_second[1])
            opened &= _changes_a_route(first, second, among, N) | (of_row[3] == 0)
    else:
        if KIND == 2:
            opened &= tl.load(mask_ptr + origin * N + first * N + second, mask=opened, other=0) != 0
        if not IDLE:
            of_second_depots = of_second[2]
            among = (node < of_row[4]) & of_second_depots[0]
            among |= (_node(before, tour_ptr, origin, N) < of_row[4]) & of_second_depots[1]
            opened &= _changes_a_route(first, second, among, N) | (of_row[3] == 0)
    return opened


@triton.jit
def _closed_kernel(
    tour_ptr, load_ptr, room_ptr, mask_ptr, closed_ptr, depots, N,
    KIND: tl.constexpr, T: tl.constexpr, P: tl.constexpr,
):  # fmt: skip
    """Does a row have more than two feasible moves that are not idle? Looks no further than the third."""
    row = tl.program_id(0).to(tl.int64)
    origin = row * N
    second_1P = tl.arange(0, P)[None, :]
    of_this = of_row(row, None, room_ptr, None, depots, KIND, False)
    of_these = of_second(second_1P, tour_ptr, load_ptr, origin, of_this, N, KIND, False)
    count, begin = 0, 0
    while (begin < N) & (count <= 2):
        first_T1 = begin + tl.arange(0, T)[:, None]
        busy_TP = open_pairs(
            first_T1, second_1P, of_this, of_these, tour_ptr, load_ptr, mask_ptr, origin, N, KIND, False
        )
        count += tl.sum(busy_TP.to(tl.int32))
        begin += T
    tl.store(closed_ptr + row, tl.where(count > 2, 1, 0))


def constraints(tour_BN: Tensor, feasible: Feasible) -> tuple[tuple[Tensor | int | None, ...], dict[str, Any]]:
    """Kernel arguments: loads, room, mask, rows whose idle moves are closed, depots; and KIND and IDLE."""
    kind = EVERY if feasible.mask_BNN is None else MASK
    kind = kind if feasible.load_BN6 is None else CAPACITY
    what = [None if x is None else x.contiguous() for x in (feasible.load_BN6, feasible.room_B, feasible.mask_BNN)]
    closed_B = None
    if not feasible.idle:
        rows, size = tour_BN.shape
        closed_B = torch.empty(rows, dtype=torch.int8, device=tour_BN.device)
        padded = power_of_two(size)
        _closed_kernel[(rows,)](
            tour_BN.contiguous(), *what, closed_B, feasible.depots, size,
            KIND=kind, T=max(1, PAIRS // padded), P=padded, num_warps=max(1, min(4, padded // PAIRS)),
        )  # fmt: skip
    return (*what, closed_B, feasible.depots), {"KIND": kind, "IDLE": feasible.idle}
