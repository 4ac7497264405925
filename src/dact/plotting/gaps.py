"""Gaps of several searches against time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dact.plotting.panels import dress_lines, label, new_panel
from dact.plotting.styles import COLOURS, DASHES, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

Curve = tuple[Sequence[float], Sequence[float]]
"""Seconds, and the values at these moments."""


def plot_gaps(curves: Mapping[str, Curve], title: str, up: str, ax: "Axes | None" = None) -> "Axes":
    """A line for each search, over the logarithm of time; the values on a logarithmic scale where none is zero."""
    ax = new_panel() if ax is None else ax
    for number, (name, (seconds, values)) in enumerate(curves.items()):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number // len(COLOURS) % len(DASHES)]
        ax.plot(seconds, values, color=colour, linestyle=dash, linewidth=1.5, label=f"{plain(name)}  {values[-1]:.4g}")
    axes: list[Axis] = [ax.xaxis]
    ax.set_xscale("log")
    if all(value > 0 for _, values in curves.values() for value in values):
        ax.set_yscale("log")
        axes.append(ax.yaxis)
    for axis in axes:
        axis.set_major_formatter(_short)
        axis.set_minor_formatter(_short)
        axis.set_tick_params(which="both", labelsize="x-small")
    dress_lines(ax)
    return label(ax, title, "seconds", up)


def _short(value: float, place: float) -> str:
    """0.5 instead of a power of ten; the digits 1, 2 and 5 are enough."""
    text = f"{value:g}"
    return text if text.strip("0.") in ("1", "2", "5") else ""
