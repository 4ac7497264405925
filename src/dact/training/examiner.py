"""Validation within the time limit of a call."""

import math
import time
from collections.abc import Callable

from dact.training.learner import Learner
from dact.training.validation import Score, Validation, ValidationConfig

MARGIN = 1.25
"""Time reserved for the last validation, as a multiple of its estimated duration."""

PAUSE = 3.0
"""Least time between two validations, as a multiple of their duration, so that training keeps most of the time."""


class Stopped(Exception):  # noqa: N818 - not an error
    """A validation was interrupted."""


class Examiner:
    """Validates the learner's weights where time allows. In a team, the first process validates and decides."""

    def __init__(self, validation: Validation | None, learner: Learner) -> None:
        self.validation, self.learner = validation, learner
        self._begun, self._deadline = 0.0, math.inf
        self._stop: Callable[[], bool] = lambda: False

    @property
    def takes(self) -> float | None:
        """Seconds per validation, if known."""
        return None if self.validation is None else self.validation.seconds

    def begin(self, deadline: float, stop: Callable[[], bool]) -> None:
        """Start a call. With a deadline, estimate the duration of a validation from a few steps."""
        self._begun, self._deadline, self._stop = time.perf_counter(), deadline, stop
        if self.validation is not None and self._begun < deadline < math.inf:
            self.validation.estimate()

    def has_time(self, share: float = 1.0) -> bool:
        """Would a validation take at most this share of the remaining time?"""
        left = self._deadline - time.perf_counter()
        return left > 0 and (self.takes or 0.0) <= share * left

    def due(self, config: ValidationConfig, horizons: int, waited: float) -> bool:
        """Is it time for a validation, after so many horizons and so many seconds since the last?"""
        by_batches = config.every_batches > 0 and horizons % config.every_batches == 0
        pause = max(config.every_seconds, PAUSE * (self.takes or 0.0))
        return (by_batches or (config.every_seconds > 0 and waited >= pause)) and self.has_time()

    def too_slow(self) -> str:
        """Why a validation is left out."""
        return f"a validation takes about {self.takes or 0:.0f} s here, too much of the time given"

    def training_ends(self) -> bool:
        """Is it time to stop training: only the last validation fits, or, if that would take most of the call, no time
        is left?"""
        needed = MARGIN * (self.takes or 0.0)
        kept = needed if needed <= (self._deadline - self._begun) / 2 else 0.0
        return time.perf_counter() >= self._deadline - kept

    def measure(self) -> Score:
        """Validate the weights, or their moving average if there is one; every process of a team gets the score."""

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
