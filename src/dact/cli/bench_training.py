"""`dact bench train`."""

import json
from dataclasses import asdict
from pathlib import Path

import torch

from dact.bench import QUICK_CASES, TRAIN_CASES, TrainCase, TrainTiming, append_rows, case_of, measure_training
from dact.cli.screen import note, show_table
from dact.cli.targets import check_file
from dact.instances import InputError
from dact.training import RuntimeConfig, load_config

COLUMNS = ("case", "horizon", "batch s", "authors s", "times faster", "warm-up step ms", "set-up s", "memory GiB")


def bench_training(config: Path | None, out: Path | None, *, quick: bool, as_json: bool) -> None:
    """Measure, print, and append rows where asked."""
    if out is not None:
        check_file("--out", out, (".csv",))
    cases, runtime = _cases(config, quick)
    timings = []
    for timing in measure_training(cases, runtime):
        timings.append(timing)
        if as_json:
            print(json.dumps(asdict(timing)), flush=True)
    note(f"seconds for one batch of training on {timings[0].device}; the authors' code on one H200")
    show_table(COLUMNS, [_row(timing) for timing in timings])
    if out is not None:
        append_rows(out, timings)


def _cases(config: Path | None, quick: bool) -> tuple[tuple[TrainCase, ...], RuntimeConfig]:
    if config is not None and quick:
        raise InputError("--config and --quick are two different shapes: choose one")
    if config is not None:
        asked = load_config(config)
        return (case_of(asked),), asked.runtime
    if not quick and not torch.cuda.is_available():
        raise InputError("a batch of the paper takes many minutes without a GPU: add --quick for tiny shapes")
    return (QUICK_CASES if quick else TRAIN_CASES), RuntimeConfig()


def _row(timing: TrainTiming) -> tuple[str, ...]:
    return (
        f"{timing.problem}{timing.size} x {timing.rows}",
        f"{timing.horizon} / {timing.segment}",
        f"{timing.batch_s:.3f}",
        "-" if timing.authors_s is None else f"{timing.authors_s:g}",
        "-" if timing.times_faster is None else f"{timing.times_faster:.1f}",
        f"{timing.warm_up_step_ms:.2f}",
        f"{timing.set_up_s:.1f}",
        f"{timing.memory_gib:.2f}",
    )
