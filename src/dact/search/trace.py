"""Traces of the best costs, stored in few arrays, so that tracing ten thousand instances costs next to nothing.

Shape letters: I instances, X those of them that a look found improved.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dact.instances.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class TracePoint:
    """An improvement of the best cost of an instance."""

    step: int
    seconds: float
    cost: float


Trace = tuple[TracePoint, ...]


class _Look(NamedTuple):
    step: int
    seconds: float
    better_X: IntArray
    """Which instances improved."""
    cost_X: FloatArray


@dataclass
class Record:
    """Improvements of all instances; `traces` converts them to a trace per instance."""

    cost_I: FloatArray
    """The best costs at the last call of `look`."""
    seconds: float
    _looks: list[_Look] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self._looks.append(_Look(0, self.seconds, np.arange(len(self.cost_I)), self.cost_I))

    def look(self, step: int, seconds: float, cost_I: FloatArray) -> None:
        """Record the best costs after some more steps."""
        better_X = np.flatnonzero(cost_I < self.cost_I)
        # A long search calls this a million times and improves a few hundred times.
        if len(better_X):
            self._looks.append(_Look(step, seconds, better_X, cost_I[better_X]))
            self.cost_I = np.minimum(cost_I, self.cost_I)

    def traces(self) -> tuple[Trace, ...]:
        """The trace of each instance, with strictly decreasing costs."""
        points: list[list[TracePoint]] = [[] for _ in self.cost_I]
        for step, seconds, better_X, cost_X in self._looks:
            for place, cost in zip(better_X.tolist(), cost_X.tolist(), strict=True):
                points[place].append(TracePoint(step, seconds, cost))
        return tuple(map(tuple, points))
