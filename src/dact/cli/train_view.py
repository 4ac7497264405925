"""Display of a training run: a live panel in a terminal, otherwise a line per validation."""

import logging
from types import TracebackType

from rich.console import Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from dact.cli.screen import CONSOLE, note
from dact.training import Report


class TrainView:
    """Shows reports and log messages of a run."""

    def __init__(self, title: str) -> None:
        self.validated: Report | None = None
        self._numbers: dict[str, float] = {}
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[state]}"),
            console=CONSOLE,
        )
        self._task = self._bar.add_task(title, total=1.0, state="setting up (compiling may take minutes on a GPU)")
        self._live = Live(self._bar, console=CONSOLE, transient=True, refresh_per_second=4)
        self._handler = _Notes()

    def __enter__(self) -> "TrainView":
        logger = logging.getLogger("dact")
        self._level = logger.level
        logger.setLevel(logging.INFO)
        logger.addHandler(self._handler)
        if CONSOLE.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if CONSOLE.is_terminal:
            self._live.stop()
        logger = logging.getLogger("dact")
        logger.removeHandler(self._handler)
        logger.setLevel(self._level)

    def show(self, report: Report) -> None:
        """Show a report."""
        self._numbers = report.metrics or self._numbers
        if report.validation_cost is not None:
            self.validated = report
        self._bar.update(self._task, completed=report.progress, state="")
        if CONSOLE.is_terminal:
            self._live.update(Group(self._bar, self._panel(report)))
            if report.collapsed:
                note(f"{report.minutes:.2f} min  {report.event}")
        elif report.validation_cost is not None or report.event:
            note(line(report, self._numbers))

    def _panel(self, report: Report) -> Table:
        """Three rows: how far, how good, how steady."""
        last = self.validated
        rows = (
            {
                "minutes": f"{report.minutes:.2f}",
                "segments": f"{report.segments:,}",
                "rate": f"{report.actor_rate:.2e}",
                "warm-up": f"{report.warm_up_steps:,}",
            },
            {
                "validation": "-" if last is None else cost_text(last.validation_cost, last.validation_gap),
                "best": cost_text(report.best_cost, report.best_gap),
                "reward": _figure(self._numbers.get("reward")),
            },
            steadiness(self._numbers),
        )
        table = Table.grid(padding=(0, 3))
        for row in rows:
            table.add_row(*(Text.assemble((f"{name} ", "dim"), value) for name, value in row.items()))
        return table


def line(report: Report, numbers: dict[str, float]) -> str:
    """A validation or an event in one line."""
    parts = [f"{report.minutes:.2f} min", f"{report.progress:.1%}", f"segment {report.segments}"]
    if report.validation_cost is not None:
        parts.append(f"cost {cost_text(report.validation_cost, report.validation_gap)}")
    parts += [
        f"best {cost_text(report.best_cost, report.best_gap)}",
        f"rate {report.actor_rate:.2e}",
        f"warm-up {report.warm_up_steps}",
        *(f"{name} {value}" for name, value in steadiness(numbers).items() if value != "-"),
    ]
    if report.event:
        parts.append(f"[{report.event}]")
    return "  ".join(parts)


def steadiness(numbers: dict[str, float]) -> dict[str, str]:
    """Metrics that show whether training is stable."""
    names = {
        "KL": "approx_kl",
        "clipped": "clip_fraction",
        "entropy": "entropy",
        "explained": "explained_variance",
        "norm": "actor_norm",
    }
    return {shown: _figure(numbers.get(name)) for shown, name in names.items()}


def cost_text(cost: float | None, gap: float | None) -> str:
    """A mean cost, with its gap where there are reference costs."""
    if cost is None:
        return "-"
    return f"{cost:.4f}" if gap is None else f"{cost:.4f} ({gap:.3f} %)"


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())
