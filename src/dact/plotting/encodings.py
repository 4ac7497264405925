"""Encodings of positions: vectors, dot products, principal components, and the Gray code they are modelled on."""

from typing import TYPE_CHECKING

import numpy as np

from dact.instances.arrays import FloatArray, IntArray
from dact.plotting.panels import LIGHT, draw_matrix, label, new_panel
from dact.plotting.styles import COLOURS, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_vectors(table_ND: FloatArray, title: str, ax: "Axes | None" = None) -> "Axes":
    """The encoding itself: a row per position, a column per dimension."""
    ax = new_panel() if ax is None else ax
    draw_matrix(ax, table_ND, "value", centred=True, aspect="auto")
    return label(ax, title, "dimension", "position")


def plot_dot_products(table_ND: FloatArray, title: str, ax: "Axes | None" = None) -> "Axes":
    """How alike the vectors of two positions are."""
    ax = new_panel() if ax is None else ax
    draw_matrix(ax, table_ND @ table_ND.T, "dot product")
    return label(ax, title, "position", "position")


def plot_components(table_ND: FloatArray, title: str, ax: "Axes | None" = None) -> "Axes":
    """The positions in the plane of the first two principal components, joined in order; dashed from last to first."""
    ax = new_panel() if ax is None else ax
    point_N2, share = principal_components(table_ND)
    ax.plot(*point_N2.T, color=LIGHT, linewidth=1.2, zorder=1)
    ax.plot(*point_N2[[-1, 0]].T, color=INK, linewidth=1.2, linestyle=(0, (3, 2)), zorder=1)
    ax.scatter(point_N2[:, 0], point_N2[:, 1], s=110, color="white", edgecolor=COLOURS[0], zorder=2)
    for position, (x, y) in enumerate(point_N2):
        ax.annotate(str(position), (x, y), ha="center", va="center", fontsize=6.5, color=INK, zorder=3)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.1)
    names = [f"component {number} ({100 * each:.0f} % of the variance)" for number, each in enumerate(share, start=1)]
    return label(ax, title, *names)


def principal_components(table_ND: FloatArray) -> tuple[FloatArray, tuple[float, float]]:
    """(N, 2) projections, and the shares of the variance that the two components carry."""
    centred_ND = table_ND - table_ND.mean(axis=0)
    left_NR, size_R, _ = np.linalg.svd(centred_ND, full_matrices=False)
    variance_R = size_R**2 / (size_R**2).sum()
    return left_NR[:, :2] * size_R[:2], (float(variance_R[0]), float(variance_R[1]))


def plot_gray_code(digit_GN: IntArray, ax: "Axes | None" = None) -> "Axes":
    """A code: a column per number, a row per digit, the lowest on top; dark is 1."""
    ax = new_panel() if ax is None else ax
    digits, count = digit_GN.shape
    ax.imshow(digit_GN, cmap="Greys", vmin=0, vmax=1.6, aspect="auto")
    for (row, column), digit in np.ndenumerate(digit_GN):
        ax.annotate(str(digit), (column, row), ha="center", va="center", color="white" if digit else INK)
    ax.set_xticks(range(count))
    ax.set_yticks(range(digits), [f"digit {row + 1}" for row in range(digits)])
    return label(ax, f"cyclic Gray code of {digits} digits", "number", "")


def plot_pattern(
    place_P: FloatArray, value_P: FloatArray, mirror: float, title: str, ax: "Axes | None" = None
) -> "Axes":
    """One period of a pattern that is the same read from either end; the mirror is dashed."""
    ax = new_panel() if ax is None else ax
    ax.plot(place_P, value_P, color=COLOURS[0], linewidth=1.8)
    ax.axvline(mirror, color=INK, linewidth=1, linestyle=(0, (3, 2)))
    ax.axhline(0, color=LIGHT, linewidth=0.8, zorder=0)
    ax.margins(x=0.01)
    return label(ax, title, "z, in wavelengths", "value")
