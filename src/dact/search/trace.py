"""How the best costs of a search fell, kept in few arrays: looking at ten thousand instances must cost a GPU nothing.

Shape letters: I instances, X those of them that a look found improved.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dact.instances.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class TracePoint:
    """A moment at which the best cost of an instance had fallen."""

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
    """What each look found; `traces` builds the curves on request."""

    cost_I: FloatArray
    """The best costs at the last look."""
    seconds: float
    _looks: list[_Look] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        self._looks.append(_Look(0, self.seconds, np.arange(len(self.cost_I)), self.cost_I))

    def look(self, step: int, seconds: float, cost_I: FloatArray) -> None:
        """The best costs after some more steps."""
        better_X = np.flatnonzero(cost_I < self.cost_I)
        # A long search looks up a million times and finds something a few hundred times.
        if len(better_X):
            self._looks.append(_Look(step, seconds, better_X, cost_I[better_X]))
            self.cost_I = np.minimum(cost_I, self.cost_I)

    def traces(self) -> tuple[Trace, ...]:
        """The points of each instance, at strictly falling costs."""
        points: list[list[TracePoint]] = [[] for _ in self.cost_I]
        for step, seconds, better_X, cost_X in self._looks:
            for place, cost in zip(better_X.tolist(), cost_X.tolist(), strict=True):
                points[place].append(TracePoint(step, seconds, cost))
        return tuple(map(tuple, points))
