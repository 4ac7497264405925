"""The course of a search as a moving picture: GIF, HTML page, or MP4 by ffmpeg."""

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from dact.instances import InputError, Instance
from dact.instances.files import write_atomically
from dact.plotting.canvas import Canvas
from dact.plotting.frames import Frame
from dact.plotting.routes import map_points
from dact.plotting.solution import cost_with_unit
from dact.plotting.styles import COLOURS, angle_order, plain

LAST_MS = 2500
"""Duration of the last frame."""
FFMPEG = "ffmpeg"
MOST_NAMED = 80
"""Largest number of nodes whose names a page shows."""


def frame_ms(frames: int) -> int:
    """Duration of each other frame: about six seconds in all, and longer frames if there are few."""
    return min(max(6000 // frames, 100), 700)


def gif(instance: Instance, frames: Sequence[Frame]) -> bytes:
    """An animated GIF of the frames, which shows the last one longer and repeats."""
    canvas = Canvas(instance)
    pictures = [canvas.picture(frame).quantize(64) for frame in frames]
    stream = BytesIO()
    pictures[0].save(
        stream,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=[frame_ms(len(frames))] * (len(pictures) - 1) + [LAST_MS],
        loop=0,
    )
    return stream.getvalue()


def page(instance: Instance, frames: Sequence[Frame]) -> bytes:
    """A self-contained HTML page with a player: play, pause, seek."""
    points = map_points(instance)
    film = {
        "name": plain(instance.name),
        "points": np.round(points, 6).tolist(),
        "labels": [plain(instance.title(index)) for index in range(instance.size)]
        if instance.size <= MOST_NAMED
        else [],
        "depot": instance.facts.depot,
        "returns": instance.facts.returns,
        "colours": COLOURS,
        "frameMs": frame_ms(len(frames)),
        "lastMs": LAST_MS,
        "frames": [_told(instance, frame) for frame in frames],
    }
    player = files("dact.plotting").joinpath("player.html").read_text(encoding="utf-8")
    # Inside a script element, "</" could end it.
    return player.replace("/*FILM*/null", json.dumps(film, separators=(",", ":")).replace("</", "<\\/")).encode()


def _told(instance: Instance, frame: Frame) -> dict[str, Any]:
    routes = frame.routes
    order = angle_order(map_points(instance), routes) if instance.facts.depot else range(len(routes))
    return {
        "routes": [list(map(int, routes[place])) for place in order],
        "cost": cost_with_unit(instance, frame.cost),
        "value": frame.cost,
        "seconds": round(frame.seconds, 3),
    }


def film(instance: Instance, frames: Sequence[Frame]) -> bytes:
    """An MP4 file, made by ffmpeg."""
    check_ffmpeg()
    canvas = Canvas(instance)
    (wide, high), each_ms = canvas.size, frame_ms(len(frames))
    pictures = [canvas.picture(frame).tobytes() for frame in frames]
    pictures += pictures[-1:] * (LAST_MS // each_ms)
    with TemporaryDirectory(prefix="dact-film-") as folder:
        path = Path(folder) / "film.mp4"
        source = [
            "-f",
            "rawvideo",
            "-pix_fmt",
            "rgb24",
            "-s",
            f"{wide}x{high}",
            "-r",
            f"{1000 / each_ms:.3f}",
            "-i",
            "-",
        ]
        command = [FFMPEG, "-y", "-loglevel", "error", *source, "-pix_fmt", "yuv420p", str(path)]
        done = subprocess.run(command, input=b"".join(pictures), capture_output=True, check=False)
        if done.returncode or not path.is_file():
            reason = " ".join(done.stderr.decode(errors="replace").split())[-200:]
            raise InputError(f"ffmpeg could not write the film ({reason or f'exit code {done.returncode}'})")
        return path.read_bytes()


def check_ffmpeg() -> None:
    """Refuse MP4 files if ffmpeg is not installed."""
    if shutil.which(FFMPEG) is None:
        raise InputError(".mp4 needs ffmpeg, which is not installed here: write .gif or .html")


MAKERS: dict[str, Callable[[Instance, Sequence[Frame]], bytes]] = {".gif": gif, ".html": page, ".mp4": film}
MOVING_FORMATS = tuple(MAKERS)


def check_moving(path: Path) -> None:
    """Refuse extensions that no moving picture has, and those that cannot be written here."""
    if path.suffix.lower() not in MAKERS:
        raise InputError(f"{path}: the extension '{path.suffix}' is not one of {', '.join(MAKERS)}")
    if path.suffix.lower() == ".mp4":
        check_ffmpeg()


def save_frames(instance: Instance, frames: Sequence[Frame], path: Path) -> None:
    """Write a moving picture; the extension names the format."""
    check_moving(path)
    content = MAKERS[path.suffix.lower()](instance, frames)
    write_atomically(path, lambda stream: stream.write(content))
