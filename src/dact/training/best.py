"""The best weights of a run: kept to go back to after a collapse, and written for everybody else."""

import math
from pathlib import Path

from dact.policy.weights import BEST
from dact.training.buffers import snapshot, write
from dact.training.checkpoint import Progress
from dact.training.config import TrainConfig
from dact.training.export import export_weights
from dact.training.learner import Learner
from dact.training.validation import Score

COLLAPSE = "collapse"


class BestWeights:
    """Judges weights by their scores. What is judged are the learner's, as they are at the moment."""

    def __init__(self, config: TrainConfig, learner: Learner, folder: Path) -> None:
        self.config, self.learner, self.folder = config, learner, folder
        self.tensors = snapshot(learner.learnt())
        """To go back to."""

    def judge(self, score: Score, progress: Progress) -> str:
        """Keep them, or go back from them; gives what happened, for the table."""
        if score.cost < progress.judged_cost:
            return "best" if self.keep(score, progress) else ""
        limit = progress.judged_cost * (1 + self.config.validation.collapse)
        if score.cost > limit or not math.isfinite(score.cost):
            return self.roll_back(f"validation cost {score.cost:.4f} is above {limit:.4f}", progress)
        return ""

    def keep(self, score: Score, progress: Progress) -> bool:
        """Go back to these weights after a collapse; True if they are the best of all."""
        progress.judged_cost = score.cost
        write(self.tensors, self.learner.learnt())
        return self.export_if_best(score, progress)

    def export_if_best(self, score: Score, progress: Progress) -> bool:
        """Write the weights if none were better."""
        if not score.cost < progress.best_cost:
            return False
        progress.best_cost, progress.best_gap, progress.best_compared = score.cost, score.gap, score.compared
        if self.learner.team.leads:
            with self.learner.optimiser.smoothed():
                export_weights(self.folder / BEST, self.config, self.learner.networks, progress)
        return True

    def roll_back(self, reason: str, progress: Progress) -> str:
        """Go back to the kept weights, and learn more slowly from there."""
        write(self.learner.learnt(), self.tensors)
        progress.rate_scale *= self.config.validation.collapse_rate
        progress.rollbacks += 1
        return f"{COLLAPSE}: {reason}; back to the best weights, learning rates times {progress.rate_scale:g}"


def broken(metrics: dict[str, float]) -> str:
    """What is wrong with the numbers of a horizon. A gradient that is not finite is skipped, and no harm by itself."""
    for name in ("actor_loss", "value_loss"):
        if not math.isfinite(metrics[name]):
            return f"{name} is {metrics[name]}"
    return "no update had a finite gradient" if metrics["skipped"] >= 1 else ""
