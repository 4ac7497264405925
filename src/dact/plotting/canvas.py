"""Pictures of many solutions of one instance, drawn fast."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dact.instances import Instance
from dact.instances.arrays import FloatArray
from dact.plotting.frames import Frame
from dact.plotting.looks import COLOURS, INK, PAPER, angle_order, plain
from dact.plotting.routes import map_points
from dact.plotting.solution import cost_text

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

LONG, SHORT = 640, 360
"""Pixels of the longer side of the map, and the fewest of the other."""
FINE = 2
"""Drawn so many times larger, and made smaller for smooth lines."""
MARGIN, TITLE = 20, 30
FONT = 15


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
        for place, colour in self._coloured(routes):
            draw.line(self._line(routes[place]), fill=colour, width=self._width, joint="curve")
        self._draw_depot(draw)
        for place, colour in self._coloured(routes):
            self._draw_nodes(draw, routes[place], colour)
        small = picture.resize(self.size, Image.Resampling.BOX)
        draw = ImageDraw.Draw(small)
        draw.text((MARGIN, 8), plain(self.instance.name), fill=INK, font=self._font)
        text = f"{cost_text(self.instance, frame.cost)}    {frame.seconds:.1f} s"
        draw.text((self.size[0] - MARGIN, 8), text, fill=INK, font=self._font, anchor="ra")
        return small

    @cached_property
    def _font(self) -> "FreeTypeFont | ImageFont":
        from PIL.ImageFont import load_default

        return load_default(FONT)

    def _coloured(self, routes: Sequence[Sequence[int]]) -> list[tuple[int, str]]:
        """Places of the routes, with colours by their direction, which change little from frame to frame."""
        if not self.instance.facts.depot:
            return [(place, COLOURS[0]) for place in range(len(routes))]
        order = angle_order(self._places, routes)
        return [(place, COLOURS[rank % len(COLOURS)]) for rank, place in enumerate(order)]

    def _line(self, route: Sequence[int]) -> list[tuple[float, float]]:
        facts = self.instance.facts
        stops = [0, *route] if facts.depot else list(route)
        stops += stops[:1] if facts.returns else []
        return [(x, y) for x, y in self._places[stops].tolist()]

    def _draw_nodes(self, draw: "ImageDraw", route: Sequence[int], colour: str) -> None:
        radius, fill = self._radius, colour if self.instance.facts.depot else INK
        for x, y in self._places[list(route)].tolist():
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=fill)

    def _draw_depot(self, draw: "ImageDraw") -> None:
        if self.instance.facts.depot:
            (x, y), half = self._places[0].tolist(), max(1.8 * self._radius, 6 * FINE)
            draw.rectangle((x - half, y - half, x + half, y + half), fill=PAPER, outline=INK, width=2 * FINE)
