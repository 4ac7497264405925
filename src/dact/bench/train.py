"""Seconds one batch of training takes on this machine, beside what the authors' code took."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import torch

from dact.bench.measurements import device_name, triton_version
from dact.bench.timing import BatchTiming, time_batch
from dact.provenance import commit
from dact.training import PpoConfig, ScheduleConfig, TrainConfig


@dataclass(frozen=True, kw_only=True)
class TrainCase:
    """What to train, and the authors' seconds for a batch of it, where they are known, on one H200."""

    config: TrainConfig
    authors_s: float | None = None


def paper_case(
    problem: str, size: int, *, rows: int = 600, horizon: int = 200, segment: int = 4, authors_s: float | None = None
) -> TrainCase:
    """A batch by the paper's settings: three update epochs in each segment."""
    schedule, ppo = ScheduleConfig(rows=rows, horizon=horizon), PpoConfig(segment=segment)
    config = TrainConfig(name=f"{problem}{size}", problem=problem, size=size, schedule=schedule, ppo=ppo)
    return TrainCase(config=config, authors_s=authors_s)


TRAIN_CASES = (
    paper_case("tsp", 20, authors_s=20.0),
    paper_case("tsp", 50),
    paper_case("tsp", 100, authors_s=46.6),
    paper_case("cvrp", 100, rows=512, horizon=250, segment=5, authors_s=100.0),
)
QUICK_CASES = (
    paper_case("tsp", 10, rows=16, horizon=8),
    paper_case("cvrp", 10, rows=16, horizon=10, segment=5),
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
    positions: int
    rows: int
    horizon: int
    segment: int
    update_epochs: int
    share: float
    precision: str
    batch_s: float
    warm_up_step_ms: float
    new_batch_s: float
    set_up_s: float
    memory_gib: float
    authors_s: float | None
    times_faster: float | None


def measure_training(cases: tuple[TrainCase, ...]) -> Iterator[TrainTiming]:
    """Time each case with fresh networks."""
    for case in cases:
        yield _row(case, time_batch(case.config))


def _row(case: TrainCase, timing: BatchTiming) -> TrainTiming:
    config, authors = case.config, case.authors_s
    runtime = config.runtime.resolved()
    return TrainTiming(
        date=date.today().isoformat(),
        device=device_name(runtime.device),
        commit=commit(),
        torch=torch.__version__,
        triton=triton_version(),
        problem=config.problem,
        size=config.size,
        positions=timing.positions,
        rows=config.schedule.rows,
        horizon=config.schedule.horizon,
        segment=config.ppo.segment,
        update_epochs=config.ppo.update_epochs,
        share=config.ppo.share,
        precision=runtime.precision,
        batch_s=round(timing.batch, 4),
        warm_up_step_ms=round(1000 * timing.warm_up_step, 3),
        new_batch_s=round(timing.new_batch, 4),
        set_up_s=round(timing.set_up, 1),
        memory_gib=round(timing.memory_gib, 2),
        authors_s=authors,
        times_faster=None if authors is None else round(authors / timing.batch, 1),
    )
