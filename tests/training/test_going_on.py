"""Runs that end in unusual ways, and what goes on from them."""

import errno
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from tables import rows

from dact.cards import BEST
from dact.training import make_trainer, train_command
from dact.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from dact.training.config import to_toml
from dact.training.keeping import CHECKPOINT, Keeper
from dact.training.learner import Learner
from dact.training.recorder import Silence
from dact.training.validation import Score


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


def test_readings_behind_the_checkpoint_are_made_again(tmp_path, train):
    """A run that was killed goes on from its last checkpoint, and each reading is in the table once."""
    folder, aside = tmp_path / "run", tmp_path / "aside"
    aside.mkdir()

    def keep_the_one_before(report):
        if not (aside / report.event).exists():
            shutil.copy(folder / CHECKPOINT, aside / report.event)

    train(folder, watch=keep_the_one_before)
    whole = readings(folder)
    for event in ("best", "start"):
        shutil.copy(aside / event, folder / CHECKPOINT)
        train(folder, resume=folder)
        assert readings(folder) == whole
    assert len(set(whole)) == len(whole) > 3


def test_checkpoints_without_validations(tmp_path, tiny, train, monkeypatch):
    """There is one every so often, between segments and from the start, so that a kill loses little of a horizon."""
    monkeypatch.setattr("dact.training.keeping.SAVE_EVERY", 0.0)
    folder, kept = tmp_path / "run", []
    train(
        folder,
        tiny(validation={"every_batches": 0}),
        watch=lambda _: kept.append(load_checkpoint(folder / CHECKPOINT).progress.segments),
    )
    assert kept == [0, 2, 5, 8, 11, 14, 17, 18]


def test_a_kill_before_the_first_validation(tmp_path, tiny, train, monkeypatch):
    """A run that is killed in its first horizon goes on from the segment before, to the same end."""
    monkeypatch.setattr("dact.training.keeping.SAVE_EVERY", 0.0)
    config = tiny(validation={"every_batches": 6})
    whole = train(tmp_path / "whole", config).progress

    folder = tmp_path / "run"
    with monkeypatch.context() as patched:
        patched.setattr(Learner, "segment", killed(3, Learner.segment))
        with pytest.raises(Killed):
            train(folder, config)
    kept = load_checkpoint(folder / CHECKPOINT).progress
    assert (kept.segments, kept.start_seen) == (2, True)
    again = train(folder, resume=folder).progress
    assert (again.segments, again.best_cost) == (whole.segments, whole.best_cost)


class Killed(BaseException):
    """Nothing in a run catches this."""


def killed(count: int, function: Callable[..., object]) -> Callable[..., object]:
    """The function, after whose call of this number the process is no more."""
    made = []

    def call(*values, **named):
        made.append(function(*values, **named))
        if len(made) == count:
            raise Killed
        return made[-1]

    return call


@pytest.mark.parametrize("ages", [0, 12])
@pytest.mark.parametrize("count", [2, 5])
def test_a_kill_in_a_warm_up(tmp_path, tiny, train, monkeypatch, ages, count):
    """A run that is killed in a warm-up of minutes goes on from the checkpoint inside it, to the same end."""
    monkeypatch.setattr("dact.training.keeping.SAVE_EVERY", 0.0)
    config = tiny(
        schedule={"epochs": 1}, curriculum={"rate": 0.1, "begin": 1.0, "ages": ages}, validation={"every_batches": 2}
    )
    whole, folder = train(tmp_path / "whole", config).progress, tmp_path / "run"
    with monkeypatch.context() as patched:
        name = "warm_up_fresh" if ages and count > 2 else "warm_up"
        patched.setattr(Learner, name, killed(count, getattr(Learner, name)))
        with pytest.raises(Killed):
            train(folder, config)
    kept = load_checkpoint(folder / CHECKPOINT).progress
    assert (kept.warm_up, kept.walked) == (20, 4 * count - 4)
    again = train(folder, resume=folder).progress
    assert (again.segments, again.best_cost) == (whole.segments, whole.best_cost)
    tensors, expected = (load_checkpoint(each / CHECKPOINT).tensors for each in (folder, tmp_path / "whole"))
    for name, x in tensors.items():
        assert torch.equal(x, expected[name]), name


def test_a_kill_behind_a_validation(tmp_path, tiny, train, monkeypatch):
    """The best weights may be newer than the checkpoint: they are measured again, and nothing worse replaces them."""
    costs = iter([9.0, 5.0, 4.0, *[6.0] * 5, 4.0, *[4.5] * 5])
    monkeypatch.setattr("dact.training.trainer.Trainer._measure", lambda self: Score(next(costs)))
    folder, aside = tmp_path / "run", tmp_path / "aside"

    def keep_what_there_is(report):
        if report.validation_cost == 4.0 and not aside.exists():
            shutil.copytree(folder, aside)

    train(folder, tiny(validation={"every_batches": 1, "collapse": 9.0}), watch=keep_what_there_is)
    kept = load_checkpoint(aside / CHECKPOINT).progress
    assert (kept.segments, kept.best_cost, kept.unseen) == (6, 5.0, True)
    assert train(aside, resume=aside).progress.best_cost == 4.0
    assert [row["validation_cost"] for row in rows(aside)] == ["9", "5", "4", *["4.5"] * 4]
    assert (aside / BEST).read_bytes() == (folder / BEST).read_bytes()


def test_checkpoints_come_before_a_long_segment():
    """One is due where a segment as long as the last would bring the loss of a kill above a minute."""
    keeper = Keeper(Path("nowhere"), None, None, {})
    assert not keeper.due(Progress(seconds=0.0), 50.0)
    assert not keeper.due(Progress(seconds=9.0), 50.0)
    assert keeper.due(Progress(seconds=11.0), 50.0)
    assert keeper.due(Progress(seconds=30.0), 0.0)
    assert not keeper.due(Progress(seconds=29.0), 0.0)
    assert not keeper.due(Progress(seconds=0.0), 90.0)


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
