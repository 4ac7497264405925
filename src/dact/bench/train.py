"""Seconds one batch of training takes on this machine, beside what the authors' code took."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import torch

from dact.bench.rows import device_name, triton_version
from dact.provenance import commit
from dact.training import BatchTiming, RuntimeConfig, TrainConfig, time_batch


@dataclass(frozen=True, kw_only=True)
class TrainCase:
    """The shape of a batch, and the authors' seconds for it, where they are known, on one H200."""

    problem: str
    size: int
    rows: int = 600
    horizon: int = 200
    segment: int = 4
    authors_s: float | None = None


TRAIN_CASES = (
    TrainCase(problem="tsp", size=20, authors_s=20.0),
    TrainCase(problem="tsp", size=50),
    TrainCase(problem="tsp", size=100, authors_s=46.6),
    TrainCase(problem="cvrp", size=100, rows=512, horizon=250, segment=5, authors_s=100.0),
)
"""The paper's settings: three update epochs in each segment."""

QUICK_CASES = (
    TrainCase(problem="tsp", size=10, rows=16, horizon=8),
    TrainCase(problem="cvrp", size=10, rows=16, horizon=10, segment=5),
)


@dataclass(frozen=True, kw_only=True)
class TrainTiming:
    """Seconds; `batch_s` is the median of three batches and has no warm-up in it."""

    date: str
    device: str
    commit: str
    torch: str
    triton: str
    problem: str
    size: int
    rows: int
    horizon: int
    segment: int
    precision: str
    batch_s: float
    warm_up_step_ms: float
    new_batch_s: float
    set_up_s: float
    memory_gib: float
    authors_s: float | None
    times_faster: float | None


def case_of(config: TrainConfig) -> TrainCase:
    """A config's own shape."""
    schedule = config.schedule
    return TrainCase(
        problem=config.problem,
        size=config.size,
        rows=schedule.rows,
        horizon=schedule.horizon,
        segment=config.ppo.segment,
    )


def measure_training(cases: tuple[TrainCase, ...], runtime: RuntimeConfig) -> Iterator[TrainTiming]:
    """Time each case with fresh networks, from random starts."""
    runtime = runtime.resolved()
    for case in cases:
        timing = time_batch(case.problem, case.size, case.rows, case.horizon, case.segment, runtime=runtime)
        yield _row(case, timing, runtime)


def _row(case: TrainCase, timing: BatchTiming, runtime: RuntimeConfig) -> TrainTiming:
    authors = case.authors_s
    return TrainTiming(
        date=date.today().isoformat(),
        device=device_name(runtime.device),
        commit=commit(),
        torch=torch.__version__,
        triton=triton_version(),
        problem=case.problem,
        size=case.size,
        rows=case.rows,
        horizon=case.horizon,
        segment=case.segment,
        precision=runtime.precision,
        batch_s=round(timing.batch, 4),
        warm_up_step_ms=round(1000 * timing.warm_up_step, 3),
        new_batch_s=round(timing.new_batch, 4),
        set_up_s=round(timing.set_up, 1),
        memory_gib=round(timing.memory_gib, 2),
        authors_s=authors,
        times_faster=None if authors is None else round(authors / timing.batch, 1),
    )
