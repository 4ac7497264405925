"""Writing answers: to files as they are found, to stdout in order, and to a rescue file if writing fails."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from dact.cli.screen import emit, note
from dact.instances.errors import brief

Writers = dict[Path, Callable[[Path], None]]
"""How each file is written."""


class Saver:
    """Writes each output independently. Answers that cannot be written go to a rescue file."""

    def __init__(self) -> None:
        self.failed = False
        self._waiting: dict[int, tuple[str, bool]] = {}
        self._unkept: list[str] = []
        """Answers that are in no solution file, so that only the table on stdout tells of them."""
        self._next = 0

    def save(self, place: int, line: str, writers: Writers, solution: Path | None, *, as_json: bool) -> None:
        """Write the files of an answer, of which one is the solution, and print its line after those of earlier
        instances."""
        done = dict(zip(writers, self.write(writers), strict=True))
        kept = solution is not None and done.get(solution, True)
        if as_json:
            self._waiting[place] = (line, kept)
            while self._next in self._waiting:
                self._print(*self._waiting.pop(self._next))
                self._next += 1
        elif solution is not None and not kept:
            self._rescue(line)
        elif not kept:
            self._unkept.append(line)

    def show(self, text: str) -> None:
        """Print the table of all answers."""
        if not emit(text):
            self.failed = True
            for line in self._unkept:
                self._rescue(line)

    def write(self, writers: Writers) -> list[bool]:
        """Write files; errors are printed."""
        return [self._written(path, write) for path, write in writers.items()]

    def close(self) -> None:
        """Print the remaining lines."""
        for place in sorted(self._waiting):
            self._print(*self._waiting.pop(place))

    def _written(self, path: Path, write: Callable[[Path], None]) -> bool:
        # An error with one file must not prevent the others.
        try:
            write(path)
        except Exception as error:
            reason = brief(error)
            note(f"error: {reason}" if reason.startswith(str(path)) else f"error: {path}: cannot be written ({reason})")
            self.failed = True
            return False
        return True

    def _print(self, line: str, kept: bool) -> None:
        if not emit(line):
            self.failed = True
            if not kept:
                self._rescue(line)

    def _rescue(self, line: str) -> None:
        for folder in (Path.cwd, lambda: Path(tempfile.gettempdir())):
            try:
                path = folder() / f"dact-rescue-{os.getpid()}.jsonl"
                with path.open("a", encoding="utf-8") as stream:
                    stream.write(line + "\n")
            except OSError:
                continue
            note(f"the answer was saved as a line of {path}")
            return
        note(line)
