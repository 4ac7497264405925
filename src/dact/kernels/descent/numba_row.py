"""A row of the search on a CPU: its tour, distances and random numbers. See `Row` in `row.cuh`.

Numbers of a row that change (how many positions there are, where the first empty route is, how many looks are left) are
in `state`, the others are arrays or constants. Integers in the search are exact; lengths are float32, their sums
float64 where it matters.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import njit

LENGTH, EMPTY, LEFT = 0, 1, 2
"""Places in `state`."""
PRICE = 0
"""The place in `price` of the price of overload."""
ONE = np.uint32(1)
NO, START = np.bool_(False), np.int64(0)
"""As arguments of these types, not literals: Numba would compile a function again for each combination of literals."""
GROWTH = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

bare = partial(njit, _nrt=False, error_model="numpy", forceinline=True)
"""njit without reference counting, which would take ten times as long: nothing is allocated in these functions. They
are inlined, since a call would hand over a hundred numbers of a Row, and rounds take two to four times as long."""


class Row(NamedTuple):
    """What the routines know of a row; see `Row` in row.cuh."""

    nodes: int
    depots: int
    capacity: Any
    least: Any
    reach: Any
    asymmetric: bool
    matrix: bool
    xy: Any
    dist: Any
    demand: Any
    near: Any
    codes: Any
    behind: int
    before: int
    tour: Any
    pos: Any
    spare: Any
    route: Any
    start: Any
    cum: Any
    turn: Any
    dirty: Any
    state: Any
    lost: Any
    """The routes that have lost a string."""
    stream: Any
    centre: Any
    """Customers that kicks begin at; none: any."""
    price: Any
    """See `Rows.price_R3`."""
    touched: Any
    """Is 1 for routes that have changed since exchanges between routes were tried."""
    leg: Any
    offer: Any
    after: Any
    """Working memory of such exchanges, see numba_swaps.py."""
    ends: Any
    saved: Any
    """Of each stretch that begins or ends with a node, see numba_looks.py."""


@bare(inline="always")
def mixed(x):
    """A hashed number, as in dact.kernels.row_draws."""
    x = (x ^ (x >> np.uint64(30))) * FACTORS[0]
    x = (x ^ (x >> np.uint64(27))) * FACTORS[1]
    return x ^ (x >> np.uint64(31))


@bare(inline="always")
def draw(row, below):
    """An integer from 0 to below - 1."""
    row.stream[0] += GROWTH
    return np.int64(((mixed(row.stream[0]) >> np.uint64(33)) * np.uint64(below)) >> np.uint64(31))


@bare(inline="always")
def copy(source, target, count):
    """The first numbers of one array into another; a slice would be allocated."""
    for k in range(count):
        target[k] = source[k]


@bare(inline="always")
def distance(row, here, there):
    """From one node to another."""
    if row.matrix:
        return row.dist[here, there]
    x = row.xy[here, 0] - row.xy[there, 0]
    y = row.xy[here, 1] - row.xy[there, 1]
    return np.sqrt(x * x + y * y)


@bare(inline="always")
def wrapped(row, place):
    """A place modulo the tour's length."""
    length = row.state[LENGTH]
    if place >= length:
        return place - length
    return place + length if place < 0 else place


@bare(inline="always")
def node_at(row, place):
    """The node at a place modulo the tour's length."""
    return row.tour[wrapped(row, place)]


@bare(inline="always")
def route_end(row, route):
    """The place after a route."""
    return row.start[route + 1] if route + 1 < row.depots else row.state[LENGTH]


@bare(inline="always")
def mark(row, node):
    """Mark a customer for another look."""
    if node >= row.depots:
        row.dirty[node >> 5] |= ONE << np.uint32(node & 31)
