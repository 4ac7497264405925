"""When a search ends."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Stop:
    """Limits on steps, seconds and cost; the first one reached ends the search. The clock starts at the first call."""

    steps: int | None = None
    seconds: float | None = None
    target: float | None = None
    marks: tuple[int, ...] = ()
    """Numbers of steps after which the loop looks at the state, whatever its pace."""
    asks: Callable[[], bool] | None = field(default=None, init=False)
    """Has somebody asked for an end? For methods whose chunks may take long."""
    _started: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.steps is None and self.seconds is None:
            raise ValueError("a search needs a limit on steps or seconds")
        if self.steps is not None and not 0 <= self.steps < 2**63:
            raise ValueError(f"steps {self.steps} is {'below 0' if self.steps < 0 else 'not below 2^63'}")
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise ValueError(f"time limit {self.seconds} is not a positive number of seconds")
        if self.target is not None and math.isnan(self.target):
            raise ValueError("target nan is not a number")

    def elapsed(self) -> float:
        """Seconds since the clock was started."""
        if self._started is None:
            self._started = time.perf_counter()
        return time.perf_counter() - self._started

    def leave_out(self, seconds: float) -> None:
        """Exclude this much of the elapsed time."""
        self._started = time.perf_counter() - self.elapsed() + seconds

    def left(self) -> float:
        """Seconds until the time limit; infinite without one."""
        return math.inf if self.seconds is None else self.seconds - self.elapsed()

    def leave(self, seconds: float) -> None:
        """Stop earlier by these seconds, at most a tenth of the time limit, to leave time for what follows."""
        if self.seconds is not None:
            self.seconds -= min(seconds, 0.1 * self.seconds)

    def deadline(self, grace: float) -> float:
        """When the time limit and some seconds of grace are over, by `time.perf_counter`."""
        return time.perf_counter() + max(0.0, self.left()) + grace

    def late(self) -> bool:
        """Is the time up, or has somebody asked for an end?"""
        return self.left() <= 0 or (self.asks is not None and self.asks())

    def reached(self, steps_done: int, cost: float, *, begun: bool = True) -> bool:
        """Should the search stop? Time that is up before it has `begun` does not count: any search beats none."""
        if self.steps is not None and steps_done >= self.steps:
            return True
        # Costs are never negative: at 0 there is nothing left to improve.
        if cost <= max(0.0, self.target or 0.0):
            return True
        return begun and self.left() <= 0

    def steps_left(self, steps_done: int) -> float:
        """Steps until the next mark or the limit; infinite if there is neither."""
        ahead = (each - steps_done for each in (*self.marks, self.steps) if each is not None)
        return min((steps for steps in ahead if steps > 0), default=math.inf)

    def fraction(self, steps_done: int) -> float:
        """How far along, from 0 to 1, by whichever limit is nearer."""
        by_steps = steps_done / self.steps if self.steps else float(self.steps == 0)
        by_time = self.elapsed() / self.seconds if self.seconds else 0.0
        return min(1.0, max(by_steps, by_time))
