"""What each process of `test_team.py` runs under torchrun: train, at once and in two calls, and leave the outcome."""

import sys
from pathlib import Path

import torch

from dact.team import Team
from dact.training import load_config, make_trainer
from dact.training.checkpoint import load_checkpoint
from dact.training.keeping import CHECKPOINT
from dact.training.recorder import Recorder, Silence
from dact.training.trainer import Limits, Trainer


def begin(config: Path, folder: Path, team: Team) -> Trainer:
    """A run, or one that goes on."""
    recorder = Recorder(folder, tensorboard=False) if team.leads else Silence()
    path = folder / CHECKPOINT
    checkpoint = load_checkpoint(path) if path.exists() else None
    return make_trainer(load_config(config), folder, recorder, checkpoint=checkpoint, team=team)


def train(config: Path, folder: Path, team: Team) -> None:
    """Train four segments, then again with a stop in the middle of the second horizon."""
    trainer = begin(config, folder, team)
    before = {name: x.clone() for name, x in trainer.learner.learnt().items()}
    trainer.run(Limits(segments=4))
    begin(config, folder / "stopped", team).run(Limits(segments=3))
    team.broadcast(None)  # nobody looks for the checkpoint before it is there
    resumed = begin(config, folder / "stopped", team)
    resumed.run(Limits(segments=4))
    torch.save(
        {
            "before": before,
            "after": trainer.learner.learnt(),
            "resumed": resumed.learner.tensors(),
            "whole": trainer.learner.tensors(),
            "batch": trainer.learner.buffers.batch.coordinates_BN2,
            "segments": trainer.progress.segments,
            "best": trainer.progress.best_cost,
        },
        folder / f"rank{team.rank}.pt",
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    together = Team.join("cpu", own_gpu=True)
    for argument in map(Path, sys.argv[1:]):
        train(argument, argument.with_suffix(""), together)
    together.leave()
