"""Gaps of several searches against time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dact.plotting.panels import NOTHING, dress_lines, label, new_panel, plain_numbers
from dact.plotting.styles import COLOURS, DASHES, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A search: its values at some moments, the last one its answer."""

    name: str
    """Curves of one name have one colour."""
    limit: str = ""
    """How the search was limited; curves of one limit have one dash."""
    seconds: Sequence[float]
    values: Sequence[float]


def plot_gaps(
    curves: Sequence[Curve], title: str, up: str, ax: "Axes | None" = None, *, nothing: float = NOTHING
) -> "Axes":
    """A line for each search, both axes logarithmic, with a dot at its end. Values up to `nothing` are drawn at half of
    the smallest other one, with a hollow dot."""
    ax = new_panel() if ax is None else ax
    floor = min((value for curve in curves for value in curve.values if value > nothing), default=2 * NOTHING) / 2
    names, limits = (list(dict.fromkeys(getattr(curve, name) for curve in curves)) for name in ("name", "limit"))
    for curve in curves:
        colour, dash = COLOURS[names.index(curve.name) % len(COLOURS)], DASHES[limits.index(curve.limit) % len(DASHES)]
        heights = [value if value > nothing else floor for value in curve.values]
        end = curve.values[-1] if curve.values[-1] > nothing else 0.0
        text = f"{plain(f'{curve.name}, {curve.limit}' if curve.limit else curve.name)}  {end:.4g}"
        ax.plot(curve.seconds, heights, color=colour, linestyle=dash, linewidth=1.5, label=text)
        ax.scatter(curve.seconds[-1], heights[-1], s=24, color=colour if end else "white", edgecolors=colour, zorder=3)
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        plain_numbers(axis)
    dress_lines(ax)
    grounded = any(value <= nothing for curve in curves for value in curve.values)
    return label(ax, title, "seconds", f"{up} (at the bottom: none)" if grounded else up)
