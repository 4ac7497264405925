"""Means of several runs with their confidence intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dact.instances.arrays import FloatArray
from dact.plotting.panels import label, new_panel
from dact.plotting.styles import COLOURS, DASHES

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
