"""Several runs: means with their confidence intervals, and the spread of their costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dact.instances.arrays import FloatArray
from dact.plotting.panels import label, new_panel
from dact.plotting.styles import COLOURS, DASHES, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class Band:
    """A curve and half the width of the shaded band around it."""

    name: str
    at_T: FloatArray
    mean_T: FloatArray
    half_T: FloatArray


def plot_bands(bands: Sequence[Band], across: str, up: str, ax: "Axes | None" = None) -> "Axes":
    """Draw a line and a shaded band for each."""
    ax = new_panel() if ax is None else ax
    for band, colour, dash in zip(bands, COLOURS, DASHES, strict=False):
        ax.fill_between(
            band.at_T, band.mean_T - band.half_T, band.mean_T + band.half_T, color=colour, alpha=0.2, linewidth=0
        )
        ax.plot(band.at_T, band.mean_T, color=colour, linestyle=dash, linewidth=1.6, label=band.name)
    ax.legend(fontsize="small", frameon=False)
    ax.grid(axis="y", color="#eeeeee", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return label(ax, "", across, up)


def plot_runs(costs: Mapping[str, Sequence[float]], title: str, ax: "Axes | None" = None) -> "Axes":
    """A box for each group of runs (quartiles, extremes, the mean as a diamond), and every run as a dot."""
    ax = new_panel() if ax is None else ax
    ax.boxplot(
        list(costs.values()),
        tick_labels=list(costs),
        whis=(0, 100),
        showmeans=True,
        widths=0.5,
        medianprops={"color": COLOURS[0], "linewidth": 2},
        meanprops={"marker": "D", "markerfacecolor": "white", "markeredgecolor": INK, "markersize": 5},
    )
    for place, group in enumerate(costs.values(), start=1):
        ax.scatter([place + 0.36] * len(group), group, s=9, color=INK, alpha=0.6, linewidths=0)
    ax.grid(axis="y", color="#eeeeee", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.ticklabel_format(axis="y", useOffset=False)
    return label(ax, title, "", "mean cost of a run")
