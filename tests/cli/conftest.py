"""The command line called in this process, and small files to call it with."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_files import SQUARE, tsp_text, vrp_text

from dact.cli import main


@dataclass(frozen=True)
class Answer:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """Stdout, which must be one JSON object per line."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def record(self) -> dict[str, Any]:
        """The only object on stdout."""
        (only,) = self.records
        return only

    def refused(self, *words: str) -> None:
        """One sentence on stderr that holds the words, exit code 2, nothing on stdout."""
        assert (self.code, self.out) == (2, "")
        assert self.err.startswith("error: ")
        assert self.err.count("\n") == 1
        for word in words:
            assert word in self.err, self.err


Dact = Callable[..., Answer]


@pytest.fixture
def dact(capsys: pytest.CaptureFixture[str]) -> Dact:
    """`dact("solve", path)` as on the command line."""

    def call(*arguments: object) -> Answer:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
        captured = capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    return call


@pytest.fixture
def square(tmp_path: Path) -> Path:
    """Six nodes with ids 1..6."""
    path = tmp_path / "square.tsp"
    path.write_text(tsp_text(SQUARE))
    return path


@pytest.fixture
def depot(tmp_path: Path) -> Path:
    """Five customers, vehicles of capacity 5."""
    path = tmp_path / "depot.vrp"
    path.write_text(vrp_text(SQUARE, [0, 2, 3, 1, 2, 2], 5))
    return path
