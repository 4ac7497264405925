"""Looks on a CPU: `looks.cuh` in Python, move for move and bit for bit.

Of the moves towards a neighbour, nearly all lose. A bound says so from a few lengths, and only the others are worked
out: bounds are never below a gain, so that the best move is the same.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
from typing import Any, NamedTuple

import numpy as np

from dact.kernels.descent.moves import EXCHANGE, TWO_OPT_STAR
from dact.kernels.descent.numba_moves import FORBIDDEN, ZERO, beyond, burden, burdened, gain, load_of, named
from dact.kernels.descent.numba_row import EMPTY, LENGTH, NO, ONE, PRICE, START, bare, distance, node_at

MORE = np.float32(1 + 2.0**-16)
"""Lengths that a move saves count this much more in bounds: more than float32 loses in sums of eight."""
NEARER = np.float32(1.001)
"""Neighbours are in order of their distance, but for rounding."""
FEWEST = 10
"""In shorter tours stretches meet at both ends, and bounds do not hold."""
LONGEST = 3
"""Nodes of a stretch."""
STRETCHES = 2 * LONGEST + 2
"""Stretches that begin or end with a node, by bits 2 to 4 of a move's code."""
END, BEYOND, LOAD = range(3)
CUT, SAVED = 0, 1
NEVER = -FORBIDDEN
TINY = MORE - np.float32(1)
LAST = 1 << 40
"""Numbers of moves to an empty route begin here."""


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
        cut, load = distance(row, outer, u), 0
        for length in range(1, LONGEST + 1):
            which, beyond_it = length | back << 2, node_at(row, place + step * length)
            load += row.demand[end]
            row.ends[END, which], row.ends[BEYOND, which], row.ends[LOAD, which] = end, beyond_it, load
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


class Loads(NamedTuple):
    """Of the routes of u and v: are they different ones, their loads, what `cum` is at their depots, and the price of
    their overload."""

    apart: Any
    of_u: Any
    of_v: Any
    before_u: Any
    before_v: Any
    price: Any


@bare()
def _loads(row, u, v):
    if not row.depots or row.route[row.pos[u]] == row.route[row.pos[v]]:
        return Loads(NO, START, START, START, START, ZERO)
    ru, rv = row.route[row.pos[u]], row.route[row.pos[v]]
    of_u, of_v = load_of(row, ru), load_of(row, rv)
    price = np.float32(row.price[PRICE] * (beyond(row, of_u) + beyond(row, of_v)))
    return Loads(np.bool_(True), of_u, of_v, row.cum[row.start[ru]], row.cum[row.start[rv]], price)


@bare()
def _exchanged(row, v, code):
    """The load that goes from u's route to v's, less what comes back."""
    before, moved = code >> 5 & 1, row.ends[LOAD, code >> 2 & 7]
    if code >> 6 & 3:
        near = v.last if before else v.next
        moved -= row.demand[near]
        if code >> 7 & 1:
            moved -= row.demand[node_at(row, row.pos[near] + 1 - 2 * before)]
    return moved


@bare()
def _burden(row, u, v, code, loads):
    """What a move adds to the price of overload, if it exists; infinite where it must not be made."""
    if not loads.apart:
        return ZERO
    before = code >> 5 & 1
    if code & 3 == EXCHANGE:
        then_u = loads.of_u - _exchanged(row, v, code)
    else:
        # 2-opt joins both heads; 2-opt* joins u's head and v's tail.
        then_u = row.cum[row.pos[u.node] - before] - loads.before_u
        if code & 3 == TWO_OPT_STAR:
            then_u += loads.of_v - (row.cum[row.pos[v.node] - 1 + before] - loads.before_v)
        else:
            then_u += row.cum[row.pos[v.node] - before] - loads.before_v
    then = beyond(row, then_u) + beyond(row, loads.of_u + loads.of_v - then_u)
    return burdened(row, then, beyond(row, loads.of_u) + beyond(row, loads.of_v))


@bare(inline="always")
def _limit(least, more):
    """A move that saves less than this, and adds so much to the price of overload, gains less than `least`."""
    return least + more - abs(more) * TINY


@bare()
def _ruled_out(row, u, v, apart, loads, code, least):
    """(Is it known that a move must not be made, or gains less than `least`; a bound on what it saves)."""
    limit = _limit(least, -loads.price)
    bound = _bound(row, u, v, apart, code, limit)
    if bound < limit:
        return True, bound
    more = _burden(row, u, v, code, loads)
    return more == FORBIDDEN or bound < _limit(least, more), bound


@bare()
def _tried(row, u, v, code, least, bound):
    """(What a move gains less what it adds to the price of overload, the move): minus infinity where it must not be
    made, or the bound says that it gains less than `least`."""
    move = named(row, row.pos[u], row.pos[v], code)
    more = burden(row, move[1], move[2], move[3], move[4]) if move[0] else FORBIDDEN
    if more == FORBIDDEN or bound < _limit(least, more):
        return NEVER, move
    return gain(row, move[1], move[2], move[3], move[4], move[5], move[6]) - more, move


@bare()
def slack_of(row):
    """What float32 may lose in sums with a depot's lengths, which are not in bounds; -1 where there are none."""
    if row.asymmetric or row.state[LENGTH] < FEWEST:
        return np.float32(-1)
    farthest = ZERO
    for node in range(row.depots, row.nodes if row.depots else row.depots):
        farthest = max(farthest, distance(row, 0, node))
    return farthest * TINY


@bare(inline="always")
def _candidate(row, node, which, reach):
    """A neighbour of a node; behind the last one an empty route."""
    if which >= reach[2]:
        return np.int64(row.tour[row.state[EMPTY]])
    return np.int64(row.near[node, which]) if row.near.shape[1] else row.depots + which


@bare()
def look(row, node, slack):
    """Gain of the best move at a node, and the move; 0 if nothing gains enough. Of equal moves the one with the lowest
    number: first those that cut the edge behind the node, then the one before it, both, and those to an empty route."""
    best, first, best_move = row.least, START, (NO, START, START, START, START, NO, NO)
    reach, u = _reach_of(row, node), _around(row, node)
    empty = row.depots > 0 and row.state[EMPTY] >= 0
    if slack >= 0 and (reach[2] > 0 or empty):
        _measure_stretches(row, node)
    kinds = (START, row.behind, row.before, len(row.codes))
    begin = (0, reach[0] * kinds[1], reach[0] * kinds[1] + reach[1] * (kinds[2] - kinds[1]))
    for which in range(reach[2] + np.int64(empty)):
        other = _candidate(row, node, which, reach)
        if other == node:
            continue
        v, apart, loads = _around(row, other), distance(row, node, other), _loads(row, node, other)
        for group in range(3):
            if reach[group] <= which < reach[2]:
                continue
            number = begin[group] + which * (kinds[group + 1] - kinds[group]) - kinds[group]
            number = LAST if which == reach[2] else number
            for k in range(kinds[group], kinds[group + 1]):
                code, bound = np.int64(row.codes[k]), FORBIDDEN
                if slack >= 0:
                    out, bound = _ruled_out(row, u, v, apart, loads, code, best - slack)
                    if out:
                        continue
                gained, move = _tried(row, node, other, code, best - slack, bound)
                if gained > best or (gained == best and number + k < first):
                    best, first, best_move = gained, np.int64(number + k), move
    return best if best_move[0] else ZERO, best_move
