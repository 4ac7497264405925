"""What the benchmark scripts share: the table, the clock, and a section per kernel that may fail on its own."""

import csv
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import astuple, dataclass, field, fields
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
REPEATS = 20
CHECKED = 64
"""Rows that are compared with the reference."""
REFERENCE_ROWS = 1000
"""References are timed on at most this many rows, and their time is scaled up."""


@dataclass
class Row:
    """A line of the table."""

    what: str
    B: int
    N: int
    dtype: str
    error: float
    reference_ms: float
    kernel_ms: float
    note: str = ""

    def __str__(self) -> str:
        times = f"{self.reference_ms:10.3f} {self.kernel_ms:9.3f} {self.reference_ms / self.kernel_ms:7.1f}x"
        return f"{self.what:<28}{self.B:>7}{self.N:>5} {self.dtype:<9}{self.error:9.1e} {times}  {self.note}"


@dataclass
class Bench:
    """Settings of a run and what came of it."""

    rows: int
    training_rows: int
    sizes: list[int]
    sweep: bool
    deadline: float
    table: list[Row] = field(default_factory=list)

    def add(self, *values: object) -> None:
        """Keep a line and print it, so that a run cut short has said what it knows."""
        self.table.append(Row(*values))  # type: ignore[arg-type]
        print(self.table[-1], flush=True)


def wait() -> None:
    """Until the GPU has nothing left to do."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def milliseconds(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Median time of a call on the GPU."""
    if DEVICE == "cpu":
        start = time.perf_counter()
        work()
        return 1000 * (time.perf_counter() - start)
    for _ in range(3):
        work()
    pairs = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(repeats)]
    for start, end in pairs:
        start.record()
        work()
        end.record()
    wait()
    return statistics.median(start.elapsed_time(end) for start, end in pairs)


def reference_milliseconds(rows: int, work: Callable[[int], object]) -> float:
    """Time of the reference for all rows, measured on some."""
    some = min(rows, REFERENCE_ROWS)
    return milliseconds(partial(work, some), 5) * rows / some


def distance(left: Tensor | tuple[Tensor, ...], right: Tensor | tuple[Tensor, ...]) -> float:
    """Relative distance, the largest of several."""
    if isinstance(left, tuple) and isinstance(right, tuple):
        return max(distance(a, b) for a, b in zip(left, right, strict=True))
    return float((left.double() - right.double()).norm() / right.double().norm())  # type: ignore[union-attr]


def compile_ahead(script: str, jobs: list[list[str]], seconds: float = 90) -> None:
    """Fill Triton's cache: the script once per job at the same time, on few rows, with nothing shown."""
    command = [sys.executable, script, "--rows", "1024", "--training-rows", "64", "--ahead", "no"]
    quiet = subprocess.DEVNULL
    workers = [subprocess.Popen([*command, *job], stdout=quiet, stderr=quiet) for job in jobs]
    deadline = time.monotonic() + seconds
    for worker in workers:
        try:
            worker.wait(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            worker.kill()


def report(bench: Bench) -> None:
    """The table, on the screen and as CSV where $OUT names a folder."""
    print(f"\n{torch.cuda.get_device_name() if DEVICE == 'cuda' else DEVICE}, PyTorch {torch.__version__}")
    print(f"{'what':<28}{'B':>7}{'N':>5} {'dtype':<9}{'error':>9} {'ref ms':>10} {'ms':>9} {'speed':>8}")
    for row in bench.table:
        print(row)
    if "OUT" in os.environ:
        with (Path(os.environ["OUT"]) / "kernels.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(column.name for column in fields(Row))
            writer.writerows(astuple(row) for row in bench.table)
