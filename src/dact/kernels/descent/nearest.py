"""The nearest customers of every node in the plane, without looking at all pairs.

Points are divided into leaves of some tens by halving them along their wider side. The nearest ones of all points of a
leaf lie in its box, grown by the largest distance that a point needs within the leaf itself.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

LEAF = 64
"""Points of a leaf, more if more neighbours are asked for."""
PAIRS = 2**21
"""Distances that are held at a time."""
SLACK = 1 + 1e-9
"""Boxes grow by this much more, so that rounding leaves nothing out."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def nearest_in_plane(points_N2: Floats, depots: int, count: int) -> Ints:
    """(N, K): the K nearest customers of each node, of equally near ones the lowest numbers first."""
    customer_C2 = points_N2[depots:]
    near_NK = np.empty((len(points_N2), count), dtype=np.int64)
    for leaf_L in _leaves(customer_C2, max(LEAF, 2 * count)):
        box_A = _around(customer_C2, leaf_L, count)
        for some_L in np.array_split(leaf_L, -(-len(leaf_L) * len(box_A) // PAIRS)):
            near_NK[depots + some_L] = depots + _least(customer_C2, some_L, box_A, count, itself=False)
    if depots:
        # Copies of the depot are in one place.
        every_C = np.arange(len(customer_C2))
        near_NK[:depots] = depots + _least(np.vstack((customer_C2, points_N2[:1])), every_C[-1:] + 1, every_C, count)
    return near_NK


def _leaves(points_C2: Floats, most: int) -> Iterator[Ints]:
    waiting = [np.arange(len(points_C2))]
    while waiting:
        some_L = waiting.pop()
        if len(some_L) <= most:
            yield some_L
            continue
        axis = np.ptp(points_C2[some_L], axis=0).argmax()
        half = len(some_L) // 2
        order_L = np.argpartition(points_C2[some_L, axis], half)
        waiting += [some_L[order_L[:half]], some_L[order_L[half:]]]


def _around(points_C2: Floats, leaf_L: Ints, count: int) -> Ints:
    """Points that may be among the nearest of those in the leaf, in the order of their numbers."""
    leaf_L2 = points_C2[leaf_L]
    # A point is nearest to itself, so that its K others are K + 1 with it.
    reach = np.partition(_apart(leaf_L2, leaf_L2), count, axis=1)[:, count].max() * SLACK
    low_2, high_2 = leaf_L2.min(axis=0) - reach, leaf_L2.max(axis=0) + reach
    return np.flatnonzero(((points_C2 >= low_2) & (points_C2 <= high_2)).all(axis=1))


def _least(points_C2: Floats, from_L: Ints, among_A: Ints, count: int, *, itself: bool = True) -> Ints:
    """(L, K): the nearest ones, nearest first, of equal ones the lowest number."""
    apart_LA = _apart(points_C2[from_L], points_C2[among_A])
    if not itself:
        apart_LA[from_L[:, None] == among_A] = np.inf
    last_L1 = np.partition(apart_LA, count - 1, axis=1)[:, count - 1 : count]
    nearer_LA, equal_LA = apart_LA < last_L1, apart_LA == last_L1
    room_L1 = count - nearer_LA.sum(axis=1, keepdims=True)
    chosen_LA = nearer_LA | (equal_LA & (equal_LA.cumsum(axis=1) <= room_L1))
    place_LK = chosen_LA.nonzero()[1].reshape(len(from_L), count)
    order_LK = np.take_along_axis(apart_LA, place_LK, 1).argsort(axis=1, kind="stable")
    return np.asarray(among_A[np.take_along_axis(place_LK, order_LK, 1)])


def _apart(from_L2: Floats, to_A2: Floats) -> Floats:
    x_LA, y_LA = (from_L2[:, None, axis] - to_A2[None, :, axis] for axis in (0, 1))
    return np.asarray(np.sqrt(np.square(x_LA) + np.square(y_LA)))
