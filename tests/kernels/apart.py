"""A Python process of its own, in which Triton compiles even if this one has chosen the interpreter."""

import os
import subprocess
import sys
from pathlib import Path


def run_apart(*arguments: str | Path) -> list[list[str]]:
    """The words of each line that `python ARGUMENTS` prints; it finds modules where this process does."""
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment["PYTHONPATH"] = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)
    command = [sys.executable, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return [line.split() for line in done.stdout.splitlines()]
