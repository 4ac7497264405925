"""Metrics of a run: a CSV row and TensorBoard scalars per reading, and reports for watchers."""

import csv
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dact.training.ppo import BONUS, METRICS

log = logging.getLogger(__name__)
READ = (*METRICS, BONUS)
COLUMNS = (
    "segments",
    "minutes",
    "progress",
    "warm_up_steps",
    "actor_rate",
    *READ,
    "validation_cost",
    "validation_gap",
    "event",
)


@dataclass(frozen=True, kw_only=True)
class Report:
    """Metrics at one point of the training. `metrics` is empty before the first update."""

    segments: int
    minutes: float
    progress: float
    warm_up_steps: int
    actor_rate: float
    metrics: dict[str, float] = field(default_factory=dict)
    validation_cost: float | None = None
    validation_gap: float | None = None
    best_cost: float | None = None
    best_gap: float | None = None
    event: str = ""
    """`start`, `best`, `end`, or the reason of a rollback."""
    collapsed: bool = False
    """Training was rolled back to the best weights."""


Watch = Callable[[Report], None]


class Silence:
    """Records nothing, for all processes of a team but the first."""

    def rewind(self, segments: int) -> None:
        """Nothing to drop."""

    def write(self, report: Report) -> None:
        """Nothing to write."""

    def close(self) -> None:
        """Nothing to close."""


class Recorder(Silence):
    """Appends to `metrics.csv` and to TensorBoard's files in a run directory."""

    def __init__(self, folder: Path, watch: Watch | None = None, tensorboard: bool = True) -> None:
        self.path = folder / "metrics.csv"
        self.watch = watch
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"{folder}: the folder cannot be made ({error.strerror})") from error
        self._wants_board = tensorboard
        self._board: Any = None
        self._begun = -1

    def rewind(self, segments: int) -> None:
        """Drop rows written after the checkpoint that a run is resumed from."""
        self._begun = segments
        if not self.path.exists():
            return
        with self.path.open(newline="") as file:
            kept = [row for row in csv.DictReader(file) if _whole(row) and int(row["segments"]) <= segments]
        partial = self.path.with_name(self.path.name + ".part")
        with partial.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(kept)
        os.replace(partial, self.path)

    def write(self, report: Report) -> None:
        """Record one reading."""
        row = {name: _shown(_number(report, name)) for name in COLUMNS}
        new = not self.path.exists()
        with self.path.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            if new:
                writer.writeheader()
            writer.writerow(row)
        if self._wants_board and self._board is None:
            self._board = _board(self.path.parent, self._begun + 1)
            self._wants_board = self._board is not None
        if self._board is not None:
            for name in COLUMNS[1:-1]:
                value = _number(report, name)
                if isinstance(value, int | float):
                    self._board.add_scalar(name, value, report.segments)
        if self.watch is not None:
            self.watch(report)
        elif report.event:
            level = logging.WARNING if report.collapsed else logging.INFO
            log.log(level, "%s (segment %d)", report.event, report.segments)

    def close(self) -> None:
        """Flush TensorBoard."""
        if self._board is not None:
            self._board.close()


def _whole(row: dict[str, str | None]) -> bool:
    """Is the row complete? A kill may cut one short."""
    return row["segments"] is not None and row["segments"].isdigit() and None not in row.values()


def _number(report: Report, name: str) -> object:
    return report.metrics.get(name) if name in READ else getattr(report, name)


def _shown(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _board(folder: Path, begin: int) -> Any:  # noqa: ANN401 - an optional dependency
    try:
        from torch.utils.tensorboard import SummaryWriter
    except Exception as error:  # a broken TensorBoard must not stop a run
        log.info("no TensorBoard (%s; pip install 'dact[train]'): metrics go to the CSV alone", error)
        return None
    return SummaryWriter(str(folder / "tensorboard"), purge_step=begin)
