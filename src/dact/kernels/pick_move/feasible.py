"""Which pairs may be drawn, for second positions (W, M, 1) and first positions (1, 1, T).

Whatever a pair depends on is read per position: once for the second positions, once per block of first ones.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl

EVERY, CAPACITY, MASK = 0, 1, 2
"""Kinds of feasibility."""


@triton.jit
def of_row(row, last_ptr, room_ptr, KIND: tl.constexpr):
    """The nodes of the last move and the room of a vehicle."""
    last_first, last_second = tl.load(last_ptr + 2 * row).to(tl.int32), tl.load(last_ptr + 2 * row + 1).to(tl.int32)
    room = 0
    if KIND == 1:
        room = tl.load(room_ptr + row)
    return last_first, last_second, room


@triton.jit
def _last(place, tour_ptr, origin, of_row, N):
    """1 at the first node of the last move, 2 at the second, 0 elsewhere: only that pair adds up to 3."""
    node = tl.load(tour_ptr + origin + place, mask=place < N, other=-2).to(tl.int32)
    return tl.where(node == of_row[0], 1, tl.where(node == of_row[1], 2, 0))


@triton.jit
def _ends(start, end, inside, load_ptr, origin):
    """Route, head and tail of segments that start at one position, and of those that end at another; see `Capacity`."""
    start_ptr = load_ptr + origin * 6 + start * 6
    end_ptr = load_ptr + origin * 6 + end * 6 + 3
    low_route, before = tl.load(start_ptr, inside, 0), tl.load(start_ptr + 1, inside, 0)
    high_route, until = tl.load(end_ptr, inside, 0), tl.load(end_ptr + 1, inside, 0)
    rest, after = tl.load(start_ptr + 2, inside, 0), tl.load(end_ptr + 2, inside, 0)
    return low_route, before, rest, high_route, until, after


@triton.jit
def of_second(second, tour_ptr, load_ptr, origin, of_row, N, KIND: tl.constexpr):
    """What pairs need to know of their second positions."""
    last = _last(second, tour_ptr, origin, of_row, N)
    loads = (last, last, last, last, last, last)
    if KIND == 1:
        loads = _ends(tl.where(second + 1 < N, second + 1, 0), second, second < N, load_ptr, origin)
    return last, loads


@triton.jit
def _within_capacity(first, second, of_second, load_ptr, origin, room, N):
    """Is the 2-opt move feasible? A segment over position 0 stands for its complement, second + 1 to first - 1."""
    of_first = _ends(first, tl.where(first > 0, first, N) - 1, first < N, load_ptr, origin)
    low_route, before, rest, high_route, until, after = of_first
    next_route, next_before, next_rest, second_route, second_until, second_after = of_second
    straight = (second_until <= room - before) & (second_after <= room - rest) | (low_route == second_route)
    around = (next_before <= room - until) & (next_rest <= room - after) | (next_route == high_route)
    nothing = tl.where(second + 1 < N, second + 1, 0) == first
    return tl.where((first > second) | (first == 0), around | nothing, straight)


@triton.jit
def open_pairs(first, second, of_row, of_second, tour_ptr, load_ptr, mask_ptr, origin, N, KIND: tl.constexpr):
    """(W, M, T): pairs that may be drawn; `origin` counts the positions of earlier rows."""
    first_last = _last(first, tour_ptr, origin, of_row, N)
    opened = (first < N) & (second < N) & (first != second) & (first_last + of_second[0] != 3)
    if KIND == 1:
        opened &= _within_capacity(first, second, of_second[1], load_ptr, origin, of_row[2], N)
    if KIND == 2:
        opened &= tl.load(mask_ptr + origin * N + first * N + second, mask=opened, other=0) != 0
    return opened
