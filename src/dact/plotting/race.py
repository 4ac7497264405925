"""Solvers side by side: the gap against the time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dact.plotting.panels import NOTHING, label, new_panel, plain_numbers
from dact.plotting.styles import COLOURS, DASHES, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vP*X"


@dataclass(frozen=True, kw_only=True)
class Line:
    """A solver on a machine: its seconds, gaps in percent, and standard errors (0 where there is none)."""

    name: str
    number: int
    """Lines of one number have one colour and marker, the same in every picture."""
    seconds: Sequence[float]
    gaps: Sequence[float]
    errors: Sequence[float]
    dashed: bool = False
    """For scaled times."""


def plot_race(lines: Sequence[Line], title: str, across: str, ax: "Axes | None" = None) -> "Axes":
    """Draw gaps against seconds, both logarithmic. Zero gaps are hollow, at half of the smallest positive gap."""
    ax = new_panel() if ax is None else ax
    positive = [gap for line in lines for gap in line.gaps if gap > NOTHING]
    floor = min(positive, default=2 * NOTHING) / 2
    grounded = False
    for line in lines:
        colour, marker = COLOURS[line.number % len(COLOURS)], MARKERS[line.number % len(MARKERS)]
        heights = [max(gap, floor) for gap in line.gaps]
        ax.errorbar(
            line.seconds,
            heights,
            # A logarithmic axis cannot show values below the floor.
            yerr=[
                [min(error, height - floor) for error, height in zip(line.errors, heights, strict=True)],
                line.errors,
            ],
            color=colour,
            marker=marker,
            markersize=5,
            linewidth=1.4,
            linestyle=DASHES[1] if line.dashed else DASHES[0],
            elinewidth=0.8,
            label=plain(line.name),
        )
        none = [place for place, gap in enumerate(line.gaps) if gap <= NOTHING]
        grounded |= bool(none)
        across_none = [line.seconds[place] for place in none]
        ax.scatter(across_none, [floor] * len(none), s=30, marker=marker, color="white", edgecolors=colour, zorder=3)
    ax.set_xscale("log")
    ax.set_yscale("log", nonpositive="clip")
    for axis in (ax.xaxis, ax.yaxis):
        plain_numbers(axis)
    ax.grid(which="major", color="#e4e4e4", linewidth=0.8)
    ax.set_axisbelow(True)
    # Handles long enough to tell dashes from a line.
    for text in ax.legend(fontsize="x-small", frameon=False, handlelength=3.6).get_texts():
        text.set_parse_math(False)
    return label(
        ax, title, across, "mean gap, %" + (f" (hollow, at the bottom: below {NOTHING:g})" if grounded else "")
    )
