"""Places of a table that are probably something else: missing ones, those whose latitude and longitude are exchanged,
and degrees that are called x and y.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dact.instances.arrays import BoolArray, FloatArray
from dact.instances.errors import caution

FAR, LEAST = 2.0, 1.0
"""How many times the extent of the other places, and how many degrees at least, are far away."""
FEWEST = 3
"""Other places without which nothing is said."""
WIDEST = 30.0
"""Extent above which numbers are no degrees of one tour."""
NEAR = 0.5
"""How many times the extent of the places from 0,0 is near to it, as a plane is that somebody drew."""


def warn_of_degrees(place: object, plane: Sequence[tuple[float, ...]]) -> None:
    """Warn of x and y that look like degrees: with two decimals and more, in their limits, and in a small region that
    is not around 0,0.
    """
    points = np.array(plane, dtype=np.float64)
    far = np.abs(points).max(axis=0)
    extent = _extent(points)
    if len(points) < FEWEST or far.max() > 180 or far.min() > 90 or not 0 < extent < WIDEST:
        return
    outside = np.maximum(points.min(axis=0), -points.max(axis=0)).max() > NEAR * extent
    decimals = (np.round(points, 1) != points).mean() > 0.5
    unit = points.min() >= 0 and points.max() <= 1
    if outside and decimals and not unit:
        caution(place, "x and y are read as a plane, but look like degrees: call the columns lat and lon if they are")


def warn_of_odd_places(place: object, lines: Sequence[int], degrees: Sequence[tuple[float, ...]]) -> None:
    """Warn of rows at 0,0 while all others are far away, and of those that would be among the others if their latitude
    and longitude were exchanged, and are far from them now.
    """
    points = np.array(degrees, dtype=np.float64)
    zero = (points == 0).all(axis=1)
    if _apart(points, zero):
        caution(place, f"{_named(lines, zero)}: lat and lon are 0, far from all others: is the place not known?")
    known, lines = points[~zero], [line for line, none in zip(lines, zero, strict=True) if not none]
    if not len(known):
        return
    centre = np.median(known, axis=0)
    exchanged = np.abs(known[:, ::-1] - centre).max(axis=1) < np.abs(known - centre).max(axis=1)
    turned = np.where(exchanged[:, None], known[:, ::-1], known)
    if _apart(known, exchanged) and np.ptp(turned, axis=0).max() <= max(FAR * _extent(known[~exchanged]), LEAST):
        caution(place, f"{_named(lines, exchanged)}: far from all others, but not with lat and lon exchanged")


def _apart(points: FloatArray, some: BoolArray) -> bool:
    """Are some points, each of them, far from all others, which are more?"""
    others = points[~some]
    if not some.any() or len(others) < max(FEWEST, int(some.sum()) + 1):
        return False
    low, high = others.min(axis=0), others.max(axis=0)
    away = np.maximum(low - points[some], points[some] - high).max(axis=1)
    return bool(away.min() > max(FAR * _extent(others), LEAST))


def _extent(points: FloatArray) -> float:
    return float(np.ptp(points, axis=0).max())


def _named(lines: Sequence[int], some: BoolArray) -> str:
    named = [line for line, told in zip(lines, some, strict=True) if told]
    return f"line {named[0]}" + (f" and {len(named) - 1} more" if len(named) > 1 else "")
