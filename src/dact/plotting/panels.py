"""What panels of matrices and lines share: axes, labels, and colours that read in grey."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from dact.instances.arrays import FloatArray
from dact.plotting.styles import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LIGHT = "#bbbbbb"
MAP = "cividis"
"""Brightness rises evenly along it, for eyes that see all colours, some, or none."""


def new_figure(width: float, height: float) -> "Figure":
    """A figure that pyplot does not know."""
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
    """Values as shades with a bar that tells them; `centred`: zero is the middle shade."""
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


def label(ax: "Axes", title: str, across: str, up: str) -> "Axes":
    """Title and labels, as all panels have them."""
    ax.set_title(title, loc="left", fontsize="medium", color=INK)
    ax.set_xlabel(across, fontsize="small", color=INK)
    ax.set_ylabel(up, fontsize="small", color=INK)
    ax.tick_params(labelsize="x-small")
    return ax
