"""The list of routes beside a map: number, load and length."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dact.instances.measures import route_length, route_load, vehicle_load
from dact.plotting.solution import Solution, whole_costs
from dact.plotting.styles import INK, PAPER, Style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FONT = 6.5
"""In points, like all lengths here."""
LINE = 1.55
"""From one line to the next, in font sizes."""
CHARACTER = 0.602
"""Width of a character of DejaVu Sans Mono, in font sizes."""
HANDLE = 38.0
"""Width of the legend without its text."""


def legend_texts(result: Solution) -> list[str]:
    """A heading and a line for each route, in columns."""
    instance, routes = result.instance, result.routes
    room = vehicle_load(instance)
    columns = [["route", *(str(number + 1) for number in range(len(routes)))]]
    if instance.facts.capacity:
        columns.append(["load", *(f"{route_load(instance, route):g}/{room:g}" for route in routes)])
    columns.append(["km" if instance.kilometres else "length", *_lengths(result)])
    widths = [max(map(len, column)) for column in columns]
    lines = zip(*columns, strict=True)
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]


def _lengths(result: Solution) -> list[str]:
    """Lengths of the routes, with as many decimals as give the longest one four digits."""
    lengths = [route_length(result.instance, route) for route in result.routes]
    most = max(lengths, default=0.0)
    decimals = 0 if whole_costs(result.instance) or most <= 0 else int(np.clip(3 - np.floor(np.log10(most)), 0, 6))
    return [f"{length:,.{decimals}f}" for length in lengths]


def legend_size(result: Solution) -> tuple[float, float]:
    """Width and height of the legend in points; zeros for a single tour."""
    if not result.instance.facts.depot:
        return 0.0, 0.0
    texts = legend_texts(result)
    return HANDLE + CHARACTER * FONT * len(texts[0]), LINE * FONT * (len(texts) + 1)


def draw_legend(ax: "Axes", result: Solution, styles: Mapping[int, Style]) -> None:
    """Write the legend to the right of the map if it fits; `styles` are by the routes' places."""
    from matplotlib.lines import Line2D

    figure = ax.figure.canvas.figure
    # The layout will make the axes higher than they are now.
    if legend_size(result)[1] > 1.3 * ax.get_window_extent().height * 72 / figure.dpi:
        return
    head, *texts = legend_texts(result)
    handles = [
        Line2D(
            [],
            [],
            color=styles[place].colour,
            linestyle=styles[place].dash,
            linewidth=1.3,
            marker=styles[place].marker,
            markersize=3.5,
            markerfacecolor=PAPER if styles[place].hollow else styles[place].colour,
        )
        for place in range(len(texts))
    ]
    legend = ax.legend(
        handles,
        texts,
        title=head,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        borderaxespad=0.0,
        alignment="right",
        frameon=False,
        handlelength=3.4,
        handletextpad=0.6,
        labelspacing=LINE - 1.25,
        prop={"family": "monospace", "size": FONT},
        title_fontproperties={"family": "monospace", "size": FONT},
        labelcolor=INK,
    )
    legend.get_title().set_color(INK)
