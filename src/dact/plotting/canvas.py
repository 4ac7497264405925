"""Pictures of many solutions of one instance, drawn fast."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dact.instances import Instance
from dact.instances.arrays import FloatArray
from dact.plotting.frames import Frame
from dact.plotting.routes import map_points
from dact.plotting.solution import cost_with_unit
from dact.plotting.styles import INK, PAPER, Style, angle_order, plain, style_of

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

LONG, SHORT = 640, 360
"""Pixels of the longer side of the map, and least pixels of the other side."""
FINE = 2
"""Pictures are drawn this many times larger and reduced, for smooth lines."""
MARGIN, TITLE = 20, 30
FONT = 15
FAINT = 0.35
"""Opacity of legs from and to the depot."""
POLYGONS = {"o": (0, 0), "s": (4, 0), "^": (3, 0), "D": (4, 45), "v": (3, 60), "P": (5, 0)}
"""Each marker as a polygon: number of sides (0: a circle) and rotation in degrees."""


class Canvas:
    """One instance, to be drawn with many solutions."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        points = map_points(instance)
        low, span = points.min(axis=0), np.ptp(points, axis=0)
        scale = (LONG - 2 * MARGIN) / (span.max() or 1.0)
        # Even numbers of pixels, as films want them.
        inner = np.maximum(span * scale + 2 * MARGIN, SHORT) // 2 * 2
        self.size = int(inner[0]), int(inner[1]) + TITLE
        places: FloatArray = FINE * ((points - low) * scale + (inner - span * scale) / 2)
        places[:, 1] = FINE * self.size[1] - places[:, 1]
        self._places = places
        self._radius = FINE * float(np.clip(40 / np.sqrt(len(points)), 1.3, 4))
        self._width = FINE * (2 if len(points) <= 300 else 1)

    def picture(self, frame: Frame) -> "Image":
        """The frame, with its cost and time."""
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", (FINE * self.size[0], FINE * self.size[1]), PAPER)
        draw, routes = ImageDraw.Draw(picture), frame.routes
        styles = self._styles(routes)
        for place, style in styles.items():
            self._draw_depot_legs(draw, routes[place], style)
        for place, style in styles.items():
            draw.line(self._line(routes[place]), fill=style.colour, width=self._width, joint="curve")
        self._draw_depot(draw)
        for place, style in styles.items():
            self._draw_nodes(draw, routes[place], style)
        small = picture.resize(self.size, Image.Resampling.BOX)
        draw = ImageDraw.Draw(small)
        draw.text((MARGIN, 8), plain(self.instance.name), fill=INK, font=self._font)
        text = f"{cost_with_unit(self.instance, frame.cost)}    {frame.seconds:.1f} s"
        draw.text((self.size[0] - MARGIN, 8), text, fill=INK, font=self._font, anchor="ra")
        return small

    @cached_property
    def _font(self) -> "FreeTypeFont | ImageFont":
        from PIL.ImageFont import load_default

        return load_default(FONT)

    def _styles(self, routes: Sequence[Sequence[int]]) -> dict[int, Style]:
        """Styles by the places of the routes, chosen by direction, so that they change little between frames."""
        order = angle_order(self._places, routes) if self.instance.facts.depot else range(len(routes))
        return {place: style_of(rank) for rank, place in enumerate(order)}

    def _line(self, stops: Sequence[int]) -> list[tuple[float, float]]:
        facts = self.instance.facts
        closed = [*stops, stops[0]] if facts.returns and not facts.depot else list(stops)
        return [(x, y) for x, y in self._places[closed].tolist()]

    def _draw_depot_legs(self, draw: "ImageDraw", route: Sequence[int], style: Style) -> None:
        """Pale, so that a busy depot stays readable."""
        facts = self.instance.facts
        ends = (route[:1], route[-1:])[: 1 + facts.returns] if facts.depot else ()
        for end in ends:
            draw.line(self._line([0, *end]), fill=_pale(style.colour), width=self._width)

    def _draw_nodes(self, draw: "ImageDraw", route: Sequence[int], style: Style) -> None:
        sides, turned = POLYGONS[style.marker]
        colour = style.colour if self.instance.facts.depot else INK
        fill = PAPER if style.hollow else colour
        for x, y in self._places[list(route)].tolist():
            circle = (x, y, self._radius * (1.3 if sides else 1.0))
            if sides:
                draw.regular_polygon(circle, sides, turned, fill=fill, outline=colour)
            else:
                draw.circle((x, y), self._radius, fill=fill, outline=colour)

    def _draw_depot(self, draw: "ImageDraw") -> None:
        if self.instance.facts.depot:
            (x, y), half = self._places[0].tolist(), max(1.8 * self._radius, 6 * FINE)
            draw.rectangle((x - half, y - half, x + half, y + half), fill=PAPER, outline=INK, width=2 * FINE)


def _pale(colour: str) -> tuple[int, ...]:
    """The colour, faint on white paper."""
    return tuple(round(255 - FAINT * (255 - int(colour[place : place + 2], 16))) for place in (1, 3, 5))
