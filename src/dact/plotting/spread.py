"""Spread of the costs of several runs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dact.plotting.panels import label, new_panel
from dact.plotting.styles import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
