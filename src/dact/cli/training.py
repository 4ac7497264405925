"""`dact train`: one run, or a short one for each value of a setting."""

import json
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dact.cli.inputs import TrainRequest
from dact.cli.screen import emit, note, show_table
from dact.cli.train_view import TrainView, cost_text
from dact.interrupts import INTERRUPTED
from dact.team import first_process, launched
from dact.training import Report, TrainingResult, Watch, load_config, train_command
from dact.training.command import refuse_taken

COLUMNS = ("setting", "segments", "minutes", "last cost", "best cost", "collapses", "folder")


@dataclass(frozen=True, kw_only=True)
class TrainedRun:
    """Result of a run, and its last validation."""

    result: TrainingResult
    last: Report | None


def train_one(request: TrainRequest, *, as_json: bool) -> int:
    """Train, report, return the exit code."""
    try:
        run = _train(request)
    except KeyboardInterrupt:
        note("interrupted at once; what the last checkpoint has is kept")
        return INTERRUPTED
    _say(run.result)
    if as_json and first_process():
        emit(json.dumps(record(run)))
    return INTERRUPTED if run.result.interrupted else 0


def train_sweep(request: TrainRequest, sweep: str, *, as_json: bool) -> int:
    """A run for each value in turn, and a table of their costs."""
    if request.config is None or request.resume is not None:
        raise ValueError("--sweep starts new runs: it needs a config file and no --resume")
    if launched():
        raise ValueError("--sweep runs in one process: leave out torchrun")
    key, values = parse_sweep(sweep)
    settings = [f"{key}={value}" for value in values]
    # All configs are checked before the first run starts.
    names = [load_config(request.config, (*request.settings, setting)).name for setting in settings]
    folder = request.out or Path("runs") / f"{names[0]}-{key}"
    for setting in settings:
        refuse_taken(folder / setting)
    rows: list[tuple[str, ...]] = []
    interrupted = False
    for setting in settings:
        run = _train(replace(request, settings=(*request.settings, setting), out=folder / setting), setting)
        rows.append(_row(setting, run))
        if as_json:
            emit(json.dumps({"setting": setting} | record(run)))
        interrupted = run.result.interrupted
        if interrupted:
            _say(run.result)
            break
    show_table(COLUMNS, rows)
    return INTERRUPTED if interrupted else 0


def parse_sweep(text: str) -> tuple[str, list[str]]:
    """'curriculum.rate=0.5,1' to the key and its values."""
    key, equals, listed = text.partition("=")
    # Commas inside brackets do not separate values.
    values = [value.strip() for value in re.split(r",(?![^\[]*\])", listed) if value.strip()]
    if not equals or not key.strip() or not values:
        raise ValueError(f"sweep '{text}' is not of the form key=value,value")
    if len(set(values)) < len(values):
        raise ValueError(f"sweep '{text}' names a value twice")
    return key.strip(), values


def record(run: TrainedRun) -> dict[str, Any]:
    """The JSON object of a run."""
    result, progress = run.result, run.result.progress
    return {
        "folder": str(result.folder),
        "weights": None if result.weights is None else str(result.weights),
        "segments": progress.segments,
        "minutes": round(progress.seconds / 60, 3),
        "last_cost": None if run.last is None else run.last.validation_cost,
        "best_cost": progress.best_cost if math.isfinite(progress.best_cost) else None,
        "best_gap": progress.best_gap,
        "collapses": progress.rollbacks,
        "finished": result.finished,
        "interrupted": result.interrupted,
    }


def _train(request: TrainRequest, title: str = "") -> TrainedRun:
    def start(watch: Watch | None) -> TrainingResult:
        return train_command(
            request.config,
            minutes=request.minutes,
            resume=request.resume,
            init=request.init,
            out=request.out,
            settings=request.settings,
            tensorboard=request.tensorboard,
            watch=watch,
        )

    if not first_process():
        return TrainedRun(result=start(None), last=None)
    with TrainView(title or (request.resume or request.config or Path("training")).stem) as view:
        return TrainedRun(result=start(view.show), last=view.validated)


def _say(result: TrainingResult) -> None:
    if not first_process():
        return
    best = cost_text(_best(result), result.progress.best_gap)
    weights = "" if result.weights is None else f", weights {result.weights}"
    note(f"{result.folder}: {result.progress.segments:,} segments, best cost {best}{weights}")
    if result.weights is None:
        note(_why_no_weights(result))
    if result.finished and result.segments == 0:
        note("its schedule is done: lengthen it with --set epochs=N, or --set schedule_minutes=M where it has minutes")
    if not result.finished:
        word = "interrupted" if result.interrupted else "not finished"
        note(f"{word}; go on with: dact train --resume {result.folder}")


def _why_no_weights(result: TrainingResult) -> str:
    seconds = result.validation_seconds
    takes = "" if seconds is None else f" (one takes about {seconds:.0f} s here; validation.count and .steps set it)"
    return f"there are no best weights yet: validations after some training choose them{takes}"


def _best(result: TrainingResult) -> float | None:
    cost = result.progress.best_cost
    return cost if math.isfinite(cost) else None


def _row(setting: str, run: TrainedRun) -> tuple[str, ...]:
    progress, last = run.result.progress, run.last
    return (
        setting,
        f"{progress.segments:,}",
        f"{progress.seconds / 60:.2f}",
        "-" if last is None else cost_text(last.validation_cost, last.validation_gap),
        cost_text(_best(run.result), progress.best_gap),
        str(progress.rollbacks),
        str(run.result.folder),
    )
