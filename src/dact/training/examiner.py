"""Validations within the time that a call has."""

import math
import time
from collections.abc import Callable

from dact.training.learner import Learner
from dact.training.validation import Score, Validation

MARGIN = 1.25
"""Time kept for the last validation, over what one is thought to take."""


class Stopped(Exception):  # noqa: N818 - not an error
    """A validation was cut short."""


class Examiner:
    """Measures the learner's weights, and knows whether there is time to. The first process of a team does both."""

    def __init__(self, validation: Validation | None, learner: Learner) -> None:
        self.validation, self.learner = validation, learner
        self._begun, self._deadline = 0.0, math.inf
        self._stop: Callable[[], bool] = lambda: False

    @property
    def takes(self) -> float | None:
        """Seconds that a validation takes here, if that is known."""
        return None if self.validation is None else self.validation.seconds

    def begin(self, deadline: float, stop: Callable[[], bool]) -> None:
        """A call begins. Where its time is limited, a few steps tell how much of it a validation takes."""
        self._begun, self._deadline, self._stop = time.perf_counter(), deadline, stop
        if self.validation is not None and self._begun < deadline < math.inf:
            self.validation.estimate()

    def has_time(self, share: float = 1.0) -> bool:
        """Does a validation take no more than this share of the time that is left?"""
        left = self._deadline - time.perf_counter()
        return left > 0 and (self.takes or 0.0) <= share * left

    def training_ends(self) -> bool:
        """Is only the time of a last validation left, or none at all where one would take most of the call?"""
        needed = MARGIN * (self.takes or 0.0)
        kept = needed if needed <= (self._deadline - self._begun) / 2 else 0.0
        return time.perf_counter() >= self._deadline - kept

    def measure(self) -> Score:
        """The score of the weights as they would be used, on every process."""

        def stop() -> bool:
            return self._stop() or time.perf_counter() >= self._deadline

        with self.learner.optimiser.smoothed():
            score = self.validation.measure(stop) if self.validation is not None else Score(math.nan)
        stopped, score = score is None, score or Score(math.nan)
        gap = math.nan if score.gap is None else score.gap
        cost, gap, compared, stopped = self.learner.team.broadcast((score.cost, gap, score.compared, stopped))
        if stopped:
            raise Stopped
        return Score(cost, None if math.isnan(gap) else gap, int(compared))
