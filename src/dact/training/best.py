"""The best weights of a run: kept for a rollback after a collapse, and exported as a .safetensors file with a card."""

import datetime
import math
from dataclasses import replace
from pathlib import Path

from dact.cards import BEST, Card
from dact.policy import Weights, save_weights
from dact.provenance import commit
from dact.training.buffers import snapshot, write
from dact.training.checkpoint import Progress
from dact.training.config import TrainConfig
from dact.training.learner import Learner
from dact.training.networks import Networks
from dact.training.validation import Score

COLLAPSE = "collapse"


class BestWeights:
    """Decides by validation scores whether the learner's current weights are kept or rolled back."""

    def __init__(self, config: TrainConfig, learner: Learner, folder: Path) -> None:
        self.config, self.learner, self.folder = config, learner, folder
        self.tensors = snapshot(learner.learnt())
        """The weights and optimiser state that a rollback restores."""

    def judge(self, score: Score, progress: Progress) -> str:
        """Keep the current weights or roll back from them. Returns the event for the table of metrics."""
        if score.cost < progress.judged_cost:
            return "best" if self.keep(score, progress) else ""
        limit = progress.judged_cost * (1 + self.config.validation.collapse)
        if score.cost > limit or not math.isfinite(score.cost):
            return self.roll_back(f"validation cost {score.cost:.4f} is above {limit:.4f}", progress)
        return ""

    def keep(self, score: Score, progress: Progress) -> bool:
        """Keep the current weights for rollbacks; True if they are also the best of the run."""
        progress.judged_cost = score.cost
        write(self.tensors, self.learner.learnt())
        return self.export_if_best(score, progress)

    def export_if_best(self, score: Score, progress: Progress) -> bool:
        """Export the weights if they are the best of the run."""
        if not score.cost < progress.best_cost:
            return False
        progress.best_cost, progress.best_gap, progress.best_compared = score.cost, score.gap, score.compared
        if self.learner.team.leads:
            with self.learner.optimiser.smoothed():
                export_weights(self.folder / BEST, self.config, self.learner.networks, progress)
        return True

    def roll_back(self, reason: str, progress: Progress) -> str:
        """Restore the kept weights and lower the learning rates. Returns the event for the table of metrics."""
        write(self.learner.learnt(), self.tensors)
        progress.rate_scale *= self.config.validation.collapse_rate
        progress.rollbacks += 1
        return f"{COLLAPSE}: {reason}; back to the best weights, learning rates times {progress.rate_scale:g}"


def broken(metrics: dict[str, float]) -> str:
    """Why the metrics of a horizon mean a collapse, or "". Single non-finite gradients are skipped and do not count."""
    for name in ("actor_loss", "value_loss"):
        if not math.isfinite(metrics[name]):
            return f"{name} is {metrics[name]}"
    return "no update had a finite gradient" if metrics["skipped"] >= 1 else ""


def export_weights(path: Path, config: TrainConfig, networks: Networks, progress: Progress) -> None:
    """Write the current actor and critic."""
    save_weights(path, Weights(policy=networks.policy, critic=networks.critic, card=make_card(config, progress)))


def make_card(config: TrainConfig, progress: Progress) -> Card:
    """The card of a run's current weights."""
    validation = config.validation
    source, steps = Path(validation.file).name or "generated", f"T={validation.steps}, greedy"
    steps += f", tabu {config.tabu}" if config.tabu else ""
    compared = f"{source}, {progress.best_compared} instances, {steps}"
    # Each process of a team has a GPU of its own.
    minutes = progress.total_seconds / 60 if config.runtime.resolved().device == "cuda" else 0.0
    return Card(
        name=config.name,
        problem=config.problem,
        size=config.size,
        note=f"{progress.segments} segments of {config.ppo.segment} steps on {config.schedule.rows} instances, "
        f"validation cost {progress.best_cost:.4f} ({source}, {validation.count} instances, {steps})",
        created=datetime.datetime.now(datetime.UTC).date().isoformat(),
        commit=commit(),
        gpu_minutes=round(progress.start_minutes + minutes, 1),
        gaps={} if progress.best_gap is None else {compared: round(progress.best_gap, 4)},
        started_from=progress.started_from,
        training=replace(config, validation=replace(validation, file=Path(validation.file).name)).to_dict(),
    )
