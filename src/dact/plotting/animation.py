"""How a solution came about, as a moving picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from dact.instances import Instance, Routes
from dact.instances.arrays import FloatArray
from dact.plotting.routes import COLOURS, INK, map_points
from dact.plotting.solution import cost_text

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

SIZE = 560
"""Pixels of the longer side."""
FINE = 2
"""Drawn so many times larger, and made smaller for smooth lines."""
MARGIN, TITLE = 16, 28
FRAME_MS, LAST_MS = 120, 2500
PAPER = "#ffffff"


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A solution, and when it was found."""

    routes: Routes
    cost: float
    seconds: float


class Reel:
    """Frames as they come; beyond `most`, every second one of the older is dropped, and the last is always kept."""

    def __init__(self, most: int = 100) -> None:
        self.most = most
        self._frames: list[Frame] = []

    def add(self, frame: Frame) -> None:
        """The next frame."""
        # A new list: another thread may be reading the old one.
        kept = self._frames[::2] if len(self._frames) >= self.most else self._frames
        self._frames = [*kept, frame]

    def frames(self) -> list[Frame]:
        """Those that are kept."""
        return self._frames


def gif(instance: Instance, frames: Sequence[Frame]) -> bytes:
    """An animated GIF of the frames, which stays on the last for a while before it begins again."""
    points = _placed(map_points(instance))
    pictures = [_picture(instance, points, frame) for frame in frames]
    stream = BytesIO()
    pictures[0].save(
        stream,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=[FRAME_MS] * (len(pictures) - 1) + [LAST_MS],
        loop=0,
    )
    return stream.getvalue()


def _placed(points: FloatArray) -> FloatArray:
    """Points in pixels, y upwards, in proportion and in the middle."""
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    inner = SIZE - 2 * MARGIN
    scale = inner / (span.max() or 1.0)
    scaled: FloatArray = FINE * ((points - low) * scale + (inner - span * scale) / 2 + MARGIN)
    scaled[:, 1] = FINE * (TITLE + SIZE) - scaled[:, 1]
    return scaled


def _picture(instance: Instance, points: FloatArray, frame: Frame) -> "Image":
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (FINE * SIZE, FINE * (SIZE + TITLE)), PAPER)
    draw = ImageDraw.Draw(picture)
    for number, route in enumerate(frame.routes):
        _draw_route(draw, instance, points, route, COLOURS[number % len(COLOURS)])
    _draw_nodes(draw, instance, points)
    small = picture.resize((SIZE, SIZE + TITLE), Image.Resampling.BOX)
    text = f"{cost_text(instance, frame.cost)}    {frame.seconds:.1f} s"
    ImageDraw.Draw(small).text((MARGIN, 10), text, fill=INK)
    return small.quantize(64)


def _draw_route(draw: "ImageDraw", instance: Instance, points: FloatArray, route: Sequence[int], colour: str) -> None:
    stops = [0, *route] if instance.facts.depot else list(route)
    stops += stops[:1] if instance.facts.returns else []
    width = FINE * (2 if len(points) <= 300 else 1)
    draw.line([tuple(point) for point in points[stops].tolist()], fill=colour, width=width, joint="curve")


def _draw_nodes(draw: "ImageDraw", instance: Instance, points: FloatArray) -> None:
    radius = FINE * float(np.clip(40 / np.sqrt(len(points)), 1.2, 4))
    for x, y in points.tolist():
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=INK)
    if instance.facts.depot:
        (x, y), half = points[0].tolist(), max(1.6 * radius, 5 * FINE)
        draw.rectangle((x - half, y - half, x + half, y + half), fill=INK, outline=PAPER, width=FINE)
