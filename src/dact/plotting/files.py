"""Pictures on disk."""

from io import BytesIO
from pathlib import Path

import numpy as np

from dact.instances import InputError
from dact.instances.files import write_atomically
from dact.plotting.routes import map_points, plot
from dact.plotting.solution import Solution

FORMATS = (".png", ".svg", ".pdf")


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
    """Inches that suit the shape of the map."""
    wide, high = np.ptp(map_points(result.instance), axis=0)
    return 7.0, 7.0 * float(np.clip(high / wide if wide else 1.0, 0.5, 1.4)) + 0.3
