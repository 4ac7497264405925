"""`dact bench train`."""

from pathlib import Path

import torch

from dact.bench import QUICK_CASES, TRAIN_CASES, TrainCase, TrainTiming, measure_training
from dact.cli.bench_rows import check_rows, keep_row
from dact.cli.screen import note, show_table
from dact.instances import InputError
from dact.training import load_config

COLUMNS = (
    "case",
    "steps / n",
    "epochs",
    "batch s",
    "authors s",
    "times faster",
    "warm-up step ms",
    "set-up s",
    "memory GiB",
)


def bench_training(config: Path | None, out: Path | None, *, quick: bool, as_json: bool) -> None:
    """Measure, print, and append rows where asked."""
    check_rows(out, TrainTiming)
    timings = []
    for timing in measure_training(_cases(config, quick)):
        timings.append(timing)
        keep_row(timing, out, as_json=as_json)
    note(f"seconds for one batch of training on {timings[0].device}; the authors' code on one H200")
    show_table(COLUMNS, [_row(timing) for timing in timings])


def _cases(config: Path | None, quick: bool) -> tuple[TrainCase, ...]:
    if config is not None and quick:
        raise InputError("--config and --quick are two different shapes: choose one")
    if config is not None:
        return (TrainCase(config=load_config(config)),)
    if not quick and not torch.cuda.is_available():
        raise InputError("a batch of the paper takes many minutes without a GPU: add --quick for tiny shapes")
    return QUICK_CASES if quick else TRAIN_CASES


def _row(timing: TrainTiming) -> tuple[str, ...]:
    return (
        f"{timing.problem}{timing.size} x {timing.rows}",
        f"{timing.horizon} / {timing.segment}",
        f"{timing.update_epochs}" + ("" if timing.share == 1 else f" of {timing.share:g} of the rows"),
        f"{timing.batch_s:.3f}",
        "-" if timing.authors_s is None else f"{timing.authors_s:g}",
        "-" if timing.times_faster is None else f"{timing.times_faster:.1f}",
        f"{timing.warm_up_step_ms:.2f}",
        f"{timing.set_up_s:.1f}",
        f"{timing.memory_gib:.2f}",
    )
