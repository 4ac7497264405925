"""Milliseconds per step on this CPU, compared with the authors' code."""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

import torch

from dact.bench.measurements import cpu_name, percentiles
from dact.cards import UNTRAINED
from dact.instances import generate_set
from dact.kernels.row_draws import streams
from dact.policy import find_weights
from dact.problems import PROBLEMS
from dact.provenance import commit
from dact.search import PlainEngine, SearchConfig, start_state
from dact.threads import one_thread_per_operation


@dataclass(frozen=True, kw_only=True)
class CpuCase:
    """A workload and the authors' time for it, measured on two otherwise idle EPYC cores."""

    problem: str
    size: int
    rows: int
    authors_ms: float
    steps: int


CASES = (
    CpuCase(problem="tsp", size=100, rows=1, authors_ms=14, steps=200),
    CpuCase(problem="tsp", size=100, rows=64, authors_ms=333, steps=20),
    CpuCase(problem="cvrp", size=100, rows=1, authors_ms=24, steps=200),
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


def measure_cpu(cases: tuple[CpuCase, ...] = CASES, most_threads: int | None = None) -> Iterator[Timing]:
    """Time every case with 1, 2, ... threads; the number of threads is restored at the end."""
    before, cores = torch.get_num_threads(), os.cpu_count() or 1
    if most_threads is not None and not 1 <= most_threads <= 2**10:
        raise ValueError(f"threads {most_threads} is not between 1 and {2**10}")
    try:
        for case in cases:
            step = _stepper(case)
            for threads in range(1, (most_threads or cores) + 1):
                torch.set_num_threads(threads)
                yield _timing(case, threads, step)
    finally:
        torch.set_num_threads(before)


def _stepper(case: CpuCase) -> Callable[[], None]:
    """A function that makes one step of a search with random weights."""
    problem = PROBLEMS[case.problem]
    batch = problem.collate_set(generate_set(case.problem, case.size, case.rows, seed=0))
    policy = find_weights(problem.name, problem.features, case.size, UNTRAINED).policy
    engine = PlainEngine(problem, policy, SearchConfig())
    tour_BN = problem.greedy_start(batch)
    state = start_state(tour_BN, batch.cost(tour_BN), streams(0, range(case.rows), batch.device))

    def step() -> None:
        nonlocal state
        with one_thread_per_operation():
            state = engine.advance(batch, state, 1)

    return step


def _timing(case: CpuCase, threads: int, step: Callable[[], None]) -> Timing:
    for _ in range(max(2, case.steps // 5)):
        step()
    seconds = []
    for _ in range(case.steps):
        began = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - began)
    p20, p50, p80 = percentiles([1000 * each for each in seconds])
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
