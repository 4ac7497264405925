"""Solvers side by side: the gap against the time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dact.plotting.panels import label, new_panel
from dact.plotting.styles import COLOURS, DASHES, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

MARKERS = "osD^vP*X"
NOTHING = 1e-4
"""Gaps below this many percent count as zero: they are rounding errors."""
NARROW = 100
"""An axis that spans less has labels between the powers of ten."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """A solver on a machine: its seconds, gaps in percent, and standard errors (0 where there is none)."""

    name: str
    family: str
    """Lines of one family have one colour."""
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
    families = list(dict.fromkeys(line.family for line in lines))
    for line in lines:
        number = families.index(line.family)
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
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
        _plain_numbers(axis)
    ax.grid(which="major", color="#e4e4e4", linewidth=0.8)
    ax.set_axisbelow(True)
    # Handles long enough to tell dashes from a line.
    for text in ax.legend(fontsize="x-small", frameon=False, handlelength=3.6).get_texts():
        text.set_parse_math(False)
    return label(
        ax, title, across, "mean gap, %" + (f" (hollow, at the bottom: below {NOTHING:g})" if grounded else "")
    )


def _plain_numbers(axis: "Axis") -> None:
    """0.01, 1, 1,000 instead of powers of ten; twos and fives too where hardly any power is in sight."""
    low, high = axis.get_view_interval()

    def major(value: float, place: float) -> str:
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"

    def minor(value: float, place: float) -> str:
        digit = f"{value:e}"[0]
        return major(value, place) if digit in "25" and high / low < NARROW else ""

    axis.set_major_formatter(major)
    axis.set_minor_formatter(minor)
    axis.set_tick_params(which="both", labelsize="x-small")
