"""Trains the models that a study compares, one after another; the same call continues after an interruption."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dact.cards import BEST
from dact.instances import InputError
from dact.plotting.training import read_training
from dact.reproduce.base import NeedsError, Request
from dact.reproduce.models import Model
from dact.reproduce.runs import FOLDER, runs_folder
from dact.training import CHECKPOINT, Report, train_command


def at_hand(models: Sequence[Model], request: Request) -> dict[str, Path]:
    """Weights files of the trained models, by name. With `--train`, missing ones are trained, initial models first."""
    if request.train:
        chain = (each for model in models for each in model.chain)
        _train_missing(list(dict.fromkeys(chain)), request.models, request.out / FOLDER, request)
    return {model.name: model.path(request.models) for model in models if model.exists(request.models)}


def compared(models: Sequence[Model], study: str, request: Request) -> dict[str, Path]:
    """Like `at_hand`, but a quick version trains its own models by smaller recipes."""
    if not request.quick:
        return at_hand(models, request)
    folder = runs_folder(study, request)
    small = [model.smaller() for model in models]
    _train_missing(small, folder / "models", folder, request)
    return {model.name: model.path(folder / "models") for model in small}


def is_done(run: Path) -> bool:
    """Is the training in this folder complete, including its last validation?"""
    try:
        log = read_training(run)
    except InputError:
        return False
    return bool(log.columns["progress"][-1] >= 1 and np.isfinite(log.columns["validation_cost"][-1]))


def finished_run(model: Model, folder: Path, request: Request) -> Path:
    """The folder of a model's complete training; starts or resumes it if needed.

    Ctrl-C writes a checkpoint and raises KeyboardInterrupt.
    """
    run = folder / "training" / model.name
    if is_done(run):
        return run
    if request.shard != (1, 1):
        raise NeedsError(f"{model.name} is not trained yet, and one process trains it: leave out --shard until it is")

    def watch(report: Report) -> None:
        cost = "" if report.best_cost is None else f": cost {report.best_cost:.6g}"
        request.progress(report.progress, f"training {model.name}{cost}")

    request.progress(0.0, f"training {model.name}")
    device = () if request.device == "auto" else (f"runtime.device={request.device.partition(':')[0]}",)
    if (run / CHECKPOINT).exists():
        outcome = train_command(resume=run, settings=device, tensorboard=False, watch=watch)
    else:
        init = None if model.start is None else str(model.start.path(request.models))
        settings = (*model.changes, *device)
        outcome = train_command(model.file, init=init, out=run, settings=settings, tensorboard=False, watch=watch)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return run


def _train_missing(models: Sequence[Model], target: Path, folder: Path, request: Request) -> None:
    """In order, since some start from others. Runs are kept in `folder`, weights go to `target`."""
    for model in models:
        if not model.exists(target):
            _copy(finished_run(model, folder, request) / BEST, model.path(target))


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(".part")
    shutil.copyfile(source, partial)
    partial.replace(target)
