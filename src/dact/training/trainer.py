"""The run: horizons of segments by the schedule, validation, going back after a collapse, stopping and resuming."""

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dact.training.best import COLLAPSE, BestWeights, broken
from dact.training.buffers import write
from dact.training.checkpoint import Checkpoint, Progress
from dact.training.config import TrainConfig
from dact.training.curriculum import rate_factor, too_few_horizons
from dact.training.examiner import Examiner, Stopped
from dact.training.horizons import begin_horizon
from dact.training.keeping import keep, take_over
from dact.training.learner import Learner
from dact.training.recorder import Report, Silence
from dact.training.validation import Score, Validation

CHECKPOINT = "checkpoint.pt"
GO_ON, END, STOP = 0.0, 1.0, 2.0
SAVE_EVERY = 30.0
"""Seconds between checkpoints, beside those around validations: a kill loses no more, or the segment it fell into."""
RATE_STEP = 0.01
"""Of the progress by minutes, after which the learning rates follow it also within a horizon."""
FIRST_SHARE = 0.25
"""Of a call's time, that the first validation may take."""
PAUSE = 3.0
"""Time between two validations at least, over what one takes: training has most of it also on a slow machine."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When one call of a run ends, whatever is left of its schedule."""

    deadline: float = math.inf
    """By `time.perf_counter`. Time is kept for a last validation, unless one would take more than half of the call."""
    segments: float = math.inf
    """Segments in all."""
    stop: Callable[[], bool] = lambda: False
    """Asked before each segment, and during warm-ups and validations; True ends the call at once, without a last
    validation."""


class Trainer:
    """Trains a learner by its config's schedule."""

    def __init__(
        self,
        config: TrainConfig,
        learner: Learner,
        validation: Validation | None,
        recorder: Silence,
        folder: Path,
    ) -> None:
        self.config, self.learner, self.validation = config, learner, validation
        self.recorder, self.folder, self.team = recorder, folder, learner.team
        self.progress = Progress(processes=self.team.size)
        self.best = BestWeights(config, learner, folder)
        self.examiner = Examiner(validation, learner)
        self._clock = time.perf_counter()
        self._segment_began = self._clock
        self._measured_at = -1
        self._saved_at, self._save_due = 0.0, False
        self._between = True
        """True between segments: safe to checkpoint."""
        self._set_rates()

    @property
    def finished(self) -> bool:
        """Is the schedule done?"""
        return self._schedule_progress() >= 1

    def run(self, limits: Limits) -> bool:
        """Train until the schedule or a limit ends; True if the schedule is done.

        A checkpoint is written. After an error the one before stays, where it came in the middle of a segment, or to a
        team, whose other processes cannot be asked.
        """
        self._clock = time.perf_counter()
        asked = not self.team.connected
        try:
            self._loop(limits)
            asked = True
        except Stopped:
            asked = True
        finally:
            self._tick()
            if self._between and asked:
                self.save()
            self.recorder.close()
        return self.finished

    def save(self) -> None:
        """Write the checkpoint."""
        keep(self.folder / CHECKPOINT, self.config, self.learner, self.progress, self.best.tensors)
        self._saved_at = self.progress.seconds

    def resume(self, checkpoint: Checkpoint) -> None:
        """Take over where a checkpoint stands."""
        self.progress = checkpoint.progress
        self.learner.choose(self._batch())
        write(self.best.tensors, checkpoint.best)
        take_over(self.learner, checkpoint, self.config.seed + self.progress.segments)
        self.progress.processes = self.team.size
        self._set_rates()

    def _loop(self, limits: Limits) -> None:
        if self.progress.segments == 0:
            # From now on the folder holds a run, whatever ends it.
            self.save()
        with self._validating():
            self.examiner.begin(limits.deadline, limits.stop)
        if self.progress.segments == 0 and not self.progress.start_seen:
            self._first_validation(limits)
        begun = self.progress.segments
        while (verdict := self._verdict(limits)) == GO_ON:
            if self._save_due:
                self.save()
            self._between = False
            ready = self._ready(limits)
            if ready:
                self._segment_began = time.perf_counter()
                self.learner.segment()
                self.progress.segments += 1
            self._between = True
            self._tick()
            if self.progress.segments == begun + 1:
                self._say_if_slow()
            if ready and self.progress.segments % self.config.segments == 0:
                self._end_horizon()
        if verdict == END and self.progress.segments > max(begun, self._measured_at):
            self.save()
            self._last_validation()

    def _verdict(self, limits: Limits) -> float:
        """Go on, end, or stop at once. A team asks its first process."""
        verdict = GO_ON
        if self.finished:
            verdict = END
        elif limits.stop():
            verdict = STOP
        elif self.progress.segments >= limits.segments or self.examiner.training_ends():
            verdict = END
        due = self.progress.seconds - self._saved_at >= SAVE_EVERY
        verdict, self._save_due, times = self.team.broadcast(
            (verdict, due, (self.progress.seconds, self.progress.validating))
        )
        self.progress.seconds, self.progress.validating = times
        return verdict

    def _ready(self, limits: Limits) -> bool:
        """Set the rates, and begin a horizon where one ended; False if that was cut short and is to be done again."""
        horizon, within = divmod(self.progress.segments, self.config.segments)
        progress = self._schedule_progress()
        by_minutes = self.config.schedule.schedule_minutes > 0
        if not within or (by_minutes and progress > self.progress.horizon_progress + RATE_STEP):
            # On a slow machine a horizon may take a good part of the schedule.
            self.progress.horizon_progress = progress
            self._set_rates()
        if within:
            return True
        # A team would have to agree on where to stop.
        patient = self.team.connected
        return begin_horizon(
            self.learner,
            self.config.curriculum,
            horizon,
            self.progress,
            lambda: not patient and (limits.stop() or self.examiner.training_ends()),
        )

    def _end_horizon(self) -> None:
        """Read the numbers, validate if it is time, and go back if training has collapsed."""
        metrics = self.learner.read_metrics()
        self._tick()
        wrong, validate = broken(metrics), self._due()
        if wrong:
            self._record(metrics, None, self.best.roll_back(wrong, self.progress))
        elif validate:
            self.save()
            self._validate(metrics)
            self.save()
        else:
            self._record(metrics, None, "")

    def _validate(self, metrics: dict[str, float]) -> None:
        try:
            score = self._measure()
        except Stopped:
            self._record(metrics, None, "")
            raise
        self._record(metrics, score, self.best.judge(score, self.progress))

    def _first_validation(self, limits: Limits) -> None:
        """Where the run starts from. Untrained networks are no best to go back to: they may well beat the first
        trained ones, since a search that moves at random improves greedy starts."""
        if not self.team.broadcast(self.examiner.has_time(FIRST_SHARE)):
            log.info("the start is not measured: %s", self._too_slow())
            self.progress.start_seen = True
            return
        try:
            score = self._measure()
        except Stopped:
            # What did not fit into one call is left out, or short calls would never train.
            self.progress.start_seen = not limits.stop()
            raise
        self.progress.start_seen = True
        if self.progress.started_from:
            self.best.keep(score, self.progress)
        self._record({}, score, "start")

    def _last_validation(self) -> None:
        """Also the last weights of a call have a chance to be the best."""
        if not self.team.broadcast(self.examiner.has_time()):
            log.info("the last weights are not measured: %s", self._too_slow())
            return
        score = self._measure()
        self.best.export_if_best(score, self.progress)
        self._record({}, score, "end")

    def _measure(self) -> Score:
        with self._validating():
            score = self.examiner.measure()
        self.progress.validated_at = self.progress.seconds
        self._measured_at = self.progress.segments
        return score

    @contextmanager
    def _validating(self) -> Iterator[None]:
        """Time spent inside is not the schedule's."""
        self._tick()
        before = self.progress.seconds
        try:
            yield
        finally:
            self._tick()
            self.progress.validating += self.progress.seconds - before

    def _say_if_slow(self) -> None:
        seconds = time.perf_counter() - self._segment_began
        advice = too_few_horizons(self.config.schedule, self.config.segments, seconds)
        # A GPU has only been told to begin.
        if advice and not self.learner.metrics_M.is_cuda:
            log.info("a segment takes %.1f s here: %s", seconds, advice)

    def _too_slow(self) -> str:
        return f"a validation takes about {self.examiner.takes or 0:.0f} s here, too much of the time given"

    def _record(self, metrics: dict[str, float], score: Score | None, event: str) -> None:
        self.recorder.write(
            Report(
                segments=self.progress.segments,
                minutes=self.progress.seconds / 60,
                progress=self._schedule_progress(),
                warm_up_steps=self.progress.warm_up,
                actor_rate=self._actor_rate,
                metrics=metrics,
                validation_cost=None if score is None else score.cost,
                validation_gap=None if score is None else score.gap,
                best_cost=self.progress.best_cost if math.isfinite(self.progress.best_cost) else None,
                best_gap=self.progress.best_gap,
                event=event,
                collapsed=event.startswith(COLLAPSE),
            )
        )

    def _set_rates(self) -> None:
        schedule, progress = self.config.schedule, self.progress.horizon_progress
        factor = self.progress.rate_scale * rate_factor(schedule, progress)
        self._actor_rate = factor * self.config.ppo.actor_rate if progress >= schedule.critic_first else 0.0
        self.learner.optimiser.set_rates(self._actor_rate, factor * self.config.ppo.critic_rate)

    def _schedule_progress(self) -> float:
        horizons = self.progress.segments / self.config.segments
        return self.config.schedule.progress(horizons, (self.progress.seconds - self.progress.validating) / 60)

    def _batch(self) -> int:
        """The number of the current batch of instances, from 0."""
        return self.progress.segments // self.config.segments // self.config.curriculum.horizons

    def _due(self) -> bool:
        """Is it time to validate? The first process's clock says so."""
        config, horizon = self.config.validation, self.progress.segments // self.config.segments
        by_batches = config.every_batches > 0 and horizon % config.every_batches == 0
        waited = self.progress.seconds - self.progress.validated_at
        pause = max(config.every_seconds, PAUSE * (self.examiner.takes or 0.0))
        due = by_batches or (config.every_seconds > 0 and waited >= pause)
        return self.team.broadcast(due and self.examiner.has_time())

    def _tick(self) -> None:
        now = time.perf_counter()
        self.progress.seconds += now - self._clock
        self.progress.total_seconds += self.team.size * (now - self._clock)
        self._clock = now
