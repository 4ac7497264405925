"""Pictures on disk."""

from io import BytesIO
from pathlib import Path

import numpy as np

from dact.instances import InputError
from dact.instances.files import write_atomically
from dact.plotting.legend import legend_size
from dact.plotting.routes import map_points, plot
from dact.plotting.solution import Solution

FORMATS = (".png", ".svg", ".pdf")
TALL = 10.0
"""Largest height in inches for the sake of a long legend."""


def save_plot(result: Solution, path: str | Path) -> None:
    """Draw the solution into a file, without touching the state of pyplot; the extension names the format."""
    from matplotlib.figure import Figure

    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{path}: the extension '{suffix}' is not one of {', '.join(FORMATS)}")
    figure = Figure(figsize=_size(result), layout="constrained")
    plot(result, figure.add_subplot())
    picture = BytesIO()
    figure.savefig(picture, format=suffix[1:], dpi=160)
    write_atomically(path, lambda stream: stream.write(picture.getvalue()))


def _size(result: Solution) -> tuple[float, float]:
    """Width and height in inches by the shape of the map, with room for the legend unless it is too long."""
    wide, high = np.ptp(map_points(result.instance), axis=0)
    height = 7.0 * float(np.clip(high / wide if wide else 1.0, 0.5, 1.4)) + 0.3
    beside, needed = (points / 72 for points in legend_size(result))
    taller = max(height, min(needed + 0.3, TALL))
    return (7.0 + beside, taller) if needed <= taller else (7.0, height)
