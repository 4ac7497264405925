"""Learnt and random kicks at equal time."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from dact.plotting.panels import dress_lines, label, new_panel
from dact.plotting.styles import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class KickLine(NamedTuple):
    """Gaps of one way to begin kicks, after each time."""

    number: int
    """The same in all panels, for colours and markers."""
    name: str
    seconds: Sequence[float]
    gap: Sequence[float]
    error: Sequence[float]
    """Of the difference to kicks that begin anywhere; drawn as bars."""


def plot_kicks(lines: Sequence[KickLine], title: str, ax: "Axes | None" = None) -> "Axes":
    """A line for each way, over the logarithm of time where there are several times."""
    ax = new_panel() if ax is None else ax
    for line in lines:
        colour, marker = COLOURS[line.number % len(COLOURS)], MARKERS[line.number % len(MARKERS)]
        ax.errorbar(
            line.seconds,
            line.gap,
            line.error if any(line.error) else None,
            label=line.name,
            color=colour,
            marker=marker,
            markersize=4,
            capsize=3,
        )
    times = [seconds for line in lines for seconds in line.seconds]
    if max(times) > 2 * min(times):
        ax.set_xscale("log")
        ax.set_yscale("log")
    else:
        ax.set_xlim(0, 1.3 * max(times))
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(_short)
        axis.set_minor_formatter(_short)
        axis.set_tick_params(which="both", labelsize="x-small")
    dress_lines(ax, "kicks begin")
    return label(ax, title, "seconds", "mean gap, %")


def _short(value: float, place: float) -> str:
    return f"{value:g}" if len(f"{value:g}".strip("0.")) <= 3 else ""
