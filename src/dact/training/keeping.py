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


def take_over(learner: Learner, checkpoint: Checkpoint, seed: int) -> None:
    """Restore a checkpoint. With another number of processes or another kind of device, new instances are drawn."""
    learnt, own, team = learner.learnt(), learner.own(), learner.team
    write(learnt, {name: checkpoint.tensors[name] for name in learnt})
    parts = [checkpoint.tensors | {GENERATOR: checkpoint.generator}, *checkpoint.others]
    part = parts[team.rank] if len(parts) == checkpoint.progress.processes == team.size else None
    if part is None or part[GENERATOR].shape != learner.generator.get_state().shape:
        log.info("the run had other processes or another kind of device: it goes on with new instances")
        learner.reseed(seed)
        return
    write(own, {name: part[name] for name in own})
    learner.generator.set_state(part[GENERATOR])
