"""Matrices over the positions of a tour."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dact.instances.arrays import FloatArray
from dact.plotting.panels import draw_matrix, label, new_figure, new_panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


SHOWN = 0.998
"""Quantile of the weights at which the colours end; larger weights have the last colour."""


def plot_attention(weight_NN: FloatArray, title: str, ax: "Axes | None" = None) -> "Axes":
    """How much each position attends to each other, as a multiple of even attention; the highest 0.2 % are cut."""
    ax = new_panel() if ax is None else ax
    # A few very large weights would make all others indistinguishable.
    most = np.quantile(weight_NN, SHOWN)
    draw_matrix(ax, np.minimum(weight_NN, most) * weight_NN.shape[1], "weight x N")
    return label(ax, title, "attended position", "position")


def plot_correlation(score_NN: FloatArray, title: str, ax: "Axes | None" = None) -> "Axes":
    """Products of queries and keys before the softmax."""
    ax = new_panel() if ax is None else ax
    draw_matrix(ax, score_NN, "score")
    return label(ax, title, "position of the key", "position of the query")


def attention_figure(rows: Sequence[tuple[str, FloatArray]]) -> "Figure":
    """A row of panels for each (title, weight_HNN), a panel for each head."""
    heads = len(rows[0][1])
    figure = new_figure(3.1 * heads, 2.9 * len(rows))
    for axes, (title, weight_HNN) in zip(figure.subplots(len(rows), heads, squeeze=False), rows, strict=True):
        for head, (ax, weight_NN) in enumerate(zip(axes, weight_HNN, strict=True), start=1):
            plot_attention(weight_NN, f"{title}, head {head}", ax)
    return figure
