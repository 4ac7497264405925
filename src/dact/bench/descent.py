"""How long a descent from greedy starts takes, without any kick."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from statistics import median
from typing import TypeVar

import numpy as np
import torch

from dact.bench.hybrid import mean_and_error
from dact.bench.measurements import device_name
from dact.bench.searches import SetBench, tiled
from dact.instances import InstanceSet
from dact.kernels.descent.job import COUNTS
from dact.pipeline import Pipeline, SolveConfig, judge
from dact.provenance import commit
from dact.search import HybridSearcher, HybridState, Stop, start_state

REPEATS = 5
Made = TypeVar("Made")


@dataclass(frozen=True, kw_only=True)
class DescentTiming:
    """Medians of the repeats, in milliseconds; on a GPU by CUDA events."""

    date: str
    device: str
    commit: str
    torch: str
    instances: str
    rows: int
    neighbours: int
    begin_ms: float
    """Lists of neighbours, and what else is made once for each instance."""
    descent_ms: float
    rows_per_s: float
    """Of the descent alone."""
    moves: float
    """Of a row."""
    cost: float
    gap: float | None
    error: float | None


def measure_descent(bench: SetBench, config: SolveConfig, repeats: int = REPEATS) -> DescentTiming:
    """Descents of all copies of the set; the tours are checked and costed in float64."""
    instances = tiled(bench.distinct, bench.count)
    begin_ms, descent_ms, state, tour_IN = _descents(instances, config, repeats)
    costs, known_D = judge(instances, tour_IN, state.terrain.depots), bench.known_D
    gap, error = None, None
    if known_D is not None:
        gap, error = mean_and_error(100 * (costs / np.resize(known_D, bench.count) - 1), bench.different)
    return DescentTiming(
        date=date.today().isoformat(),
        device=device_name(config.torch_device().type),
        commit=commit(),
        torch=torch.__version__,
        instances=bench.name,
        rows=bench.count,
        neighbours=state.settings.neighbours,
        begin_ms=round(begin_ms, 3),
        descent_ms=round(descent_ms, 3),
        rows_per_s=round(1000 * bench.count / descent_ms, 1),
        moves=round(float(state.rows.count_R6[:, COUNTS.index("moves")].double().mean()), 1),
        cost=float(costs.mean()),
        gap=gap,
        error=error,
    )


@torch.inference_mode()
def _descents(
    instances: InstanceSet, config: SolveConfig, repeats: int
) -> tuple[float, float, HybridState, np.ndarray]:
    """Milliseconds to begin and to descend, the state of the last repeat, and its tours."""
    pipeline = Pipeline.build(instances.problem, instances.customers, config, steady=True)
    batch = pipeline.problem.collate_set(instances).to(pipeline.device)
    tour_BN, stream_B = pipeline.starts(batch, range(batch.rows))
    start = start_state(tour_BN, batch.cost(tour_BN), stream_B)
    searcher = pipeline.searcher
    assert isinstance(searcher, HybridSearcher)
    searcher.limit(Stop(steps=0))
    searcher.prepare(batch, start)
    times: list[tuple[float, float]] = []
    for _ in range(1 + repeats):
        begin_ms, state = _timed(partial(searcher.begin, batch, start), pipeline.device)
        descent_ms, _ = _timed(partial(searcher.descend, state), pipeline.device)
        times.append((begin_ms, descent_ms))
    best_BN = searcher.advance(batch, state, 0).incumbent_BN
    begin, descent = (median(column) for column in zip(*times[1:], strict=True))
    return begin, descent, state, best_BN.cpu().numpy()


def _timed(work: Callable[[], Made], device: torch.device) -> tuple[float, Made]:
    """Milliseconds, and what came of it."""
    if device.type == "cuda":
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        start.record()
        made = work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end), made
    began = time.perf_counter()
    made = work()
    return 1000 * (time.perf_counter() - began), made
