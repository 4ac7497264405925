"""Make the pictures of the documentation again: `python docs/pictures/make.py` in the repository."""

import io
import os
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from dact.cli import main

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def dact(*arguments: object) -> str:
    """Run a command and return what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        try:
            code: object = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
    if code:
        raise RuntimeError(f"{arguments}: exit code {code}")
    return printed.getvalue()


def make(folder: Path) -> None:
    """Write all pictures; `folder` is for files on the way."""
    dact("solve", "examples/shops.csv", "--capacity", 12, "--plot", HERE / "shops.png")
    dact("solve", "examples/capitals.csv", "--plot", HERE / "capitals.png")
    dact("solve", "examples/capitals.csv", "--seed", 1, "--animate", HERE / "hybrid.gif")
    dact("solve", "examples/harbour60.vrp", "--search", "policy", "--steps", 150, "--animate", HERE / "policy.gif")
    files = ("examples/harbour60.vrp", "examples/islands60.tsp", "examples/capitals.csv")
    (folder / "answers.jsonl").write_text(dact("solve", *files, "--time-limit", 5, "--json"))
    dact("plot", "trace", folder / "answers.jsonl", "--out", HERE / "trace.png")


if __name__ == "__main__":
    os.chdir(ROOT)
    with TemporaryDirectory() as name:
        make(Path(name))
