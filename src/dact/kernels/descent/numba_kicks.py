"""Kicks on a CPU: `kicks.cuh` in Python, move for move and bit for bit."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import numpy as np

from dact.kernels.descent.numba_moves import (
    FORBIDDEN,
    ZERO,
    beyond,
    burden,
    burdened,
    gain,
    load_of,
    make,
    named,
    overload,
    settle,
)
from dact.kernels.descent.numba_row import (
    LENGTH,
    PRICE,
    START,
    bare,
    copy,
    distance,
    draw,
    mark,
    mixed,
    node_at,
    route_end,
    wrapped,
)

PAIRS, NEARBY, BRIDGE, RUIN = range(4)
TAKEN = 0xFFFF
MOST_STRINGS = 16
BLINKS = np.uint64(10)
"""Of 1024 insertion places, the number that are skipped at random."""
INFINITE = 1e300


@bare()
def total_cost(row):
    """The tour's length and the price of its overload.

    Sums of float32 lengths in float64 are exact: the order does not matter."""
    total = 0.0
    for place in range(row.state[LENGTH]):
        total += np.float64(distance(row, row.tour[place], node_at(row, place + 1)))
    if row.price[PRICE] > 0:
        total += row.price[PRICE] * overload(row)
    return total


@bare()
def _drawn_centre(row):
    """The customer that a kick begins at."""
    if len(row.centre):
        return np.int64(row.centre[draw(row, len(row.centre))])
    return row.depots + draw(row, row.nodes - row.depots)


@bare()
def _drawn_pair(row, kind, window, centre):
    """Two nodes and the code of a move."""
    if kind == NEARBY and row.near.shape[1]:
        among = min(window, row.near.shape[1])
        k = draw(row, among + 1)
        u = np.int64(centre if k == among else row.near[centre, k])
        v = np.int64(row.near[u, draw(row, among)])
        return u, v, np.int64(row.codes[draw(row, len(row.codes))])
    u = _drawn_centre(row)
    v = row.depots + draw(row, row.nodes - row.depots)
    k = draw(row, 4)
    return u, v, (2 if row.depots and k & 2 else 1) | (k & 1) << 5


@bare()
def _kick_by_moves(row, kind, size, window):
    centre = _drawn_centre(row)
    made, tries = 0, 0
    while made < size and tries < 4 * size:
        tries += 1
        if kind == BRIDGE:
            la, lb = 1 + draw(row, window), 1 + draw(row, window)
            a = row.pos[_drawn_centre(row)]
            b, fa, fb = a + la, False, False
            there = row.depots == 0 and la + lb < row.state[LENGTH]
        else:
            u, v, code = _drawn_pair(row, kind, window, centre)
            if u == v:
                continue
            there, a, la, b, lb, fa, fb = named(row, row.pos[u], row.pos[v], code)
            there = there and burden(row, a, la, b, lb) < FORBIDDEN
        if not there:
            continue
        gained = gain(row, a, la, b, lb, fa, fb)
        if -row.least <= gained <= row.least:
            continue
        make(row, a, la, b, lb, fa, fb)
        made += 1


@bare()
def _take_string(row, p, longest):
    """Take out some nodes around a place, within its route."""
    longest = min(longest, row.state[LENGTH])
    low, high = p - longest + 1, p + longest - 1
    if row.depots:
        row.touched[row.route[p]] = 1
        low, high = row.start[row.route[p]] + 1, route_end(row, row.route[p]) - 1
        longest = min(high - low + 1, longest)
    length = 1 + draw(row, longest)
    earliest, latest = max(p - length + 1, low), min(high - length + 1, p)
    first = earliest + draw(row, latest - earliest + 1)
    # The nodes on either side of the gap are to be looked at again.
    for place in (first - 1, first + length):
        if node_at(row, place) != TAKEN:
            mark(row, node_at(row, place))
    for k in range(length):
        row.tour[wrapped(row, first + k)] = TAKEN


@bare()
def _ruined(row, p, count):
    if row.tour[p] == TAKEN:
        return True
    if row.depots:
        for k in range(count):
            if row.lost[k] == row.route[p]:
                return True
    return False


@bare()
def _ruin(row, size, window):
    """Remove strings from the routes near a node; their nodes are stored at the end of the tour's array."""
    centre = _drawn_centre(row)
    strings, count = min(1 + draw(row, size), MOST_STRINGS), 0
    for k in range(-1, row.near.shape[1]):
        if count >= strings:
            break
        place = row.pos[np.int64(centre if k < 0 else row.near[centre, k])]
        if _ruined(row, place, count):
            continue
        row.lost[count] = row.route[place] if row.depots else 0
        count += 1
        _take_string(row, place, window)
    left = 0
    for place in range(row.state[LENGTH]):
        if row.tour[place] != TAKEN:
            row.spare[left] = row.tour[place]
            left += 1
    to = left
    for node in range(row.nodes):
        if row.tour[row.pos[node]] == TAKEN:
            row.spare[to] = node
            to += 1
    copy(row.spare, row.tour, row.nodes)
    row.state[LENGTH] = left
    settle(row, START, left)


@bare()
def _choose_next(row, order, salt):
    """The node to insert next: any, or that with the largest demand, or farthest from or nearest to the depot."""
    top, which = np.int64(0), -1
    for place in range(row.state[LENGTH], row.nodes):
        node = row.tour[place]
        if order == 0:
            key = np.int64(mixed(salt + np.uint64(node)) >> np.uint64(40))
        elif order == 1:
            key = np.int64(row.demand[node])
        else:
            # Lengths are not negative, so their bits are in the order of their values.
            bits = np.int64(np.float32(distance(row, 0, node)).view(np.uint32))
            key = bits if order == 2 else 0xFFFFFFFF - bits
        if which < 0 or key > top:
            top, which = key, place
    length = row.state[LENGTH]
    row.tour[which], row.tour[length] = row.tour[length], row.tour[which]


@bare(inline="always")
def _burden_of(row, node, route):
    """What a node adds to the price of a route's overload; infinite if the route has no room and no price."""
    load = load_of(row, route)
    return burdened(row, beyond(row, load + row.demand[node]), beyond(row, load))


@bare()
def _cheapest_place(row, node, salt):
    """The cheapest insertion place of a node; -1 if no route has room for it. Most places are out by their detour
    alone, before room and chance are looked at: neither makes a place cheaper."""
    least, which, from_last = np.float32(np.inf), -1, distance(row, np.int64(row.tour[0]), node)
    for place in range(1, row.state[LENGTH] + 1):
        behind = node_at(row, place)
        to_behind = distance(row, node, behind)
        more = from_last + to_behind - row.leg[place - 1]
        from_last = distance(row, behind, node) if row.asymmetric else to_behind
        if more < least:
            more += _burden_of(row, node, row.route[place - 1]) if row.depots else ZERO
            if more < least and mixed(salt + np.uint64(place)) >> np.uint64(54) >= BLINKS:
                least, which = more, place
    return which


@bare()
def _put_in(row, node, place):
    length = row.state[LENGTH]
    for k in range(length, place, -1):
        row.tour[k], row.leg[k] = row.tour[k - 1], row.leg[k - 1]
    row.tour[place] = node
    row.state[LENGTH] = length + 1
    row.leg[place - 1] = distance(row, row.tour[place - 1], node)
    row.leg[place] = distance(row, node, node_at(row, place + 1))
    settle(row, place, length + 1 - place)
    if row.depots:
        row.touched[row.route[place]] = 1
    mark(row, node)
    mark(row, node_at(row, place - 1))
    mark(row, node_at(row, place + 1))


@bare()
def _recreate(row):
    order = draw(row, 4)
    if not row.depots and order == 1:
        order = 0
    salt = row.stream[0]
    for place in range(row.state[LENGTH]):
        row.leg[place] = distance(row, row.tour[place], node_at(row, place + 1))
    while row.state[LENGTH] < row.nodes:
        _choose_next(row, order, salt)
        node = np.int64(row.tour[row.state[LENGTH]])
        draw(row, 1)
        place = _cheapest_place(row, node, row.stream[0])
        if place < 0:
            return False
        _put_in(row, node, place)
    return True


@bare()
def kicked(row, kind, size, window):
    """Kick the tour and return its cost, infinite if a node could not be inserted."""
    whole = True
    if kind == RUIN:
        _ruin(row, size, window)
        whole = _recreate(row)
    else:
        _kick_by_moves(row, kind, size, window)
    if whole:
        return total_cost(row)
    row.state[LENGTH] = row.nodes
    for word in range(len(row.dirty)):
        row.dirty[word] = 0
    return INFINITE
