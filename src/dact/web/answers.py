"""Downloads of a run: solution files, a table, pictures."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from dact.instances import InputError, write_solution
from dact.plotting import save_plot
from dact.plotting.animation import gif
from dact.web.runs import Run

MEDIA = {
    ".sol": "text/plain",
    ".tour": "text/plain",
    ".json": "application/json",
    ".csv": "text/csv",
    ".png": "image/png",
    ".gif": "image/gif",
}


def answer(run: Run, suffix: str) -> bytes:
    """The best solution of a run so far, as a file of this kind."""
    best = run.best
    if best is None:
        raise InputError("there is no solution yet: wait a moment")
    if suffix == ".gif":
        return gif(run.instance, run.reel.frames())
    if suffix == ".png":
        return _written(suffix, lambda path: save_plot(best, path))
    return _written(suffix, lambda path: write_solution(path, best.instance, best.routes, best.cost))


def _written(suffix: str, write: Callable[[Path], None]) -> bytes:
    with TemporaryDirectory(prefix="dact-page-") as folder:
        path = Path(folder) / f"answer{suffix}"
        try:
            write(path)
        except InputError as error:
            raise InputError(str(error).replace(f"{path}: ", "")) from None
        return path.read_bytes()
