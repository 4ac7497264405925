"""What an operator does to a small tour."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dact.instances.arrays import FloatArray
from dact.plotting.panels import LIGHT, new_panel
from dact.plotting.styles import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_operator(
    points: FloatArray,
    before: Sequence[int],
    after: Sequence[int],
    chosen: Sequence[int],
    title: str,
    ax: "Axes | None" = None,
) -> "Axes":
    """The tour after a move: new legs thick, legs that are gone dotted, the chosen nodes filled.

    Nodes are named by their place in the tour before the move.
    """
    ax = new_panel() if ax is None else ax
    old, new = _legs(before), _legs(after)
    styles: tuple[tuple[set[tuple[int, int]], dict[str, Any]], ...] = (
        (old & new, {"color": INK, "linewidth": 1.2}),
        (old - new, {"color": LIGHT, "linewidth": 1.4, "linestyle": (0, (1.5, 1.5))}),
        (new - old, {"color": COLOURS[3], "linewidth": 2.6}),
    )
    for legs, style in styles:
        for leg in sorted(legs):
            ax.plot(*points[list(leg)].T, zorder=1, **style)
    filled = [node in chosen for node in range(len(points))]
    faces = ["#ffd9b3" if each else "white" for each in filled]
    ax.scatter(
        points[:, 0],
        points[:, 1],
        s=210,
        c=faces,
        edgecolors=INK,
        linewidths=[2.0 if each else 1.0 for each in filled],
        zorder=2,
    )
    for place, node in enumerate(before):
        ax.annotate(str(place), points[node], ha="center", va="center", fontsize="small", color=INK, zorder=3)
    ax.set_aspect("equal")
    ax.margins(0.12)
    ax.set_axis_off()
    ax.set_title(title, fontsize="medium", color=INK)
    return ax


def _legs(tour: Sequence[int]) -> set[tuple[int, int]]:
    """Unordered pairs of neighbours."""
    around = zip(tour, np.roll(tour, -1).tolist(), strict=True)
    return {(min(pair), max(pair)) for pair in around}
