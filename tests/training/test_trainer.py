"""Whole runs: resuming, stopping, schedules."""

import math
import os
import signal

import pytest
import torch
from tables import rows

from dact.team import Team
from dact.training.checkpoint import load_checkpoint
from dact.training.command import make_trainer, train_command
from dact.training.config import to_toml
from dact.training.recorder import Recorder
from dact.training.trainer import Limits


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_resuming_changes_nothing(tmp_path, tiny, train, problem):
    """A run stopped between horizons or within one, and resumed, has the losses and weights of one never stopped."""
    config = tiny(problem=problem, ppo={"smoothing": 0.9})
    whole = train(tmp_path / "whole", config)
    for stop in (6, 10):
        resume = tmp_path / "parts" if stop > 6 else None
        first = train(tmp_path / "parts", config, resume=resume, segments=stop)
        assert (first.finished, first.progress.segments) == (False, stop)
    second = train(tmp_path / "parts", resume=tmp_path / "parts")
    assert whole.finished
    assert second.finished
    # The validation at the stop may have found the best weights, which the next is then not.
    told = [rows(tmp_path / name, leave=("minutes", "event")) for name in ("whole", "parts")]
    assert told[0] == told[1]
    assert len(told[0]) == 7
    left, right = (load_checkpoint(tmp_path / name / "checkpoint.pt") for name in ("whole", "parts"))
    for name, x in left.tensors.items():
        assert torch.equal(x, right.tensors[name]), name


@pytest.mark.parametrize(("problem", "horizons"), [("tsp", 2), ("cvrp", 1)])
def test_resuming_with_several_sizes_changes_nothing(tmp_path, tiny, train, problem, horizons):
    """Stopped within a horizon of another size than the first, and resumed, a run has the same losses and weights."""
    config = tiny(problem=problem, sizes=[5, 7, 8], curriculum={"horizons": horizons})
    train(tmp_path / "whole", config)
    for stop in (4, 11):
        folder = tmp_path / "parts"
        train(folder, config, segments=stop, resume=folder if folder.exists() else None)
    train(tmp_path / "parts", resume=tmp_path / "parts")
    # Stopping validates, which may find a best before the next would.
    leave = ("minutes", "event")
    assert rows(tmp_path / "whole", leave) == rows(tmp_path / "parts", leave)
    left, right = (load_checkpoint(tmp_path / name / "checkpoint.pt") for name in ("whole", "parts"))
    assert {name.partition(".")[0] for name in left.tensors} >= {"5", "7", "8"}
    for name, x in left.tensors.items():
        assert torch.equal(x, right.tensors[name]), name


def test_every_size_has_its_turn(tmp_path, tiny):
    """Batches go through all sizes before one comes again, in an order that the seed decides; validation stays."""
    config = tiny(sizes=[5, 7, 8])
    trainer = make_trainer(config, tmp_path, Recorder(tmp_path, tensorboard=False))
    orders = []
    for turn in range(8):
        sizes = []
        for place in range(3):
            trainer.learner.choose(3 * turn + place)
            trainer.learner.new_batch()
            sizes.append(trainer.learner.buffers.batch.length)
        assert sorted(sizes) == [5, 7, 8]
        orders.append(tuple(sizes))
    assert len(set(orders)) > 1
    assert trainer.validation.parts[0].batch.length == 6


def test_resuming_drops_rows_behind_the_checkpoint(tmp_path, train):
    """After a crash the CSV may be ahead of the checkpoint; the lost rows are written anew, once."""
    train(tmp_path / "run", segments=6)
    checkpoint = (tmp_path / "run/checkpoint.pt").read_bytes()
    train(tmp_path / "run", resume=tmp_path / "run", segments=12)
    (tmp_path / "run/checkpoint.pt").write_bytes(checkpoint)
    train(tmp_path / "run", resume=tmp_path / "run")
    segments = [int(row["segments"]) for row in rows(tmp_path / "run")]
    assert segments == [0, 3, 6, 9, 12, 15, 18]


def test_a_seed_decides_everything(tmp_path, tiny, train, trained):
    """The same seed gives the same run, another one another."""
    others = [train(tmp_path / f"{seed}", tiny(seed=seed)) for seed in (tiny().seed, tiny().seed + 1)]
    tables = [rows(run.folder) for run in (trained, *others)]
    assert tables[0] == tables[1]
    assert tables[0] != tables[2]


def test_warm_up_follows_the_curriculum(trained):
    """The CSV shows no warm-up at first and more at the end, and the rate falling."""
    table = rows(trained.folder)
    assert [int(row["warm_up_steps"]) for row in table] == [0, 0, 0, 0, 2, 4, 4]
    rates = [float(row["actor_rate"]) for row in table]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(1e-3)


@pytest.mark.parametrize(("start", "horizons"), [("best", 2), ("last", 1)])
def test_starts(tmp_path, tiny, train, start, horizons):
    """Both starts and kept instances run, and their metrics are numbers."""
    run = train(tmp_path / "run", tiny(curriculum={"rate": 0.05, "start": start, "horizons": horizons}))
    assert all(math.isfinite(float(row["actor_loss"])) for row in rows(run.folder)[1:])


def test_sigterm_stops_with_a_checkpoint(tmp_path, train):
    """A signal ends the call at the next segment; what was there before is back in place, and resuming works."""
    before = signal.getsignal(signal.SIGTERM)

    def kill(report):
        if report.segments == 6:
            os.kill(os.getpid(), signal.SIGTERM)

    run = train(tmp_path / "run", watch=kill)
    assert run.interrupted
    assert not run.finished
    assert run.progress.segments == 6
    assert signal.getsignal(signal.SIGTERM) is before
    assert train(tmp_path / "run", resume=tmp_path / "run").progress.segments == 18


def test_a_signal_ends_a_validation(tmp_path, tiny):
    """However long it would take: the numbers so far are recorded, and a checkpoint is there."""
    config = tiny(validation={"count": 4, "steps": 10, "every_batches": 2})
    asked = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 20

    trainer = make_trainer(config, tmp_path, Recorder(tmp_path, tensorboard=False))
    assert not trainer.run(Limits(stop=stop))
    assert len(asked) == 21
    assert load_checkpoint(tmp_path / "checkpoint.pt").progress.segments == 6
    assert [int(row["segments"]) for row in rows(tmp_path)] == [0, 3, 6]
    assert rows(tmp_path)[-1]["actor_loss"]
    assert not rows(tmp_path)[-1]["validation_cost"]


def test_an_error_within_a_segment_leaves_the_checkpoint_before(tmp_path, tiny):
    """Half a segment is nothing to go on from."""
    trainer = make_trainer(tiny(), tmp_path, Recorder(tmp_path, tensorboard=False))
    trainer.run(Limits(segments=4))
    before = (tmp_path / "checkpoint.pt").read_bytes()

    def interrupted() -> None:
        raise KeyboardInterrupt

    trainer.learner.segment = interrupted
    with pytest.raises(KeyboardInterrupt):
        trainer.run(Limits())
    assert (tmp_path / "checkpoint.pt").read_bytes() == before


def test_minutes_limit_one_call(tmp_path, train):
    """No time at all: nothing is trained, yet there is a checkpoint to go on from."""
    assert train(tmp_path / "run", minutes=0).progress.segments == 0
    assert train(tmp_path / "run", resume=tmp_path / "run").finished


def test_the_start_is_measured_once(tmp_path, train):
    """A run that goes on before its first segment has its start already."""
    run = train(tmp_path / "run", segments=0)
    train(run.folder, resume=run.folder, segments=0)
    assert [row["event"] for row in rows(run.folder)] == ["start"]


def test_a_start_that_was_interrupted_is_measured_anew(tmp_path, tiny):
    """A signal leaves nothing out."""
    trainer = make_trainer(tiny(), tmp_path, Recorder(tmp_path, tensorboard=False))
    trainer.run(Limits(stop=lambda: True))
    trainer.resume(load_checkpoint(tmp_path / "checkpoint.pt"))
    trainer.run(Limits(segments=0))
    assert [row["event"] for row in rows(tmp_path)] == ["start"]


def test_time_counts_once_for_each_process(tmp_path, tiny):
    """Minutes of the schedule are by the clock; those of the card add up over calls with one process and with two."""
    alone = make_trainer(tiny(), tmp_path, Recorder(tmp_path, tensorboard=False))
    alone.run(Limits(segments=3))
    before = load_checkpoint(tmp_path / "checkpoint.pt")
    assert before.progress.total_seconds == before.progress.seconds
    two = Team(size=2)
    both = make_trainer(tiny(), tmp_path, Recorder(tmp_path, tensorboard=False), checkpoint=before, team=two)
    alone_for = both.progress.seconds
    both.run(Limits(segments=6))
    assert both.progress.total_seconds == pytest.approx(alone_for + 2 * (both.progress.seconds - alone_for))


def test_a_row_cut_short_is_dropped(tmp_path, train):
    """A run that was killed while it wrote a row goes on."""
    run = train(tmp_path / "run", segments=6)
    with (run.folder / "metrics.csv").open("a") as file:
        file.write("6,0.0")
    assert train(tmp_path / "run", resume=run.folder).finished
    assert [int(row["segments"]) for row in rows(run.folder)] == [0, 3, 6, 9, 12, 15, 18]


def test_a_run_is_not_overwritten(tmp_path, train):
    """A directory that holds a run is refused, and so is one that holds none to resume."""
    train(tmp_path / "run", segments=0)
    with pytest.raises(ValueError, match="holds a run already"):
        train(tmp_path / "run")
    with pytest.raises(ValueError, match=r"checkpoint\.pt: cannot be read"):
        train(tmp_path / "none", resume=tmp_path / "none")


def test_files_that_are_no_checkpoints(tmp_path, train):
    """One sentence of our own, whatever PyTorch says of the file."""
    run = train(tmp_path / "run", segments=0)
    path = run.folder / "checkpoint.pt"
    plain = torch.load(path, weights_only=True)
    for other, said in ((plain | {"format": 1}, r" \(format 1, not 2\)"), ({"format": 2}, ""), ([1], "")):
        torch.save(other, path)
        with pytest.raises(ValueError, match=rf"checkpoint\.pt: is not a checkpoint of this version{said}$"):
            train(run.folder, resume=run.folder)
    for junk in (b"rubbish", b"", path.read_bytes()[:100]):
        path.write_bytes(junk)
        with pytest.raises(ValueError, match=r"checkpoint\.pt: is not a checkpoint of this version$"):
            train(run.folder, resume=run.folder)


def test_a_run_from_before_a_setting_was_dropped_goes_on(tmp_path, train):
    """What an older checkpoint says about `runtime.compile`, and does not about sizes and critic, is no hindrance."""
    train(tmp_path / "run", segments=6)
    path = tmp_path / "run/checkpoint.pt"
    plain = torch.load(path, weights_only=True)
    plain["config"]["runtime"]["compile"] = "none"
    del plain["config"]["sizes"], plain["config"]["critic"], plain["policy"]["critic_config"]["incumbent"]
    torch.save(plain, path)
    assert train(tmp_path / "run", resume=tmp_path / "run").finished


def test_settings_change_a_resumed_run(tmp_path, train):
    """A schedule can be lengthened; the copy of the config says so."""
    train(tmp_path / "run")
    run = train(tmp_path / "run", resume=tmp_path / "run", settings=["epochs=4"])
    assert run.progress.segments == 24
    assert "epochs = 4" in (tmp_path / "run/config.toml").read_text()


def test_tensorboard(tmp_path, tiny):
    """Scalars are written where TensorBoard is installed."""
    pytest.importorskip("tensorboard")
    path = tmp_path / "tiny.toml"
    path.write_text(to_toml(tiny()))
    train_command(path, out=tmp_path / "run", segments=3)
    assert list((tmp_path / "run/tensorboard").glob("events*"))
