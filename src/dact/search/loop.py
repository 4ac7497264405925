"""The search loop: advance in chunks, check the clock, keep a trace, and return the best even if interrupted."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dact.instances.arrays import FloatArray
from dact.problems import Batch
from dact.search.searcher import Searcher
from dact.search.state import SearchState
from dact.search.stop import Stop
from dact.search.trace import Record, Trace
from dact.threads import one_thread_per_operation


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """State of a running search, for watchers. Tensors are the searcher's own: copy what you keep."""

    batch: Batch
    state: SearchState
    augment: int
    """Rows b * augment to (b + 1) * augment - 1 belong to instance b."""
    stop: Stop
    steps: int
    cost_I: FloatArray
    """The best cost of each instance so far."""

    @property
    def fraction(self) -> float:
        """How far along, from 0 to 1."""
        return self.stop.fraction(self.steps)

    @property
    def seconds(self) -> float:
        """Since the search began."""
        return self.stop.elapsed()

    @property
    def cost(self) -> float:
        """The mean best cost."""
        return float(self.cost_I.mean())


ASK_EVERY = 0.1
"""Seconds between two questions to the watcher while a chunk or the last descent runs."""
Watcher = Callable[[Snapshot], bool | None]
"""Called after every chunk of steps. To end the search, return True or raise KeyboardInterrupt."""


@dataclass(frozen=True, kw_only=True)
class SearchRun:
    """The final state of a search, and the record of its progress."""

    state: SearchState
    steps: int
    seconds: float
    record: Record
    interrupted: bool
    last: Snapshot | None = None
    """The last one that was shown to the watcher."""

    @property
    def traces(self) -> tuple[Trace, ...]:
        """Of each instance."""
        return self.record.traces()


@dataclass
class End:
    """When work behind a search ends: at a deadline by `time.perf_counter`, or as soon as the watcher says so."""

    seen: Snapshot | None
    """What to show it meanwhile."""
    watch: Watcher | None
    deadline: float = math.inf
    asked_at: float = -math.inf
    """When the watcher was asked for the last time."""
    interrupted: bool = field(default=False, init=False)

    def show(self, seen: Snapshot) -> None:
        """Show this, and from now on. Raises KeyboardInterrupt if the watcher says so, or has said so meanwhile."""
        self.seen, self.asked_at = seen, time.perf_counter()
        if self.interrupted or (self.watch is not None and self.watch(seen)):
            raise KeyboardInterrupt

    def reached(self) -> bool:
        """Is it time to end?"""
        now = time.perf_counter()
        if self.watch is not None and self.seen is not None and now - self.asked_at >= ASK_EVERY:
            self.asked_at = now
            try:
                self.interrupted = bool(self.watch(self.seen))
            except KeyboardInterrupt:
                self.interrupted = True
        return self.interrupted or now > self.deadline


@dataclass
class Pace:
    """Steps per chunk: `chunk`, or the multiple of it that takes about `seconds`.

    A chunk is at most four times as long as the one before, however fast that seemed: a clock may stand still.
    """

    chunk: int = 1
    seconds: float = 0.0
    _step_seconds: float = field(default=math.inf, init=False)
    _most: int = field(default=1, init=False)

    def steps(self, left: float) -> int:
        """Steps of the next chunk, given the seconds left; the first one measures the speed."""
        chunks = min(self.seconds, left) / (self._step_seconds * self.chunk)
        return self.chunk * max(1, min(int(chunks), self._most))

    def took(self, steps: int, seconds: float) -> None:
        """Record how long some steps took."""
        self._step_seconds = max(seconds, 1e-9) / steps
        self._most = 4 * max(1, steps // self.chunk)


def run(
    searcher: Searcher,
    batch: Batch,
    state: SearchState,
    stop: Stop,
    *,
    augment: int = 1,
    pace: Pace | None = None,
    watch: Watcher | None = None,
) -> SearchRun:
    """Search until `stop`, looking at the clock at a `pace` (default: after every step).

    Rows b * augment + a belong to instance b.
    """
    pace = pace or Pace()
    done, record, interrupted = 0, Record(best_costs(state, augment), stop.elapsed()), False

    def now() -> Snapshot:
        return Snapshot(batch=batch, state=state, augment=augment, stop=stop, steps=done, cost_I=record.cost_I)

    end, begun = End(now(), watch, asked_at=time.perf_counter()), False
    stop.asks = end.reached
    try:
        while not stop.reached(done, float(record.cost_I.max()), begun=begun):
            steps = int(min(pace.steps(stop.left()), stop.steps_left(done)))
            began, begun = stop.elapsed(), True
            with one_thread_per_operation():
                state = searcher.advance(batch, state, steps)
            done = searcher.steps_made(state, done + steps)
            record.look(done, stop.elapsed(), best_costs(state, augment))
            pace.took(steps, stop.elapsed() - began)
            end.show(now())
    except KeyboardInterrupt:
        interrupted = True
    finally:
        stop.asks = None
    seconds = stop.elapsed()
    return SearchRun(state=state, steps=done, seconds=seconds, record=record, interrupted=interrupted, last=end.seen)


def best_costs(state: SearchState, augment: int) -> FloatArray:
    """(I,): the lowest incumbent cost of each instance over its augmentations. Waits for the device."""
    cost_I: FloatArray = state.incumbent_cost_B.view(-1, augment).amin(1).double().cpu().numpy()
    return cost_I
