"""Terminal output: progress and notes on stderr, tables on stderr or stdout."""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Timer
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

CONSOLE = Console(stderr=True, highlight=False)

FAILED = 1
"""Exit code of failures that are not the user's mistake: a failed write, or a bug of DACT."""


def note(text: str) -> None:
    """Print a line on stderr. Errors are ignored."""
    with suppress(OSError, ValueError):
        CONSOLE.print(Text(text), soft_wrap=True)


def emit(line: str) -> bool:
    """Print on stdout. If that fails, print an error once and return False."""
    try:
        if sys.stdout is None:
            raise OSError("it is closed")
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        print(line.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        note(f"error: stdout cannot be written ({reason})")
        _close_stdout()
        return False
    return True


def _close_stdout() -> None:
    """Replace stdout by the null device: Python would flush it again at exit and print an error."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> None:
    """Print a table on stderr."""
    with suppress(OSError, ValueError):
        table = _table(columns, rows, texts)
        # A separate console: CONSOLE would crop the table to the width it assumes for files and pipes.
        Console(file=CONSOLE.file, highlight=False, width=max(_needed(table), CONSOLE.width)).print(table, crop=False)


def table_text(columns: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """A table as text for stdout."""
    table, stream = _table(columns, rows, texts), io.StringIO()
    try:
        styled = sys.stdout.isatty()
    except (AttributeError, ValueError):
        styled = False
    Console(file=stream, highlight=False, width=_needed(table), force_terminal=styled).print(table, crop=False)
    lines = stream.getvalue().splitlines()
    return "\n".join(line.rstrip() for line in lines)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], texts: int) -> Table:
    """The first `texts` columns flush left, the others right; never cut, however narrow the terminal."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place < texts else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _needed(table: Table) -> int:
    return CONSOLE.measure(table, options=CONSOLE.options.update(width=10_000)).maximum


class Bar:
    """A progress bar with details, seen `after` some seconds; hidden if `silent` or if stderr is not a terminal."""

    def __init__(self, title: str, *, silent: bool = False, after: float = 0.0) -> None:
        columns: tuple[ProgressColumn, ...] = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            _Detail(),
            TimeElapsedColumn(),
        )
        hidden = silent or not CONSOLE.is_terminal
        self._progress = Progress(*columns, console=CONSOLE, transient=True, disable=hidden)
        self._task = self._progress.add_task(title, total=1.0, detail="")
        self._later = Timer(after, self._progress.start) if after and not hidden else None

    def __enter__(self) -> "Bar":
        if self._later is None:
            self._progress.start()
        else:
            self._later.daemon = True
            self._later.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later.join()
        self._progress.stop()

    def show(self, fraction: float, detail: str, title: str | None = None) -> None:
        """Update the bar."""
        self._progress.update(self._task, completed=fraction, detail=detail)
        if title is not None:
            self._progress.update(self._task, description=title)


class _Detail(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(str(task.fields.get("detail", "")))
