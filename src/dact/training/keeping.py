"""Saving and restoring a run. In a team, all processes take part in both."""

import logging
from pathlib import Path

from torch import Tensor

from dact.training.buffers import write
from dact.training.checkpoint import Checkpoint, Progress, save_checkpoint
from dact.training.config import TrainConfig
from dact.training.learner import Learner

log = logging.getLogger(__name__)
GENERATOR = "generator"
CHECKPOINT = "checkpoint.pt"
SAVE_EVERY = 30.0
"""Seconds between checkpoints, besides those around validations."""
MOST_LOST = 60.0
"""Seconds of training that a kill may lose. Recipes with longer segments are refused, see `foresight`."""


class Keeper:
    """Decides when a checkpoint is due, and writes it."""

    def __init__(self, folder: Path, config: TrainConfig, learner: Learner, best: dict[str, Tensor]) -> None:
        self.path, self.config, self.learner, self.best = folder / CHECKPOINT, config, learner, best
        self._saved_at = 0.0

    def save(self, progress: Progress) -> None:
        """Write the checkpoint."""
        keep(self.path, self.config, self.learner, progress, self.best)
        self._saved_at = progress.seconds

    def due(self, progress: Progress, next_seconds: float) -> bool:
        """Is a checkpoint due, if the next segment takes `next_seconds`?"""
        waited = progress.seconds - self._saved_at
        return waited >= SAVE_EVERY or 0 < waited > MOST_LOST - next_seconds


def keep(path: Path, config: TrainConfig, learner: Learner, progress: Progress, best: dict[str, Tensor]) -> None:
    """Write a checkpoint, with the instances and draws of every process."""
    own = {name: x.detach().cpu() for name, x in learner.own().items()}
    _, *others = learner.team.all_gather(own | {GENERATOR: learner.generator.get_state()})
    if not learner.team.leads:
        return
    save_checkpoint(
        path,
        Checkpoint(
            config=config.to_dict(),
            policy=learner.networks.policy.config.to_dict(),
            progress=progress,
            tensors=learner.tensors(),
            best=best,
            generator=learner.generator.get_state(),
            others=others,
        ),
    )


def take_over(learner: Learner, checkpoint: Checkpoint, seed: int) -> bool:
    """Restore a checkpoint. False if another number of processes or another kind of device needed new instances."""
    learnt, own, team = learner.learnt(), learner.own(), learner.team
    write(learnt, {name: checkpoint.tensors[name] for name in learnt})
    parts = [checkpoint.tensors | {GENERATOR: checkpoint.generator}, *checkpoint.others]
    part = parts[team.rank] if len(parts) == checkpoint.progress.processes == team.size else None
    if part is None or part[GENERATOR].shape != learner.generator.get_state().shape:
        log.info("the run had other processes or another kind of device: it goes on with new instances")
        learner.reseed(seed)
        return False
    write(own, {name: part[name] for name in own})
    learner.generator.set_state(part[GENERATOR])
    return True
