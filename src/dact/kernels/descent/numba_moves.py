"""Moves on a CPU: `moves.cuh` in Python, move for move and bit for bit."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201
import numpy as np

from dact.kernels.descent.numba_row import EMPTY, LENGTH, PRICE, bare, distance, mark, node_at, route_end, wrapped

ZERO = np.float32(0)
FORBIDDEN = np.float32(np.inf)


@bare()
def exchange(row, p, q, code):
    """Move a stretch that begins or ends with u next to v, in exchange for nodes there."""
    length, other = (code >> 2) & 3, (code >> 6) & 3
    back, before, flip_v = (code >> 4) & 1, (code >> 5) & 1, (code >> 8) & 1 == 1
    flip_u = length > 1 and (back != before)
    su = p - length + 1 if back else p
    sv = q - other if before else q + 1
    if row.depots:
        ru, rv = row.route[p], row.route[q]
        if su <= row.start[ru] or su + length > route_end(row, ru):
            return False, 0, 0, 0, 0, False, False
        if sv <= row.start[rv] or sv + other > route_end(row, rv):
            return False, 0, 0, 0, 0, False, False
        if su <= q < su + length:
            return False, 0, 0, 0, 0, False, False
        if sv + other <= su:
            return True, sv, other, su, length, flip_v, flip_u
        return sv >= su + length, su, length, sv, other, flip_u, flip_v
    su = wrapped(row, su)
    offset = wrapped(row, wrapped(row, sv) - su)
    if wrapped(row, q - su) < length:
        return False, 0, 0, 0, 0, False, False
    if other == 0 and offset == 0:
        offset = length
    if offset < length or offset + other > row.state[LENGTH]:
        return False, 0, 0, 0, 0, False, False
    rest = row.state[LENGTH] - offset - other
    if offset - length <= rest:
        return True, su, length, su + offset, other, flip_u, flip_v
    sv = wrapped(row, su + offset)
    return True, sv, other, sv + other + rest, length, flip_v, flip_u


@bare()
def two_opt(row, p, q, before):
    """u and v become neighbours, and so do the nodes behind (or before) them."""
    if row.depots == 0:
        a, length = p + 1 - before, wrapped(row, q - p)
        if not row.asymmetric and 2 * length > row.state[LENGTH]:
            a += length
            length = row.state[LENGTH] - length
        a = wrapped(row, a)
        return True, a, length, a + length, 0, True, False
    if before and q == row.start[row.route[q]]:
        return False, 0, 0, 0, 0, False, False
    low, high = min(p, q), max(p, q)
    a = low + 1 - before
    if row.route[p] == row.route[q]:
        return True, a, high - low, a + high - low, 0, True, False
    head = row.start[row.route[high]] + 1
    return True, a, route_end(row, row.route[low]) - a, head, high + 1 - before - head, True, True


@bare()
def two_opt_star(row, p, q, before):
    """Exchange the tails of two routes: v's tail follows u, and u's tail follows v's predecessor (or vice versa)."""
    if row.depots == 0 or row.route[p] == row.route[q] or (not before and q == row.start[row.route[q]]):
        return False, 0, 0, 0, 0, False, False
    su, sv = p + 1 - before, q + before
    lu, lv = route_end(row, row.route[p]) - su, route_end(row, row.route[q]) - sv
    if su < sv:
        return True, su, lu, sv, lv, False, False
    return True, sv, lv, su, lu, False, False


@bare(inline="always")
def named(row, p, q, code):
    """(exists, a, la, b, lb, reverse a, reverse b): the move of a code for the nodes at two places."""
    kind, before = code & 3, (code >> 5) & 1
    if kind == 0:
        return exchange(row, p, q, code)
    if kind == 1:
        return two_opt(row, p, q, before)
    return two_opt_star(row, p, q, before)


@bare(inline="always")
def load_of(row, route):
    """Total demand of a route."""
    return row.cum[route_end(row, route) - 1] - row.cum[row.start[route]]


@bare(inline="always")
def beyond(row, load):
    """How far a load exceeds the capacity."""
    return max(load - row.capacity, 0)


@bare()
def overload(row):
    """How far all routes together exceed the capacity."""
    total = 0
    for route in range(row.depots):
        total += beyond(row, load_of(row, route))
    return total


@bare(inline="always")
def burdened(row, then, now):
    """What a change of overload adds to the cost: nothing, or infinite, where overload has no price."""
    if row.price[PRICE] == 0:
        return FORBIDDEN if then else ZERO
    return np.float32(row.price[PRICE] * (then - now))


@bare(inline="always")
def burden(row, a, la, b, lb):
    """What the loads of both routes add to the cost of a move."""
    if not row.depots:
        return ZERO
    ra, rb = row.route[a - 1], row.route[b - 1]
    if ra == rb:
        return ZERO
    load_a, load_b = load_of(row, ra), load_of(row, rb)
    more = row.cum[b + lb - 1] - row.cum[b - 1] - row.cum[a + la - 1] + row.cum[a - 1]
    then = beyond(row, load_a + more) + beyond(row, load_b - more)
    return burdened(row, then, beyond(row, load_a) + beyond(row, load_b))


@bare()
def turned(row, first, length):
    """Extra cost of a stretch in reverse."""
    first = wrapped(row, first)
    last, size = first + length - 1, row.state[LENGTH]
    if last < size:
        return np.float32(row.turn[last] - row.turn[first])
    return np.float32(row.turn[size] - row.turn[first] + row.turn[last - size])


@bare()
def gain(row, a, la, b, lb, fa, fb):
    """By how much the move shortens the tour."""
    between = b - a - la
    before, behind = node_at(row, a - 1), node_at(row, b + lb)
    a0, a1 = node_at(row, a), node_at(row, a + la - 1)
    b0, b1 = node_at(row, b), node_at(row, b + lb - 1)
    m0, m1 = node_at(row, a + la), node_at(row, b - 1)
    gained, here = ZERO, before
    if la:
        gained += distance(row, here, a0)
        here = a1
    if between:
        gained += distance(row, here, m0)
        here = m1
    if lb:
        gained += distance(row, here, b0)
        here = b1
    gained += distance(row, here, behind)
    spent, here = ZERO, before
    if lb:
        spent += distance(row, here, b1 if fb else b0)
        here = b0 if fb else b1
    if between:
        spent += distance(row, here, m0)
        here = m1
    if la:
        spent += distance(row, here, a1 if fa else a0)
        here = a0 if fa else a1
    spent += distance(row, here, behind)
    if row.asymmetric:
        if fa and la:
            spent += turned(row, a, la)
        if fb and lb:
            spent += turned(row, b, lb)
    return gained - spent


@bare()
def settle(row, first, length):
    """Update positions, loads and routes after a change of consecutive places."""
    for k in range(length):
        place = wrapped(row, first + k)
        row.pos[row.tour[place]] = place
    if row.depots:
        load = row.cum[first - 1] if first else 0
        route = row.route[first - 1] if first else -1
        for place in range(first, first + length):
            node = row.tour[place]
            load += row.demand[node]
            row.cum[place] = load
            if node < row.depots:
                route += 1
                row.start[route] = place
            row.route[place] = route
        row.state[EMPTY] = -1
        for route in range(row.depots):
            if route_end(row, route) == row.start[route] + 1:
                row.state[EMPTY] = row.start[route]
                break
    if row.asymmetric:
        total = 0.0
        for place in range(row.state[LENGTH]):
            here, there = row.tour[place], node_at(row, place + 1)
            row.turn[place] = total
            total += np.float64(distance(row, there, here)) - np.float64(distance(row, here, there))
        row.turn[row.state[LENGTH]] = total


@bare()
def make(row, a, la, b, lb, fa, fb):
    """Make the move, and mark the nodes with new neighbours for the descent."""
    between = b - a - la
    length = la + between + lb
    if row.depots:
        row.touched[row.route[a - 1]] = 1
        row.touched[row.route[b - 1]] = 1
    mark(row, node_at(row, a - 1))
    mark(row, node_at(row, b + lb))
    if la:
        mark(row, node_at(row, a))
        mark(row, node_at(row, a + la - 1))
    if lb:
        mark(row, node_at(row, b))
        mark(row, node_at(row, b + lb - 1))
    if between:
        mark(row, node_at(row, a + la))
        mark(row, node_at(row, b - 1))
    for k in range(lb):
        row.spare[k] = node_at(row, b + lb - 1 - k if fb else b + k)
    for k in range(between):
        row.spare[lb + k] = node_at(row, a + la + k)
    for k in range(la):
        row.spare[lb + between + k] = node_at(row, a + la - 1 - k if fa else a + k)
    for k in range(length):
        row.tour[wrapped(row, a + k)] = row.spare[k]
    settle(row, a, length)
