"""A solution on the map."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dact.instances import Instance
from dact.instances.arrays import BoolArray, FloatArray
from dact.plotting.labels import Room, label_nodes, label_routes
from dact.plotting.legend import draw_legend
from dact.plotting.solution import Solution, cost_with_unit
from dact.plotting.styles import COLOURS, INK, PAPER, Style, angle_order, new_axes, plain, style_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DEPOT = 60.0
"""Least area of the depot, in square points."""
NO_MAP = "not a map: the places are laid out by their distances"
"""Under pictures of instances that have distances but no coordinates."""
BEHIND = 0.01
"""Share of the map's width that the depot's square covers on each side."""


def plot(result: Solution, ax: "Axes | None" = None) -> "Axes":
    """Draw the routes, each in a style of its own, the nodes, and the depot as a square.

    Numbers or names and a legend with loads and lengths are written where they fit. Depot legs are thin, so that a
    busy depot stays readable. Instances without coordinates are drawn in the plane that reflects their distances best.
    """
    ax = new_axes() if ax is None else ax
    instance, points = result.instance, map_points(result.instance)
    width = float(np.clip(14 / np.sqrt(len(points)), 0.5, 1.8))
    area = float(np.clip(2400 / len(points), 3, 26))
    _dress(ax, result)
    if instance.facts.depot:
        styles = {place: style_of(rank) for rank, place in enumerate(angle_order(points, result.routes))}
        _draw_routes(ax, instance, points, result.routes, styles, width, area)
        _draw_depot(ax, points, result.routes, styles, area)
        draw_legend(ax, result, styles)
    else:
        styles = {}
        _draw_tour(ax, points[list(result.routes[0])], width, area)
    room = Room.around(ax, points, _radii(instance, points, area))
    if len(styles) > len(COLOURS):
        label_routes(ax, points, result.routes, styles, room)
    label_nodes(ax, instance, points, result.routes, room)
    return ax


def map_points(instance: Instance) -> FloatArray:
    """Positions as (x, y)."""
    return instance.points()


def _draw_tour(ax: "Axes", stops: FloatArray, width: float, area: float) -> None:
    loop = np.concatenate((stops, stops[:1]))
    ax.plot(*loop.T, color=COLOURS[0], linewidth=width, solid_joinstyle="round", zorder=2)
    ax.scatter(stops[:, 0], stops[:, 1], s=area, color=INK, linewidths=0, zorder=3)


def _draw_routes(
    ax: "Axes",
    instance: Instance,
    points: FloatArray,
    routes: Sequence[Sequence[int]],
    styles: dict[int, Style],
    width: float,
    area: float,
) -> None:
    faint = float(np.clip(5 / len(routes), 0.2, 0.45))
    for place, route in enumerate(routes):
        style, stops = styles[place], points[list(route)]
        for end in (stops[0], stops[-1]) if instance.facts.returns else stops[:1]:
            ax.plot(*np.stack((points[0], end)).T, color=style.colour, linewidth=0.6 * width, alpha=faint, zorder=1)
        ax.plot(*stops.T, color=style.colour, linewidth=width, linestyle=style.dash, solid_joinstyle="round", zorder=2)
        # Above the depot: a customer in its place is seen.
        ax.scatter(
            stops[:, 0],
            stops[:, 1],
            s=area,
            marker=style.marker,
            facecolor=PAPER if style.hollow else style.colour,
            edgecolor=style.colour,
            linewidths=0.8 if style.hollow else 0,
            zorder=4,
        )


def _draw_depot(
    ax: "Axes", points: FloatArray, routes: Sequence[Sequence[int]], styles: dict[int, Style], area: float
) -> None:
    """A square; around it a ring for each route that it would hide."""
    depot, size, behind = points[0], max(DEPOT, 3 * area), _behind_depot(points)
    hidden = [place for place, route in enumerate(routes) if behind[list(route)].all()]
    for ring, place in reversed(list(enumerate(hidden, start=1))):
        ax.scatter(
            depot[0],
            depot[1],
            s=(np.sqrt(size) * (1.2 + 0.5 * ring)) ** 2,
            facecolor=PAPER,
            edgecolor=styles[place].colour,
            zorder=3,
        )
    ax.scatter(depot[0], depot[1], s=size, marker="s", facecolor=PAPER, edgecolor=INK, linewidth=2.2, zorder=3)


def _behind_depot(points: FloatArray) -> BoolArray:
    """(N,): which nodes the depot's square covers."""
    away = np.hypot(*(points - points[0]).T)
    return np.asarray(away <= BEHIND * np.ptp(points, axis=0).max())


def _radii(instance: Instance, points: FloatArray, area: float) -> FloatArray:
    """(N,): radii of the drawn nodes in points; nodes at the depot have the depot's."""
    radii = np.full(len(points), np.sqrt(area) / 2)
    if instance.facts.depot:
        radii[_behind_depot(points)] = np.sqrt(max(DEPOT, 3 * area)) / 2 + 1
    return radii


def _dress(ax: "Axes", result: Solution) -> None:
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.05)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_color("#cccccc")
    ax.set_title(plain(result.instance.name), loc="left", fontweight="bold", color=INK, parse_math=False)
    ax.set_title("  ·  ".join(_facts(result)), loc="right", fontsize="medium", color=INK)
    if result.instance.coordinates is None:
        ax.set_xlabel(NO_MAP, loc="left", fontsize="small", color=INK)


def _facts(result: Solution) -> list[str]:
    facts = [f"cost {cost_with_unit(result.instance, result.cost)}"]
    if result.gap is not None:
        facts.append(f"gap {result.gap:.2f} %")
    if result.instance.facts.depot:
        facts.append(f"{len(result.routes)} route{'s' if len(result.routes) != 1 else ''}")
    return facts
