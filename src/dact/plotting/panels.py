"""Axes, labels and colour maps that panels of matrices and lines share."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from dact.instances.arrays import FloatArray
from dact.plotting.styles import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

LIGHT = "#bbbbbb"
MAP = "cividis"
"""A colour map of evenly rising brightness, readable in grey and by colour-blind readers."""

NOTHING = 1e-4
"""Gaps below this many percent count as zero: they are rounding errors."""
NARROW = 100
"""A logarithmic axis that spans less has labels between the powers of ten."""


def new_figure(width: float, height: float) -> "Figure":
    """A figure outside of pyplot's state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def new_panel() -> "Axes":
    """Axes of a new figure."""
    return new_figure(5, 4).add_subplot()


def draw_matrix(
    ax: "Axes",
    value_MN: FloatArray,
    unit: str,
    *,
    centred: bool = False,
    aspect: Literal["equal", "auto"] = "equal",
    bar: bool = True,
) -> None:
    """Draw a matrix as an image with a colour bar; `centred`: zero has the middle colour."""
    most = float(np.abs(value_MN).max()) if centred else None
    image = ax.imshow(
        value_MN, cmap=MAP, aspect=aspect, interpolation="nearest", vmin=None if most is None else -most, vmax=most
    )
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(6, steps=(1, 2, 5, 10), integer=True))
    ax.yaxis.set_major_locator(MaxNLocator(6, steps=(1, 2, 5, 10), integer=True))
    if bar and ax.figure is not None:
        shades = ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03)
        shades.set_label(unit, fontsize="small", color=INK)
        shades.ax.tick_params(labelsize="x-small")


def dress_lines(ax: "Axes", heading: str | None = None) -> None:
    """A legend, with or without a heading, and a grid behind the lines."""
    legend = ax.legend(title=heading, title_fontsize="small", alignment="left", fontsize="small", frameon=False)
    for text in legend.get_texts():
        text.set_parse_math(False)
    ax.grid(color="#eeeeee", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def plain_numbers(axis: "Axis") -> None:
    """On a logarithmic axis, 0.01, 1, 1,000 instead of powers of ten; twos and fives too where hardly any power is in
    sight."""
    low, high = axis.get_view_interval()

    def major(value: float, place: float) -> str:
        return f"{value:,.0f}" if value >= 1 else f"{value:g}"

    def minor(value: float, place: float) -> str:
        digit = f"{value:e}"[0]
        return major(value, place) if digit in "25" and high / low < NARROW else ""

    axis.set_major_formatter(major)
    axis.set_minor_formatter(minor)
    axis.set_tick_params(which="both", labelsize="x-small")


def label(ax: "Axes", title: str, across: str, up: str) -> "Axes":
    """Set title and labels in the common style."""
    ax.set_title(title, loc="left", fontsize="medium", color=INK)
    ax.set_xlabel(across, fontsize="small", color=INK)
    ax.set_ylabel(up, fontsize="small", color=INK)
    ax.tick_params(labelsize="x-small")
    return ax
