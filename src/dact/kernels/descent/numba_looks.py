"""Looks on a CPU: `looks.cuh` in Python, move for move and bit for bit.

Of the moves towards a neighbour, nearly all lose. A bound says so from a few lengths, and only the others are worked
out: bounds are never below a gain, so that the best move is the same.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
from typing import Any, NamedTuple

import numpy as np

from dact.kernels.descent.moves import EXCHANGE, TWO_OPT_STAR
from dact.kernels.descent.numba_moves import FORBIDDEN, ZERO, beyond, burden, gain, load_of, named
from dact.kernels.descent.numba_row import EMPTY, LENGTH, NO, ONE, PRICE, START, bare, distance, node_at

MORE = np.float32(1 + 2.0**-16)
"""Lengths that a move saves count this much more in bounds: more than float32 loses in sums of eight."""
NEARER = np.float32(1.001)
"""Neighbours are in order of their distance, but for rounding."""
FEWEST = 10
"""In shorter tours stretches meet at both ends, and bounds do not hold."""
ONE_LENGTH = np.float32(1)
LONGEST = 3
"""Nodes of a stretch."""
STRETCHES = 2 * LONGEST + 2
"""Stretches that begin or end with a node, by bits 2 to 4 of a move's code."""
END, BEYOND = 0, 1
CUT, SAVED = 0, 1
NEVER = -FORBIDDEN


class Around(NamedTuple):
    """A node between its neighbours in the tour; lengths are a little more than they are."""

    node: Any
    last: Any
    next: Any
    from_last: Any
    to_next: Any


@bare()
def next_dirty(row, first):
    """The next node to look at, from `first` on; -1 if there is none."""
    words = len(row.dirty)
    word = first >> 5
    for k in range(words + 1):
        bits = row.dirty[word]
        if k == 0:
            bits &= np.uint32(0xFFFFFFFF) << np.uint32(first & 31)
        if bits:
            bit = 0
            while not bits & (ONE << np.uint32(bit)):
                bit += 1
            return 32 * word + bit
        word = word + 1 if word + 1 < words else 0
    return -1


@bare()
def _reach_of(row, u):
    """Neighbours that moves are tried with: those that cut the edge behind the node, the one before it, or both."""
    neighbours = row.near.shape[1]
    if neighbours == 0:
        everybody = row.nodes - row.depots
        return everybody, everybody, everybody
    if not row.reach > 0:
        return neighbours, neighbours, neighbours
    place = row.pos[u]
    following = row.reach * distance(row, u, node_at(row, place + 1))
    leading = row.reach * distance(row, node_at(row, place - 1), u)
    farthest = max(following, leading) * NEARER
    behind, before = 0, 0
    for k in range(neighbours):
        away = distance(row, u, row.near[u, k])
        if away > farthest and not row.asymmetric:
            break
        behind += away < following
        before += away < leading
    return behind, before, max(behind, before)


@bare()
def _around(row, node):
    place = row.pos[node]
    last, following = node_at(row, place - 1), node_at(row, place + 1)
    return Around(node, last, following, distance(row, last, node) * MORE, distance(row, node, following) * MORE)


@bare()
def _measure_stretches(row, u):
    """For every stretch that begins or ends with u: its other end, the node beyond that, the length of the edges that
    are cut, and at most what the tour saves without it. Nothing pays for stretches with a depot."""
    place = row.pos[u]
    for back in range(2):
        step = 1 - 2 * back
        outer, end = node_at(row, place - step), u
        cut = distance(row, outer, u)
        for length in range(1, LONGEST + 1):
            which, beyond_it = length | back << 2, node_at(row, place + step * length)
            row.ends[END, which], row.ends[BEYOND, which] = end, beyond_it
            cuts = (cut + distance(row, end, beyond_it)) * MORE if end >= row.depots else NEVER
            row.saved[CUT, which], row.saved[SAVED, which] = cuts, cuts - distance(row, outer, beyond_it)
            end = beyond_it if end >= row.depots else end


@bare()
def _bound_insertion(row, u, v, apart, code, limit):
    """Of a stretch that begins or ends with u, and moves next to v; infinite where it is there."""
    which = code >> 2 & 7
    beside, cut = (v.last, v.from_last) if code >> 5 & 1 else (v.next, v.to_next)
    if beside == u.node or beside == row.ends[END, which]:
        return FORBIDDEN
    bound = row.saved[SAVED, which] + cut - apart
    return bound if bound <= limit else bound - distance(row, row.ends[END, which], beside)


@bare()
def _bound_exchange(row, u, v, apart, code, limit):
    """Of a stretch that begins or ends with u, and changes over with nodes beside v; infinite where they touch."""
    which, before, pair = code >> 2 & 7, code >> 5 & 1, code >> 7 & 1
    near, cut = (v.last, v.from_last) if before else (v.next, v.to_next)
    bound = row.saved[CUT, which] + cut - apart
    step, place = 1 - 2 * before, row.pos[near]
    far = node_at(row, place + step) if pair else near
    if near < row.depots or far < row.depots:
        return NEVER
    beyond_it, end = node_at(row, place + step * (1 + pair)), row.ends[END, which]
    if near == end or far == u.node or far == end or beyond_it == u.node or beyond_it == end:
        return FORBIDDEN
    bound += distance(row, far, beyond_it) * MORE
    if bound <= limit:
        return bound
    bound -= distance(row, end, beyond_it)
    if bound <= limit:
        return bound
    # What comes between u's other neighbour and the node beyond its stretch, and which way round.
    outer, inner = u.next if code >> 4 & 1 else u.last, row.ends[BEYOND, which]
    if (code >> 4 & 1) ^ before ^ (code >> 8 & 1):
        near, far = far, near
    return bound - distance(row, outer, near) - distance(row, far, inner)


@bare()
def _bound(row, u, v, apart, code, limit):
    """No less than what a move gains, where that is more than `limit`; depots are in one place, and lengths the same
    in both directions."""
    kind, before = code & 3, code >> 5 & 1
    if kind == EXCHANGE:
        if code >> 6 & 3:
            return _bound_exchange(row, u, v, apart, code, limit)
        return _bound_insertion(row, u, v, apart, code, limit)
    beside_u, cut_u = (u.last, u.from_last) if before else (u.next, u.to_next)
    # 2-opt cuts both nodes' edges on the same side, 2-opt* on different ones.
    if before == (kind != TWO_OPT_STAR):
        beside_v, cut_v = v.last, v.from_last
    else:
        beside_v, cut_v = v.next, v.to_next
    bound = cut_u + cut_v - apart
    return bound if bound <= limit else bound - distance(row, beside_u, beside_v)


@bare()
def _relief(row, u, v):
    """At most what a move saves of the price of overload."""
    if not row.depots or row.price[PRICE] == 0:
        return ZERO
    over = beyond(row, load_of(row, row.route[row.pos[u]])) + beyond(row, load_of(row, row.route[row.pos[v]]))
    return np.float32(row.price[PRICE] * over) * MORE


@bare()
def _best_of(row, u, v, first, last, slack, best, move):
    """The better of a move and those of some kinds towards v, and what it gains. No slack: without bounds."""
    around_v, apart, p, q = _around(row, v), distance(row, u.node, v), row.pos[u.node], row.pos[v]
    relief = _relief(row, u.node, v)
    for k in range(first, last):
        code, limit = np.int64(row.codes[k]), best - slack - relief
        if slack >= 0 and _bound(row, u, around_v, apart, code, limit) <= limit:
            continue
        trial = named(row, p, q, code)
        burdened = burden(row, trial[1], trial[2], trial[3], trial[4]) if trial[0] else FORBIDDEN
        if burdened < FORBIDDEN:
            gained = gain(row, trial[1], trial[2], trial[3], trial[4], trial[5], trial[6]) - burdened
            if gained > best:
                best, move = gained, trial
    return best, move


@bare()
def slack_of(row):
    """What float32 may lose in sums with a depot's lengths, which are not in bounds; -1 where there are none."""
    if row.asymmetric or row.state[LENGTH] < FEWEST:
        return np.float32(-1)
    farthest = ZERO
    for node in range(row.depots, row.nodes if row.depots else row.depots):
        farthest = max(farthest, distance(row, 0, node))
    return farthest * (MORE - ONE_LENGTH)


@bare()
def look(row, node, slack):
    """Gain of the best move at a node, and the move; 0 if nothing gains enough."""
    best, move = row.least, (NO, START, START, START, START, NO, NO)
    reach, u = _reach_of(row, node), _around(row, node)
    empty = row.depots > 0 and row.state[EMPTY] >= 0
    if slack >= 0 and (reach[2] > 0 or empty):
        _measure_stretches(row, node)
    counts, kinds = (*reach, np.int64(empty)), (START, row.behind, row.before, len(row.codes))
    for group in range(4):
        first, last = (START, len(row.codes)) if group == 3 else (kinds[group], kinds[group + 1])
        for which in range(counts[group] if last > first else 0):
            if group == 3:
                v = np.int64(row.tour[row.state[EMPTY]])
            else:
                v = np.int64(row.near[node, which]) if row.near.shape[1] else row.depots + which
            if v != node:
                best, move = _best_of(row, u, v, first, last, slack, best, move)
    return best if move[0] else ZERO, move
