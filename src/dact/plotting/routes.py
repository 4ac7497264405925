"""A solution on the map."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dact.instances import Instance
from dact.instances.arrays import FloatArray
from dact.plotting.solution import Solution, cost_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#5b2a86", "#7f7f2a")
"""Okabe and Ito's, told apart by colour-blind eyes; their yellow and black make room for violet and olive."""
DASHES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)))
"""Solid first; the next when the colours are used up."""
INK = "#222222"
MOST_NAMES = 60
"""Nodes whose names are written beside them; of more they would hide the routes."""


def plot(result: Solution, ax: "Axes | None" = None) -> "Axes":
    """Draw the routes, each in a colour of its own, the nodes, and the depot as a square.

    Depot legs are thin, so that a busy depot stays readable. Instances without coordinates are drawn in the
    plane that reflects their distances best.
    """
    ax = new_axes() if ax is None else ax
    points = map_points(result.instance)
    width = float(np.clip(14 / np.sqrt(len(points)), 0.5, 1.8))
    area = float(np.clip(1500 / len(points), 2, 26))
    facts = result.instance.facts
    if facts.depot:
        _draw_routes(ax, points, by_angle(points, result.routes), width, area, returns=facts.returns)
    else:
        _draw_tour(ax, points[list(result.routes[0])], width, area)
    if result.instance.names and len(points) <= MOST_NAMES:
        _draw_names(ax, result.instance, points)
    _dress(ax, result)
    return ax


def map_points(instance: Instance) -> FloatArray:
    """Positions as (x, y)."""
    return instance.points()


def by_angle(points: FloatArray, routes: Sequence[Sequence[int]]) -> list[list[int]]:
    """Routes in the order of their direction from the depot, so that neighbours get different colours."""

    def direction(route: Sequence[int]) -> float:
        x, y = points[list(route)].mean(axis=0) - points[0]
        return float(np.arctan2(y, x))

    return [list(route) for route in sorted(routes, key=direction)]


def new_axes() -> "Axes":
    """Axes of a new pyplot figure."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(7, 7), layout="constrained")[1]


def _draw_tour(ax: "Axes", stops: FloatArray, width: float, area: float) -> None:
    loop = np.concatenate((stops, stops[:1]))
    ax.plot(*loop.T, color=COLOURS[0], linewidth=width, solid_joinstyle="round", zorder=2)
    ax.scatter(stops[:, 0], stops[:, 1], s=area, color=INK, linewidths=0, zorder=3)


def _draw_routes(
    ax: "Axes", points: FloatArray, routes: list[list[int]], width: float, area: float, *, returns: bool
) -> None:
    depot = points[0]
    faint = float(np.clip(5 / len(routes), 0.15, 0.45))
    for number, route in enumerate(routes):
        colour = COLOURS[number % len(COLOURS)]
        dash = DASHES[number // len(COLOURS) % len(DASHES)]
        stops = points[route]
        for end in (stops[0], stops[-1]) if returns else stops[:1]:
            ax.plot(*np.stack((depot, end)).T, color=colour, linewidth=0.6 * width, alpha=faint, zorder=1)
        ax.plot(*stops.T, color=colour, linewidth=width, linestyle=dash, solid_joinstyle="round", zorder=2)
        ax.scatter(stops[:, 0], stops[:, 1], s=area, color=colour, linewidths=0, zorder=3)
    ax.scatter(
        depot[0], depot[1], s=max(60, 3 * area), marker="s", color=INK, edgecolor="white", linewidth=1.2, zorder=4
    )


def _draw_names(ax: "Axes", instance: Instance, points: FloatArray) -> None:
    for index, (x, y) in enumerate(points):
        ax.annotate(
            plain(instance.title(index)),
            (x, y),
            xytext=(3, 3),
            textcoords="offset points",
            fontsize="xx-small",
            color=INK,
            parse_math=False,
            zorder=5,
        )


def _dress(ax: "Axes", result: Solution) -> None:
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.04)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_color("#cccccc")
    ax.set_title(plain(result.instance.name), loc="left", fontweight="bold", color=INK, parse_math=False)
    ax.set_title("  ·  ".join(_facts(result)), loc="right", fontsize="medium", color=INK)


def plain(name: str) -> str:
    """A name that can be drawn: on one line, not too long, and without what is in no encoding."""
    text = " ".join(name.encode(errors="replace").decode().split())
    return text if len(text) <= 40 else f"{text[:39]}…"


def _facts(result: Solution) -> list[str]:
    facts = [f"cost {cost_text(result.instance, result.cost)}"]
    if result.gap is not None:
        facts.append(f"gap {result.gap:.2f} %")
    if result.instance.facts.depot:
        facts.append(f"{len(result.routes)} route{'s' if len(result.routes) != 1 else ''}")
    return facts
