"""The training loop: horizons of segments, validation, rollback after a collapse, stopping and resuming."""

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
from dact.training.keeping import Keeper, take_over
from dact.training.learner import Learner
from dact.training.recorder import Report, Silence
from dact.training.validation import Score, Validation

GO_ON, END, STOP = 0.0, 1.0, 2.0
RATE_STEP = 0.01
"""Progress after which the learning rates are updated within a horizon."""
FIRST_SHARE = 0.25
"""Largest share of a call's time for the first validation."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one call of a run, besides its schedule."""

    deadline: float = math.inf
    """By `time.perf_counter`. Includes the last validation, unless that would take more than half of the call."""
    segments: float = math.inf
    """Total number of segments to stop at."""
    stop: Callable[[], bool] = lambda: False
    """Called before each segment, and during warm-ups and validations; True ends the call without a last
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
        self.keeper = Keeper(folder, config, learner, self.best.tensors)
        self._segment_seconds = 0.0
        """Duration of the last segment."""
        self._measured_at = -1
        self._between = True
        """True between segments: safe to checkpoint."""
        self._set_rates()

    @property
    def finished(self) -> bool:
        """Is the schedule complete?"""
        return self._schedule_progress() >= 1

    def run(self, limits: Limits) -> bool:
        """Train until the schedule is complete (returns True) or a limit is reached, and write a checkpoint. After an
        error within a segment, or in a team, the previous checkpoint remains.
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
        self.keeper.save(self.progress)

    def resume(self, checkpoint: Checkpoint) -> None:
        """Restore a checkpoint."""
        self.progress = checkpoint.progress
        self.learner.choose(self._batch())
        write(self.best.tensors, checkpoint.best)
        if not take_over(self.learner, checkpoint, self.config.seed + self.progress.segments):
            self.progress.walking, self.progress.walked = "", 0
        self.progress.processes = self.team.size
        self._set_rates()

    def _loop(self, limits: Limits) -> None:
        if self.progress.segments == 0:
            # From now on the folder holds a run that can be resumed.
            self.save()
        with self._validating():
            self.examiner.begin(limits.deadline, limits.stop)
        if self.progress.segments == 0 and not self.progress.start_seen:
            self._first_validation(limits)
        if self.progress.unseen:
            self._end_horizon()
        begun = self.progress.segments
        while (verdict := self._verdict(limits)) == GO_ON:
            self._between = False
            if self._ready(limits):
                self._segment()
            self._between = True
            if self.progress.segments == begun + 1:
                self._say_if_slow()
            if self.progress.unseen:
                self._end_horizon()
        if verdict == END and self.progress.segments > max(begun, self._measured_at):
            self.save()
            self._last_validation()

    def _segment(self) -> None:
        self._tick()
        before = self.progress.seconds
        self.learner.segment()
        self.progress.segments += 1
        self.progress.unseen = self.progress.segments % self.config.segments == 0
        self._tick()
        self._segment_seconds = self.progress.seconds - before

    def _verdict(self, limits: Limits) -> float:
        """Continue, end with a validation, or stop at once; saves if due. In a team the first process decides."""
        verdict = GO_ON
        if self.finished:
            verdict = END
        elif limits.stop():
            verdict = STOP
        elif self.progress.segments >= limits.segments or self.examiner.training_ends():
            verdict = END
        due = verdict == GO_ON and self.keeper.due(self.progress, self._segment_seconds)
        verdict, due, times = self.team.broadcast((verdict, due, (self.progress.seconds, self.progress.validating)))
        self.progress.seconds, self.progress.validating = times
        if due:
            self.save()
        return verdict

    def _warm_up_ends(self, limits: Limits) -> bool:
        """Called between warm-up steps, which may take minutes on a CPU."""
        self._tick()
        return self._verdict(limits) != GO_ON

    def _ready(self, limits: Limits) -> bool:
        """Set the learning rates, and start a horizon if one is due; False if that was interrupted."""
        horizon, within = divmod(self.progress.segments, self.config.segments)
        progress = self._schedule_progress()
        if not within or progress > self.progress.horizon_progress + RATE_STEP:
            # On a slow machine, or in a short run, one horizon may be a large part of the schedule.
            self.progress.horizon_progress = progress
            self._set_rates()
        if within:
            return True
        return begin_horizon(
            self.learner, self.config.curriculum, horizon, self.progress, lambda: self._warm_up_ends(limits)
        )

    def _end_horizon(self) -> None:
        """Read metrics, validate if due, and roll back if training has collapsed.

        A run that is killed during a validation repeats all this, so that it keeps the same best weights.
        """
        validate = self._due()
        if validate:
            self.save()
        metrics = self.learner.read_metrics()
        self._tick()
        self.progress.unseen = False
        if wrong := broken(metrics):
            self._record(metrics, None, self.best.roll_back(wrong, self.progress))
        elif validate:
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
        """Validate the initial weights. Untrained networks never count as best weights: they may beat the first
        trained ones, since random moves improve greedy starts too."""
        if not self.team.broadcast(self.examiner.has_time(FIRST_SHARE)):
            log.info("the start is not measured: %s", self.examiner.too_slow())
            self.progress.start_seen = True
            return
        try:
            score = self._measure()
        except Stopped:
            # Skipped for good if it does not fit into a call; otherwise short calls would never train.
            self.progress.start_seen = not limits.stop()
            raise
        self.progress.start_seen = True
        if self.progress.started_from:
            self.best.keep(score, self.progress)
        self._record({}, score, "start")

    def _last_validation(self) -> None:
        """Validate the last weights of a call, which may be the best."""
        if not self.team.broadcast(self.examiner.has_time()):
            log.info("the last weights are not measured: %s", self.examiner.too_slow())
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
        """Time spent inside does not count in the schedule."""
        self._tick()
        before = self.progress.seconds
        try:
            yield
        finally:
            self._tick()
            self.progress.validating += self.progress.seconds - before

    def _say_if_slow(self) -> None:
        seconds = self._segment_seconds
        advice = too_few_horizons(self.config.schedule, self.config.segments, seconds)
        # On a GPU the call returns before the segment has run.
        if advice and not self.learner.metrics_M.is_cuda:
            log.info("a segment takes %.1f s here: %s", seconds, advice)

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
        """Index of the current batch of instances."""
        return self.progress.segments // self.config.segments // self.config.curriculum.horizons

    def _due(self) -> bool:
        """Is a validation due, by the clock of the first process?"""
        horizons = self.progress.segments // self.config.segments
        waited = self.progress.seconds - self.progress.validated_at
        return self.team.broadcast(self.examiner.due(self.config.validation, horizons, waited))

    def _tick(self) -> None:
        now = time.perf_counter()
        self.progress.seconds += now - self._clock
        self.progress.total_seconds += self.team.size * (now - self._clock)
        self._clock = now
