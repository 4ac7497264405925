"""What each process of `test_team.py` runs under torchrun: train, then leave its parameters in a file."""

import sys
from pathlib import Path

import torch

from dact.training import load_config, make_trainer
from dact.training.recorder import Recorder, Silence
from dact.training.team import join_team, leave_team
from dact.training.trainer import Limits


def main(config: Path, folder: Path) -> None:
    """Train four segments."""
    torch.set_num_threads(1)
    team = join_team("cpu")
    recorder = Recorder(folder, tensorboard=False) if team.leads else Silence()
    trainer = make_trainer(load_config(config), folder, recorder, team=team)
    before = {name: x.clone() for name, x in trainer.learner.learnt().items()}
    trainer.run(Limits(segments=4))
    torch.save(
        {
            "before": before,
            "after": trainer.learner.learnt(),
            "batch": trainer.learner.buffers.batch.coordinates_BN2,
            "segments": trainer.progress.segments,
            "best": trainer.progress.best_cost,
        },
        folder / f"rank{team.rank}.pt",
    )
    leave_team(team)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
