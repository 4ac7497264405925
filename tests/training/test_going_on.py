"""Runs that end in unusual ways, and what goes on from them."""

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tables import rows

from dact.policy.weights import BEST
from dact.training import make_trainer, train_command
from dact.training.checkpoint import load_checkpoint, save_checkpoint
from dact.training.config import to_toml
from dact.training.learner import Learner
from dact.training.recorder import Silence
from dact.training.trainer import CHECKPOINT


def readings(folder: Path) -> list[tuple[str, str]]:
    """Segments and events."""
    return [(row["segments"], row["event"]) for row in rows(folder)]


def test_another_kind_of_device(tmp_path, tiny, train, caplog):
    """A run whose draws were a GPU's goes on with new instances and the same weights, and says so."""
    folder = tmp_path / "run"
    train(folder, segments=2)
    path = folder / CHECKPOINT
    before = load_checkpoint(path)
    save_checkpoint(path, replace(before, generator=torch.zeros(16, dtype=torch.uint8)))
    with caplog.at_level("INFO", logger="dact"):
        trainer = make_trainer(tiny(), folder, Silence(), checkpoint=load_checkpoint(path))
    assert "another kind of device: it goes on with new instances" in caplog.text
    for name, x in trainer.learner.learnt().items():
        assert torch.equal(x, before.tensors[name])
    assert any(not torch.equal(x, before.tensors[name]) for name, x in trainer.learner.own().items())
    assert train(folder, resume=folder).finished


@pytest.mark.parametrize("event", ["start", "best"])
def test_readings_behind_the_checkpoint_are_made_again(tmp_path, tiny, train, event):
    """A run that was killed goes on from its last checkpoint, and each reading is in the table once."""
    folder, aside = tmp_path / "run", tmp_path / "aside.pt"

    def keep_the_one_before(report):
        if report.event == event and not aside.exists():
            shutil.copy(folder / CHECKPOINT, aside)

    train(folder, tiny(network={"dim": 64, "layers": 3}), watch=keep_the_one_before)
    whole = readings(folder)
    shutil.copy(aside, folder / CHECKPOINT)
    train(folder, resume=folder)
    assert readings(folder) == whole
    assert len(set(whole)) == len(whole) > 3


def test_checkpoints_without_validations(tmp_path, tiny, train, monkeypatch):
    """There is one every so often, between segments and from the start, so that a kill loses little of a horizon."""
    monkeypatch.setattr("dact.training.trainer.SAVE_EVERY", 0.0)
    folder, kept = tmp_path / "run", []
    train(
        folder,
        tiny(validation={"every_batches": 0}),
        watch=lambda _: kept.append(load_checkpoint(folder / CHECKPOINT).progress.segments),
    )
    assert kept == [0, 2, 5, 8, 11, 14, 17, 18]


def test_a_kill_before_the_first_validation(tmp_path, tiny, train, monkeypatch):
    """A run that is killed in its first horizon goes on from the segment before, to the same end."""
    monkeypatch.setattr("dact.training.trainer.SAVE_EVERY", 0.0)
    config = tiny(validation={"every_batches": 6})
    whole = train(tmp_path / "whole", config).progress

    class Killed(BaseException):
        pass

    segment, made = Learner.segment, []

    def killed_in_the_third(self):
        made.append(segment(self))
        if len(made) == 3:
            raise Killed

    folder = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr(Learner, "segment", killed_in_the_third)
        with pytest.raises(Killed):
            train(folder, config)
    kept = load_checkpoint(folder / CHECKPOINT).progress
    assert (kept.segments, kept.start_seen) == (2, True)
    again = train(folder, resume=folder).progress
    assert (again.segments, again.best_cost) == (whole.segments, whole.best_cost)


def test_a_full_disk(tmp_path, train, monkeypatch):
    """One sentence says what could not be written, and the checkpoint of before stays."""
    folder = tmp_path / "run"
    train(folder, segments=2)

    def full(_number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("dact.training.checkpoint.os.fsync", full)
    with pytest.raises(ValueError, match=r"checkpoint\.pt: cannot be written \(No space left on device\)"):
        train(folder, resume=folder)
    assert load_checkpoint(folder / CHECKPOINT).progress.segments == 2
    assert not list(folder.glob("*.part"))


def test_folders_that_are_not_empty(tmp_path, train):
    """Weights of another run are not overwritten; a table that no checkpoint belongs to is begun anew."""
    folder = tmp_path / "run"
    train(folder, segments=3)
    once = readings(folder)
    (folder / CHECKPOINT).unlink()
    with pytest.raises(ValueError, match=r"run holds the weights of another run \(best\.safetensors\)"):
        train(folder, segments=3)
    (folder / BEST).unlink()
    train(folder, segments=3)
    assert readings(folder) == once


def test_a_folder_where_the_config_belongs(tmp_path, train):
    """What stands in the way is named."""
    (tmp_path / "run" / "config.toml").mkdir(parents=True)
    with pytest.raises(ValueError, match=r"config\.toml: cannot be written"):
        train(tmp_path / "run")


def test_tensorboard_forgets_what_is_made_again(tmp_path, tiny):
    """Its curves have each reading once too."""
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    folder, path, aside = tmp_path / "run", tmp_path / "tiny.toml", tmp_path / "aside.pt"
    path.write_text(to_toml(tiny()))
    train_command(path, out=folder, segments=3)
    shutil.copy(folder / CHECKPOINT, aside)
    train_command(resume=folder, segments=9)
    shutil.copy(aside, folder / CHECKPOINT)
    train_command(resume=folder, segments=9)
    events = EventAccumulator(str(folder / "tensorboard")).Reload()
    assert [scalar.step for scalar in events.Scalars("actor_loss")] == [3, 6, 9]
