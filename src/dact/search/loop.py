"""The search loop: advance in chunks, look at the clock, keep a trace, and hand back the best even if interrupted."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Generator

from dact.kernels.rows import one_thread_per_operation
from dact.problems import Batch
from dact.search.engines import Engine
from dact.search.state import SearchState
from dact.search.stop import Stop


@dataclass(frozen=True)
class TracePoint:
    """A moment at which the best cost of an instance had fallen."""

    step: int
    seconds: float
    cost: float


Trace = tuple[TracePoint, ...]
Watcher = Callable[[float, int, float, float], None]
"""Called with (fraction done, steps done, seconds, mean best cost) whenever the loop looks up."""


@dataclass(frozen=True, kw_only=True)
class SearchRun:
    """Where the search ended, with a trace per instance."""

    state: SearchState
    steps: int
    seconds: float
    traces: tuple[Trace, ...]
    interrupted: bool


def run(
    engine: Engine,
    batch: Batch,
    state: SearchState,
    stop: Stop,
    generator: Generator,
    *,
    augment: int = 1,
    chunk: int = 1,
    watch: Watcher | None = None,
) -> SearchRun:
    """Search until `stop`, looking at the clock every `chunk` steps. Rows b * augment + a belong to instance b."""
    done, cost = 0, best_costs(state, augment)
    traces = [[TracePoint(0, stop.elapsed(), value)] for value in cost]
    interrupted = False
    try:
        while not stop.reached(done, max(cost)):
            steps = chunk if stop.steps is None else min(chunk, stop.steps - done)
            with one_thread_per_operation():
                state = engine.advance(batch, state, steps, generator)
            done += steps
            cost = best_costs(state, augment)
            for trace, value in zip(traces, cost, strict=True):
                if value < trace[-1].cost:
                    trace.append(TracePoint(done, stop.elapsed(), value))
            if watch is not None:
                watch(stop.fraction(done), done, stop.elapsed(), sum(cost) / len(cost))
    except KeyboardInterrupt:
        interrupted = True
    return SearchRun(
        state=state, steps=done, seconds=stop.elapsed(), traces=tuple(map(tuple, traces)), interrupted=interrupted
    )


def best_costs(state: SearchState, augment: int) -> list[float]:
    """The lowest incumbent cost of each instance over its augmentations."""
    costs: list[float] = state.incumbent_cost_B.view(-1, augment).amin(1).tolist()
    return costs
