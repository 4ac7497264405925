"""Colours, dashes and markers that all pictures share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dact.instances.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#5b2a86", "#7f7f2a")
"""The palette of Okabe and Ito for colour-blind readers, with violet and olive instead of yellow and black."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))
"""Solid first; each further pass through the colours has the next."""
MARKERS = ("o", "s", "^", "D", "v", "P")
"""Markers of nodes; each further pass through the colours has the next."""
INK = "#222222"
PAPER = "#ffffff"


@dataclass(frozen=True)
class Style:
    """How a route is drawn. No two of 96 look alike."""

    colour: str
    dash: Any
    marker: str
    hollow: bool


def style_of(number: int) -> Style:
    """The style of a route, counted from 0; each pass through the colours has another dash and marker."""
    lap, place = divmod(number, len(COLOURS))
    return Style(
        COLOURS[place],
        DASHES[lap % len(DASHES)],
        MARKERS[lap % len(MARKERS)],
        hollow=lap // len(MARKERS) % 2 == 1,
    )


def by_angle(points: FloatArray, routes: Sequence[Sequence[int]]) -> list[list[int]]:
    """Routes in the order of their direction from the depot, so that neighbours get different colours."""
    return [list(routes[place]) for place in angle_order(points, routes)]


def angle_order(points: FloatArray, routes: Sequence[Sequence[int]]) -> list[int]:
    """Places of the routes in the order of their direction from the depot."""

    def direction(place: int) -> float:
        x, y = points[list(routes[place])].mean(axis=0) - points[0]
        return float(np.arctan2(y, x))

    return sorted(range(len(routes)), key=direction)


def plain(name: str) -> str:
    """The name on one line, shortened, and without characters that cannot be encoded."""
    text = " ".join(name.encode(errors="replace").decode().split())
    return text if len(text) <= 40 else f"{text[:39]}…"


def new_axes() -> "Axes":
    """Axes of a new pyplot figure."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(7, 7), layout="constrained")[1]
