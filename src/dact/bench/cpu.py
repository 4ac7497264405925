"""Milliseconds a step takes on this CPU, beside what the authors' code took."""

import csv
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import date
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from dact.instances import generate_set
from dact.instances.errors import InputError
from dact.kernels.rows import one_thread_per_operation
from dact.policy import find_weights
from dact.policy.weights import UNTRAINED
from dact.problems import PROBLEMS
from dact.search import PlainEngine, SearchConfig, start_state

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, kw_only=True)
class Case:
    """A workload and the authors' time for it, measured on two otherwise idle EPYC cores."""

    problem: str
    size: int
    rows: int
    authors_ms: float
    steps: int


CASES = (
    Case(problem="tsp", size=100, rows=1, authors_ms=14, steps=200),
    Case(problem="tsp", size=100, rows=64, authors_ms=333, steps=20),
    Case(problem="cvrp", size=100, rows=1, authors_ms=24, steps=200),
)


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Percentiles of the milliseconds of single steps."""

    date: str
    cpu: str
    commit: str
    torch: str
    problem: str
    size: int
    rows: int
    threads: int
    p20_ms: float
    p50_ms: float
    p80_ms: float
    authors_ms: float
    times_faster: float


def measure_cpu(cases: tuple[Case, ...] = CASES, most_threads: int | None = None) -> Iterator[Timing]:
    """Time every case with 1, 2, ... threads; the number of threads is put back at the end."""
    before = torch.get_num_threads()
    try:
        for case in cases:
            step = _stepper(case)
            for threads in range(1, (most_threads or os.cpu_count() or 1) + 1):
                torch.set_num_threads(threads)
                yield _timing(case, threads, step)
    finally:
        torch.set_num_threads(before)


def append_rows(path: Path, timings: "Sequence[DataclassInstance]") -> None:
    """Add records of one kind to a CSV file, which is made where there is none."""
    fresh = not path.exists()
    try:
        with path.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, fieldnames=[each.name for each in fields(timings[0])])
            if fresh:
                writer.writeheader()
            writer.writerows(asdict(timing) for timing in timings)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror})") from None


def cpu_name() -> str:
    """The model as Linux knows it, else what Python says."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.is_file() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


@cache
def commit() -> str:
    """Which source was measured; empty outside a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _stepper(case: Case) -> Callable[[], None]:
    """A function that makes one step of a search with random weights."""
    problem = PROBLEMS[case.problem]
    batch = problem.collate_set(generate_set(case.problem, case.size, case.rows, seed=0))
    policy = find_weights(problem.name, problem.features, case.size, UNTRAINED).policy
    engine = PlainEngine(problem, policy, SearchConfig())
    generator = torch.Generator().manual_seed(0)
    tour_BN = problem.greedy_start(batch)
    state = start_state(tour_BN, batch.cost(tour_BN))

    def step() -> None:
        nonlocal state
        with one_thread_per_operation():
            state = engine.advance(batch, state, 1, generator)

    return step


def _timing(case: Case, threads: int, step: Callable[[], None]) -> Timing:
    for _ in range(max(2, case.steps // 5)):
        step()
    seconds = []
    for _ in range(case.steps):
        began = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - began)
    p20, p50, p80 = (round(float(ms), 3) for ms in 1000 * np.percentile(seconds, (20, 50, 80)))
    return Timing(
        date=date.today().isoformat(),
        cpu=cpu_name(),
        commit=commit(),
        torch=torch.__version__,
        problem=case.problem,
        size=case.size,
        rows=case.rows,
        threads=threads,
        p20_ms=p20,
        p50_ms=p50,
        p80_ms=p80,
        authors_ms=case.authors_ms,
        times_faster=round(case.authors_ms / p50, 2),
    )
