"""The run: horizons of segments by the schedule, validation, going back after a collapse, stopping and resuming."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dact.policy.weights import BEST
from dact.training.buffers import snapshot, write
from dact.training.checkpoint import Checkpoint, Progress
from dact.training.config import TrainConfig
from dact.training.curriculum import rate_factor
from dact.training.export import export_weights
from dact.training.horizons import begin_horizon
from dact.training.keeping import keep, take_over
from dact.training.learner import Learner
from dact.training.recorder import Report, Silence
from dact.training.validation import Score, Validation

CHECKPOINT = "checkpoint.pt"
COLLAPSE = "collapse"
GO_ON, END, STOP = 0.0, 1.0, 2.0
SAVE_EVERY = 30.0
"""Seconds between checkpoints, beside those around validations: a kill loses no more, or the segment it fell into."""


class Stopped(Exception):  # noqa: N818 - not an error
    """A validation was cut short."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When one call of a run ends, whatever is left of its schedule."""

    deadline: float = math.inf
    """By `time.perf_counter`. Validations are seen through, but for the first of untrained networks."""
    segments: float = math.inf
    """Segments in all."""
    stop: Callable[[], bool] = lambda: False
    """Asked before each segment and during validations; True ends the call at once, without a last validation."""


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
        self.best = snapshot(learner.learnt())
        self._clock = time.perf_counter()
        self._measured_at = -1
        self._saved_at, self._save_due = 0.0, False
        self._between = True
        """True between segments: safe to checkpoint."""
        self._stop: Callable[[], bool] = lambda: False
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
        self._clock, self._stop = time.perf_counter(), limits.stop
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
        keep(self.folder / CHECKPOINT, self.config, self.learner, self.progress, self.best)
        self._saved_at = self.progress.seconds

    def resume(self, checkpoint: Checkpoint) -> None:
        """Take over where a checkpoint stands."""
        self.progress = checkpoint.progress
        self.learner.choose(self._batch())
        write(self.best, checkpoint.best)
        take_over(self.learner, checkpoint, self.config.seed + self.progress.segments)
        self.progress.processes = self.team.size
        self._set_rates()

    def _loop(self, limits: Limits) -> None:
        if self.progress.segments == 0:
            # From now on the folder holds a run, whatever ends it.
            self.save()
        if self.progress.segments == 0 and not self.progress.start_seen:
            self._first_validation(limits)
        begun = self.progress.segments
        while (verdict := self._verdict(limits)) == GO_ON:
            if self._save_due:
                self.save()
            self._between = False
            if self.progress.segments % self.config.segments == 0:
                self._begin_horizon()
            self.learner.segment()
            self.progress.segments += 1
            self._between = True
            self._tick()
            if self.progress.segments % self.config.segments == 0:
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
        elif self.progress.segments >= limits.segments or time.perf_counter() >= limits.deadline:
            verdict = END
        due = self.progress.seconds - self._saved_at >= SAVE_EVERY
        verdict, self.progress.seconds, self._save_due = self.team.broadcast((verdict, self.progress.seconds, due))
        return verdict

    def _begin_horizon(self) -> None:
        self.progress.horizon_progress = self._schedule_progress()
        self._set_rates()
        horizon = self.progress.segments // self.config.segments
        begin_horizon(self.learner, self.config.curriculum, horizon, self.progress)

    def _end_horizon(self) -> None:
        """Read the numbers, validate if it is time, and go back if training has collapsed."""
        metrics = self.learner.read_metrics()
        self._tick()
        broken, validate = _broken(metrics), self._due()
        if broken:
            self._record(metrics, None, self._roll_back(broken))
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
        self._record(metrics, score, self._judge(score))

    def _judge(self, score: Score) -> str:
        if score.cost < self.progress.judged_cost:
            return "best" if self._keep(score) else ""
        limit = self.progress.judged_cost * (1 + self.config.validation.collapse)
        if score.cost > limit or not math.isfinite(score.cost):
            return self._roll_back(f"validation cost {score.cost:.4f} is above {limit:.4f}")
        return ""

    def _first_validation(self, limits: Limits) -> None:
        """Where the run starts from. Untrained networks are no best to go back to: they may well beat the first
        trained ones, since a search that moves at random improves greedy starts. So the deadline ends theirs."""
        trained = self.progress.started_from != ""
        try:
            score = self._measure(math.inf if trained else limits.deadline)
        except Stopped:
            # What did not fit into one call is left out, or short calls would never train.
            self.progress.start_seen = not limits.stop()
            raise
        self.progress.start_seen = True
        if trained:
            self._keep(score)
        self._record({}, score, "start")

    def _last_validation(self) -> None:
        """Also the last weights of a call have a chance to be the best."""
        score = self._measure()
        self._export_if_best(score)
        self._record({}, score, "end")

    def _measure(self, deadline: float = math.inf) -> Score:
        def stop() -> bool:
            return self._stop() or time.perf_counter() >= deadline

        with self.learner.optimiser.smoothed():
            score = self.validation.measure(stop) if self.validation is not None else Score(math.nan)
        stopped, score = score is None, score or Score(math.nan)
        gap = math.nan if score.gap is None else score.gap
        cost, gap, compared, anybody = self.team.broadcast((score.cost, gap, score.compared, stopped))
        if anybody:
            raise Stopped
        self._tick()
        self.progress.validated_at = self.progress.seconds
        self._measured_at = self.progress.segments
        return Score(cost, None if math.isnan(gap) else gap, int(compared))

    def _keep(self, score: Score) -> bool:
        """Go back to these weights after a collapse; True if they are the best of all."""
        self.progress.judged_cost = score.cost
        write(self.best, self.learner.learnt())
        return self._export_if_best(score)

    def _export_if_best(self, score: Score) -> bool:
        if not score.cost < self.progress.best_cost:
            return False
        self.progress.best_cost, self.progress.best_gap = score.cost, score.gap
        self.progress.best_compared = score.compared
        if self.team.leads:
            with self.learner.optimiser.smoothed():
                export_weights(self.folder / BEST, self.config, self.learner.networks, self.progress)
        return True

    def _roll_back(self, reason: str) -> str:
        write(self.learner.learnt(), self.best)
        self.progress.rate_scale *= self.config.validation.collapse_rate
        self.progress.rollbacks += 1
        return f"{COLLAPSE}: {reason}; back to the best weights, learning rates times {self.progress.rate_scale:g}"

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
        factor = self.progress.rate_scale * rate_factor(self.config.schedule, self.progress.horizon_progress)
        self._actor_rate = factor * self.config.ppo.actor_rate
        self.learner.optimiser.set_rates(self._actor_rate, factor * self.config.ppo.critic_rate)

    def _schedule_progress(self) -> float:
        horizons = self.progress.segments / self.config.segments
        return self.config.schedule.progress(horizons, self.progress.seconds / 60)

    def _batch(self) -> int:
        """The number of the current batch of instances, from 0."""
        return self.progress.segments // self.config.segments // self.config.curriculum.horizons

    def _due(self) -> bool:
        """Is it time to validate? The first process's clock says so."""
        config, horizon = self.config.validation, self.progress.segments // self.config.segments
        by_batches = config.every_batches > 0 and horizon % config.every_batches == 0
        waited = self.progress.seconds - self.progress.validated_at
        due = by_batches or (config.every_seconds > 0 and waited >= config.every_seconds)
        return self.team.broadcast(due)

    def _tick(self) -> None:
        now = time.perf_counter()
        self.progress.seconds += now - self._clock
        self.progress.total_seconds += self.team.size * (now - self._clock)
        self._clock = now


def _broken(metrics: dict[str, float]) -> str:
    """What is wrong with the numbers of a horizon. A gradient that is not finite is skipped, and no harm by itself."""
    for name in ("actor_loss", "value_loss"):
        if not math.isfinite(metrics[name]):
            return f"{name} is {metrics[name]}"
    return "no update had a finite gradient" if metrics["skipped"] >= 1 else ""
