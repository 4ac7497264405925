"""Labels beside points, where there is free space."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dact.instances import Instance, Routes
from dact.instances.arrays import FloatArray
from dact.plotting.styles import INK, PAPER, Style, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 250
"""Largest number of nodes, and of routes, that are labelled; more labels would hide the routes."""
TRIED = 20
"""Stops of a route that its number is tried at."""
FONT = 6.5
"""In points, as all lengths here."""
WIDE, HIGH = 0.62, 1.0
"""Width and height of a character, in font sizes."""
SIDES = np.array([(1, 0.6), (1, -0.6), (-1, 0.6), (-1, -0.6), (0, 1), (0, -1), (1, 0), (-1, 0)])
"""Places of a label relative to its point."""


@dataclass
class Room:
    """Free space for labels: positions and radii of the nodes, and occupied boxes (left, bottom, right, top)."""

    place_N2: FloatArray
    radius_N: FloatArray
    frame: FloatArray
    taken_T4: FloatArray

    @classmethod
    def around(cls, ax: "Axes", points: FloatArray, radius_N: FloatArray) -> "Room":
        """Free space of the axes in their final layout, with the nodes drawn."""
        figure = ax.figure.canvas.figure
        figure.draw_without_rendering()
        scale = 72 / figure.dpi
        place_N2 = ax.transData.transform(points) * scale
        spots = np.hstack((place_N2 - 0.7 * radius_N[:, None], place_N2 + 0.7 * radius_N[:, None]))
        return cls(place_N2, radius_N, np.array(ax.get_window_extent().extents) * scale, spots)

    def take(self, box: FloatArray) -> bool:
        """Occupy a box if it lies inside the frame and overlaps no other; True if so."""
        if (box[:2] < self.frame[:2]).any() or (box[2:] > self.frame[2:]).any():
            return False
        apart_T = (self.taken_T4[:, :2] >= box[2:]).any(axis=1) | (self.taken_T4[:, 2:] <= box[:2]).any(axis=1)
        free = bool(apart_T.all())
        if free:
            self.taken_T4 = np.vstack((self.taken_T4, box))
        return free


def label_nodes(ax: "Axes", instance: Instance, points: FloatArray, routes: Routes, room: Room) -> None:
    """Write names or numbers beside the nodes, away from their routes; nodes without free space get none."""
    if len(points) > MOST:
        return
    away_N2 = _away(instance, room.place_N2, routes)
    for index in range(len(points)):
        text = plain(instance.title(index))
        for shift in _shifts(text, room.radius_N[index] + 1.0, away_N2[index]):
            if room.take(_box(room.place_N2[index] + shift, text)):
                _write(ax, text, points[index], shift, fontsize=FONT, color=INK, zorder=6)
                break


def label_routes(ax: "Axes", points: FloatArray, routes: Routes, styles: Mapping[int, Style], room: Room) -> None:
    """Write each route's number in its colour beside one of its stops, the farther from the depot the better."""
    if len(routes) > MOST:
        return
    for place, route in enumerate(routes):
        text = str(place + 1)
        outward = room.place_N2[list(route)] - room.place_N2[0]
        for rank in np.argsort(-np.hypot(*outward.T), kind="stable")[:TRIED]:
            node = route[rank]
            shifts = _shifts(text, room.radius_N[node] + 3.0, outward[rank])
            shift = next((each for each in shifts if room.take(_box(room.place_N2[node] + each, text, 1.5))), None)
            if shift is not None:
                frame = {"boxstyle": "round,pad=0.2", "facecolor": styles[place].colour, "edgecolor": "none"}
                _write(ax, text, points[node], shift, fontsize=FONT, color=PAPER, weight="bold", bbox=frame, zorder=5)
                break


def _away(instance: Instance, place_N2: FloatArray, routes: Routes) -> FloatArray:
    """For each node, the direction away from its route."""
    away = np.zeros_like(place_N2)
    for route in routes:
        stops = [*route, *route[:1]] if not instance.facts.depot else [0, *route, 0]
        for here, there in pairwise(stops):
            leg = place_N2[there] - place_N2[here]
            leg /= np.hypot(*leg) or 1.0
            away[here] -= leg
            away[there] += leg
    return away


def _shifts(text: str, reach: float, away: FloatArray) -> Iterator[FloatArray]:
    """Middles of the label, seen from the point, the best first."""
    half = np.array([WIDE * len(text), HIGH]) * FONT / 2
    for side in SIDES[np.argsort(-(SIDES / np.hypot(*SIDES.T)[:, None]) @ away, kind="stable")]:
        yield side * (half + reach * np.array([0.8, 0.9]))


def _box(middle: FloatArray, text: str, pad: float = 0.0) -> FloatArray:
    half = np.array([WIDE * len(text), HIGH]) * FONT / 2 + pad
    return np.concatenate((middle - half, middle + half))


def _write(ax: "Axes", text: str, point: FloatArray, shift: FloatArray, **style: Any) -> None:  # noqa: ANN401
    from matplotlib.patheffects import withStroke

    halo = [] if "bbox" in style else [withStroke(linewidth=1.6, foreground=PAPER)]
    note = ax.annotate(
        text,
        (float(point[0]), float(point[1])),
        xytext=(float(shift[0]), float(shift[1])),
        textcoords="offset points",
        ha="center",
        va="center_baseline",
        parse_math=False,
        path_effects=halo,
        **style,
    )
    # It lies inside the axes, so the layout need not measure it.
    note.set_in_layout(False)
