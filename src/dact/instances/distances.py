"""TSPLIB's distance rules and great circles on whole arrays; `checker.py` repeats them edge by edge, on purpose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dact.instances.arrays import FloatArray
from dact.instances.errors import InputError, shown

Metric = Callable[[FloatArray, FloatArray], FloatArray]

RULES: dict[str, tuple[str, str]] = {
    "euclidean": ("euclidean", "none"),
    "euc_2d": ("euclidean", "nearest"),
    "ceil_2d": ("euclidean", "ceil"),
    "man_2d_none": ("manhattan", "none"),
    "man_2d": ("manhattan", "nearest"),
    "man_2d_ceil": ("manhattan", "ceil"),
    "max_2d_none": ("maximum", "none"),
    "max_2d": ("maximum", "nearest"),
    "max_2d_ceil": ("maximum", "ceil"),
    "att": ("att", "own"),
    "geo": ("geo", "own"),
    "great_circle": ("great_circle", "none"),
    "great_circle_nearest": ("great_circle", "nearest"),
    "great_circle_ceil": ("great_circle", "ceil"),
    "explicit": ("explicit", "own"),
}
"""Rule -> (metric, rounding); "own" rounds inside the metric and cannot be replaced."""

GEO_PI = 3.141592
GEO_RADIUS = 6378.388
EARTH_RADIUS = 6371.0088
"""The mean one, in kilometres."""
BLOCK = 2**21
"""Distances that are computed at a time."""


def rounded_rule(rule: str, rounding: str) -> str:
    """Return the rule with the same metric and another rounding: nearest, ceil or none."""
    if rounding not in ("nearest", "ceil", "none"):
        raise InputError(f"rounding is {shown(rounding)}, not one of nearest, ceil, none")
    metric, own = RULES[rule]
    if own == "own":
        raise InputError(f"the distance rule {rule} has its own rounding, which {rounding!r} cannot replace")
    return next(name for name, parts in RULES.items() if parts == (metric, rounding))


def lengths(rule: str, start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the distances from points to points by a coordinate rule; shapes (..., 2) are broadcast."""
    metric, rounding = RULES[rule]
    return ROUNDINGS[rounding](METRICS[metric](start, end))


def pairwise(rule: str, coordinates: FloatArray) -> FloatArray:
    """Return the (N, N) distances of a coordinate rule."""
    nodes = len(coordinates)
    length = np.empty((nodes, nodes))
    # Some rows at a time: intermediate results of all of them take several times the memory.
    for rows in row_blocks(nodes):
        length[rows] = lengths(rule, coordinates[rows, None], coordinates[None])
    # GEO gives 1 to a node and itself; the diagonal is never travelled.
    np.fill_diagonal(length, 0.0)
    return length


def row_blocks(nodes: int) -> list[slice]:
    """Return the rows of an (N, N) array in blocks of at most BLOCK numbers."""
    rows = max(1, BLOCK // max(nodes, 1))
    return [slice(first, first + rows) for first in range(0, nodes, rows)]


def nearest(length: FloatArray) -> FloatArray:
    """TSPLIB's nint: halves go up (numpy's rint sends them to even)."""
    return np.floor(length + 0.5)


def _gaps(start: FloatArray, end: FloatArray) -> tuple[FloatArray, FloatArray]:
    return np.abs(start[..., 0] - end[..., 0]), np.abs(start[..., 1] - end[..., 1])


def _euclidean(start: FloatArray, end: FloatArray) -> FloatArray:
    x, y = _gaps(start, end)
    return np.asarray(np.sqrt(x**2 + y**2))


def _manhattan(start: FloatArray, end: FloatArray) -> FloatArray:
    x, y = _gaps(start, end)
    return x + y


def _maximum(start: FloatArray, end: FloatArray) -> FloatArray:
    return np.maximum(*_gaps(start, end))


def _att(start: FloatArray, end: FloatArray) -> FloatArray:
    """Pseudo-Euclidean: the nearest integer, or the next one where that fell short."""
    x, y = _gaps(start, end)
    exact = np.sqrt((x**2 + y**2) / 10.0)
    whole = nearest(exact)
    return np.where(whole < exact, whole + 1.0, whole)


def _radians(degrees: FloatArray) -> FloatArray:
    """DDD.MM to radians: degrees truncated toward zero, the rest are minutes."""
    whole = np.trunc(degrees)
    return np.asarray(GEO_PI * (whole + 5.0 * (degrees - whole) / 3.0) / 180.0)


def _geo(start: FloatArray, end: FloatArray) -> FloatArray:
    here, there = _radians(start), _radians(end)
    q1 = np.cos(here[..., 1] - there[..., 1])
    q2 = np.cos(here[..., 0] - there[..., 0])
    q3 = np.cos(here[..., 0] + there[..., 0])
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    # Rounding error may leave the domain of arccos by an ulp.
    return np.asarray(np.floor(GEO_RADIUS * np.arccos(np.clip(cosine, -1.0, 1.0)) + 1.0))


def _great_circle(start: FloatArray, end: FloatArray) -> FloatArray:
    """Kilometres between points in decimal degrees of latitude and longitude, by the haversine formula."""
    here, there = np.radians(start), np.radians(end)
    latitude, longitude = _gaps(here, there)
    across = np.cos(here[..., 0]) * np.cos(there[..., 0]) * np.sin(longitude / 2) ** 2
    chord = np.sin(latitude / 2) ** 2 + across
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.clip(chord, 0.0, 1.0))))


METRICS: dict[str, Metric] = {
    "euclidean": _euclidean,
    "manhattan": _manhattan,
    "maximum": _maximum,
    "att": _att,
    "geo": _geo,
    "great_circle": _great_circle,
}
ROUNDINGS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "nearest": nearest,
    "ceil": np.ceil,
    "none": np.asarray,
    "own": np.asarray,
}
