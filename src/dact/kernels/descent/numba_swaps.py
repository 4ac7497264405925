"""SWAP* on a CPU: two customers of two routes change over, each to the cheapest place in the other's route.

Only routes that have changed since the last such pass are tried, with the routes of their customers' neighbours.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import numpy as np

from dact.kernels.descent.job import PLACES
from dact.kernels.descent.numba_moves import ZERO, beyond, load_of, make
from dact.kernels.descent.numba_row import LEFT, NO, PRICE, bare, distance, node_at, route_end

SAVED = PLACES
"""The column of what a customer's own route saves without it, after those of insertions."""
EXCHANGES_A_LOOK = 32
"""Exchanges that take about as long as a look."""
INFINITE = np.float32(np.inf)
CHANGED, TRIED = 1, 2
"""States of a route: it has changed since it was tried with others; it has been tried with all of them."""


@bare(inline="always")
def _detour(row, before, node, behind):
    return distance(row, before, node) + distance(row, node, behind) - distance(row, before, behind)


@bare()
def _list_places(row, guests, host):
    """For each customer of one route, the cheapest insertions into another: costs, and the nodes they follow."""
    first, last = row.start[host], route_end(row, host)
    for q in range(first, last):
        row.leg[q - first] = distance(row, row.tour[q], node_at(row, q + 1))
    for p in range(row.start[guests] + 1, route_end(row, guests)):
        u = row.tour[p]
        c0, c1, c2, a0, a1, a2 = INFINITE, INFINITE, INFINITE, -1, -1, -1
        here = row.tour[first]
        to_here = distance(row, here, u)
        for q in range(first, last):
            there = node_at(row, q + 1)
            from_u = distance(row, u, there)
            more = to_here + from_u - row.leg[q - first]
            if more < c0:
                c0, c1, c2, a0, a1, a2 = more, c0, c1, here, a0, a1
            elif more < c1:
                c1, c2, a1, a2 = more, c1, here, a1
            elif more < c2:
                c2, a2 = more, here
            here = there
            to_here = distance(row, here, u) if row.asymmetric else from_u
        row.offer[u, 0], row.offer[u, 1], row.offer[u, 2] = c0, c1, c2
        row.after[u, 0], row.after[u, 1], row.after[u, 2] = a0, a1, a2
        row.offer[u, SAVED] = _detour(row, row.tour[p - 1], u, node_at(row, p + 1))


@bare()
def _cheapest(row, u, v):
    """(cost, node before it) of the cheapest insertion of u into the route of v without v."""
    before = row.tour[row.pos[v] - 1]
    least, after = _detour(row, before, u, node_at(row, row.pos[v] + 1)), before
    for k in range(PLACES):
        # Places beside v are gone with it.
        if row.after[u, k] >= 0 and row.after[u, k] != v and row.after[u, k] != before:
            if row.offer[u, k] < least:
                least, after = row.offer[u, k], row.after[u, k]
            break
    return least, after


@bare()
def _swap(row, ra, rb):
    """Make the best exchange between two routes; what it gains, 0 if nothing gains enough."""
    load_a, load_b = load_of(row, ra), load_of(row, rb)
    now = beyond(row, load_a) + beyond(row, load_b)
    _list_places(row, ra, rb)
    _list_places(row, rb, ra)
    best, one, other, after_one, after_other = row.least, -1, -1, -1, -1
    for p in range(row.start[ra] + 1, route_end(row, ra)):
        u = row.tour[p]
        for q in range(row.start[rb] + 1, route_end(row, rb)):
            v = row.tour[q]
            more = row.demand[v] - row.demand[u]
            saved = row.offer[u, SAVED] + row.offer[v, SAVED]
            then = beyond(row, load_a + more) + beyond(row, load_b - more)
            if row.price[PRICE] > 0:
                saved -= np.float32(row.price[PRICE] * (then - now))
            if saved <= row.least or (then and row.price[PRICE] == 0):
                continue
            cost_u, after_u = _cheapest(row, u, v)
            saved -= cost_u
            if saved <= row.least:
                continue
            cost_v, after_v = _cheapest(row, v, u)
            if saved - cost_v > best:
                best, one, other, after_one, after_other = saved - cost_v, u, v, after_u, after_v
    if one < 0:
        return ZERO
    for node, after in ((one, after_one), (other, after_other)):
        place, to = row.pos[node], row.pos[after] + 1
        taken = np.int64(to <= place)
        make(row, min(to, place), 1 - taken, max(to, place), taken, NO, NO)
    return best


@bare(inline="always")
def _customers(row, route):
    return route_end(row, route) - row.start[route] - 1


@bare()
def swapped(row):
    """Make one exchange of a route that has changed; what it gains, 0 if there is none. It takes some of the looks."""
    for route in range(row.depots):
        row.touched[route] = row.touched[route] == CHANGED
    neighbours = row.near.shape[1]
    for ra in range(row.depots):
        if row.touched[ra] != CHANGED:
            continue
        for rb in range(row.depots):
            row.lost[rb] = rb == ra
        first = row.start[ra] + 1
        for p in range(first, route_end(row, ra) if neighbours else first + 1):
            for k in range(neighbours if neighbours else row.depots):
                rb = row.route[row.pos[row.near[row.tour[p], k]]] if neighbours else k
                if row.lost[rb] or row.touched[rb] == TRIED:
                    continue
                row.lost[rb] = 1
                row.state[LEFT] -= 1 + _customers(row, ra) * _customers(row, rb) // EXCHANGES_A_LOOK
                gained = _swap(row, ra, rb)
                if gained > 0:
                    return gained
        row.touched[ra] = TRIED
    return ZERO
