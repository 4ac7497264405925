"""Whole runs: resuming, stopping, starting from weights, going back after a collapse."""

import csv
import math
import os
import signal
from pathlib import Path

import pytest
import torch

from dact.policy import load_weights
from dact.training.checkpoint import load_checkpoint
from dact.training.command import Outcome, make_trainer, train_command
from dact.training.config import TrainConfig, from_dict, to_toml
from dact.training.recorder import Recorder
from dact.training.trainer import Limits
from dact.training.validation import Score

TINY = {
    "name": "tiny",
    "problem": "tsp",
    "size": 6,
    "schedule": {"epochs": 3, "batches": 2, "rows": 4, "horizon": 6},
    "curriculum": {"rate": 0.02},
    "ppo": {"segment": 2, "actor_rate": 1e-3, "critic_rate": 1e-3},
    "validation": {"count": 4, "steps": 5, "every_batches": 2},
    "runtime": {"device": "cpu"},
}
"""Six horizons of three segments, with 0 to 4 warm-up steps."""


def tiny(**tables) -> TrainConfig:
    """The tiny config with some tables changed."""
    return from_dict(TINY | {name: TINY.get(name, {}) | change for name, change in tables.items()})


def train(folder: Path, config: TrainConfig | None = None, **options) -> Outcome:
    """A call of the command."""
    if options.get("resume") is None:
        path = folder.with_suffix(".toml")
        path.write_text(to_toml(config or tiny()))
        return train_command(path, out=folder, tensorboard=False, **options)
    return train_command(tensorboard=False, **options)


def rows(folder: Path, leave: tuple[str, ...] = ("minutes",)) -> list[dict[str, str]]:
    """The CSV without the columns that depend on the clock, nor the rows that a stop adds."""
    with (folder / "metrics.csv").open(newline="") as file:
        return [
            {name: value for name, value in row.items() if name not in leave}
            for row in csv.DictReader(file)
            if row["event"] != "end"
        ]


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("stop", [6, 10])
def test_resuming_changes_nothing(tmp_path, problem, stop):
    """A run stopped between horizons or within one, and resumed, has the losses and weights of one never stopped."""
    config = from_dict(TINY | {"problem": problem})
    whole = train(tmp_path / "whole", config)
    first = train(tmp_path / "parts", config, segments=stop)
    assert (first.finished, first.progress.segments) == (False, stop)
    second = train(tmp_path / "parts", resume=tmp_path / "parts")
    assert whole.finished
    assert second.finished
    assert rows(tmp_path / "whole") == rows(tmp_path / "parts")
    assert len(rows(tmp_path / "whole")) == 7
    left, right = (load_checkpoint(tmp_path / name / "checkpoint.pt") for name in ("whole", "parts"))
    for name, x in left.tensors.items():
        assert torch.equal(x, right.tensors[name]), name


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("horizons", [1, 2])
def test_resuming_with_several_sizes_changes_nothing(tmp_path, problem, horizons):
    """Stopped within a horizon of another size than the first, and resumed, a run has the same losses and weights."""
    curriculum = TINY["curriculum"] | {"horizons": horizons}
    config = from_dict(TINY | {"problem": problem, "sizes": [5, 7, 8], "curriculum": curriculum})
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


def test_every_size_has_its_turn(tmp_path):
    """Batches go through all sizes before one comes again, in an order that the seed decides; validation stays."""
    config = from_dict(TINY | {"sizes": [5, 7, 8]})
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
    assert trainer.validation.batch.length == 6


def test_resuming_drops_rows_behind_the_checkpoint(tmp_path):
    """After a crash the CSV may be ahead of the checkpoint; the lost rows are written anew, once."""
    train(tmp_path / "run", segments=6)
    checkpoint = (tmp_path / "run/checkpoint.pt").read_bytes()
    train(tmp_path / "run", resume=tmp_path / "run", segments=12)
    (tmp_path / "run/checkpoint.pt").write_bytes(checkpoint)
    train(tmp_path / "run", resume=tmp_path / "run")
    segments = [int(row["segments"]) for row in rows(tmp_path / "run")]
    assert segments == [0, 3, 6, 9, 12, 15, 18]


def test_a_seed_decides_everything(tmp_path):
    """The same seed gives the same run, another one another."""
    runs = [train(tmp_path / name, from_dict(TINY | {"seed": seed})) for name, seed in (("a", 1), ("b", 1), ("c", 2))]
    tables = [rows(run.folder) for run in runs]
    assert tables[0] == tables[1]
    assert tables[0] != tables[2]


def test_warm_up_follows_the_curriculum(tmp_path):
    """The CSV shows no warm-up at first and more at the end, and the rate falling."""
    table = rows(train(tmp_path / "run").folder)
    assert [int(row["warm_up_steps"]) for row in table] == [0, 0, 0, 0, 2, 3, 3]
    rates = [float(row["actor_rate"]) for row in table]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(1e-3)


@pytest.mark.parametrize("start", ["best", "last"])
@pytest.mark.parametrize("horizons", [1, 2])
def test_starts(tmp_path, start, horizons):
    """Both starts and kept instances run, and their metrics are numbers."""
    run = train(tmp_path / "run", tiny(curriculum={"rate": 0.05, "start": start, "horizons": horizons}))
    assert all(math.isfinite(float(row["actor_loss"])) for row in rows(run.folder)[1:])


def test_sigterm_stops_with_a_checkpoint(tmp_path):
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


def test_minutes_limit_one_call(tmp_path):
    """No time at all: nothing is trained, yet there is a checkpoint to go on from."""
    assert train(tmp_path / "run", minutes=0).progress.segments == 0
    assert train(tmp_path / "run", resume=tmp_path / "run").finished


def test_schedule_by_minutes(tmp_path):
    """Progress is time trained over the minutes planned, and the run ends there."""
    run = train(tmp_path / "run", tiny(schedule={"schedule_minutes": 0.02}))
    assert run.finished
    assert run.progress.seconds >= 1.2
    assert float(rows(run.folder)[-1]["progress"]) > 0.5


def test_weights_are_kept_and_can_start_a_run(tmp_path):
    """The best weights carry a card; a run that starts from them validates as they did."""
    run = train(tmp_path / "run")
    assert run.weights is not None
    card = load_weights(run.weights).card
    assert (card.name, card.problem, card.size) == ("tiny", "tsp", 6)
    assert card.training["schedule"]["rows"] == 4
    assert card.created
    again = train(tmp_path / "again", init=str(run.weights), segments=0)
    assert float(rows(again.folder)[0]["validation_cost"]) == pytest.approx(run.progress.best_cost)
    assert again.weights is not None


def test_a_harder_problem_starts_from_the_weights_of_an_easier_one(tmp_path):
    """CVRP from TSP, whose policy sees less; the weights that come out are CVRP's."""
    run = train(tmp_path / "run")
    other = train(tmp_path / "other", from_dict(TINY | {"problem": "cvrp"}), init=str(run.weights), segments=2)
    assert load_weights(other.weights).card.problem == "cvrp"
    with pytest.raises(ValueError, match="see 7 features of a node, but tsp has 2"):
        train(tmp_path / "back", init=str(other.weights))


def test_a_critic_that_sees_the_incumbent(tmp_path):
    """It trains and resumes with the same losses, from scratch or from weights without; the card tells."""
    config = tiny(critic={"incumbent": True})
    whole = train(tmp_path / "whole", config)
    train(tmp_path / "parts", config, segments=10)
    train(tmp_path / "parts", resume=tmp_path / "parts")
    assert rows(tmp_path / "whole") == rows(tmp_path / "parts")
    assert load_checkpoint(whole.folder / "checkpoint.pt").tensors["critic.standing.weight"].any()
    assert load_weights(whole.weights).card.training["critic"]["incumbent"]
    plain = train(tmp_path / "plain", segments=6)
    assert rows(plain.folder) != rows(whole.folder)[:3]
    grown = train(tmp_path / "grown", config, init=str(plain.weights), segments=6)
    assert load_weights(grown.weights).critic.standing is not None


def test_a_run_is_not_overwritten(tmp_path):
    """A directory that holds a run is refused, and so is one that holds none to resume."""
    train(tmp_path / "run", segments=0)
    with pytest.raises(ValueError, match="holds a run already"):
        train(tmp_path / "run")
    with pytest.raises(ValueError, match=r"checkpoint\.pt: cannot be read"):
        train(tmp_path / "none", resume=tmp_path / "none")
    (tmp_path / "run/checkpoint.pt").write_bytes(b"rubbish")
    with pytest.raises(ValueError, match="is not a checkpoint"):
        train(tmp_path / "run", resume=tmp_path / "run")


def test_a_run_from_before_a_setting_was_dropped_goes_on(tmp_path):
    """What an older checkpoint says about `runtime.compile`, and does not about sizes and critic, is no hindrance."""
    train(tmp_path / "run", segments=6)
    path = tmp_path / "run/checkpoint.pt"
    plain = torch.load(path, weights_only=True)
    plain["config"]["runtime"]["compile"] = "none"
    del plain["config"]["sizes"], plain["config"]["critic"], plain["policy"]["critic_config"]["incumbent"]
    torch.save(plain, path)
    assert train(tmp_path / "run", resume=tmp_path / "run").finished


def test_settings_change_a_resumed_run(tmp_path):
    """A schedule can be lengthened; the copy of the config says so."""
    train(tmp_path / "run")
    run = train(tmp_path / "run", resume=tmp_path / "run", settings=["epochs=4"])
    assert run.progress.segments == 24
    assert "epochs = 4" in (tmp_path / "run/config.toml").read_text()


def scripted(tmp_path, costs, **tables):
    """A trainer whose validations give the costs told, and what it reported."""
    reports = []
    trainer = make_trainer(tiny(**tables), tmp_path, Recorder(tmp_path, reports.append, tensorboard=False))
    answers = iter(costs)
    trainer.validation.measure = lambda: Score(next(answers))
    return trainer, reports


def test_collapse_rolls_back(tmp_path):
    """A validation far above the best brings the best weights back, halves the rate, and says so."""
    trainer, reports = scripted(tmp_path, [3.0, 2.0, 2.2, 1.9])
    trainer.run(Limits(segments=12))
    best = load_weights(tmp_path / "best.safetensors").policy.state_dict()
    events = [report.event for report in reports]
    assert events == [
        "start",
        "",
        "best",
        "",
        events[4],
    ]
    assert "2.2000 is above 2.1000" in events[4]
    assert trainer.progress.rollbacks == 1
    assert trainer.progress.rate_scale == 0.5
    for name, x in trainer.learner.networks.policy.state_dict().items():
        assert torch.equal(x, best[name]), name
    trainer.run(Limits())
    assert reports[-1].event == "best"
    assert reports[-1].actor_rate == pytest.approx(0.5 * 1e-3 * 0.985 ** (200 * 5 / 6))


def test_a_little_worse_is_no_collapse(tmp_path):
    """Within the margin training goes on."""
    trainer, reports = scripted(tmp_path, [3.0, 2.0, 2.09, 2.0])
    trainer.run(Limits())
    assert trainer.progress.rollbacks == 0
    assert [report.event for report in reports if report.event] == ["start", "best"]


def test_untrained_networks_are_no_best(tmp_path):
    """The first trained weights become the best even where untrained ones were luckier."""
    trainer, _ = scripted(tmp_path, [1.0, 2.0, 2.0, 2.0])
    trainer.run(Limits())
    assert trainer.progress.rollbacks == 0
    assert trainer.progress.best_cost == 2.0


def test_a_loss_that_is_not_finite_rolls_back(tmp_path):
    """Weights spoilt on the way are replaced at the end of the horizon, and later losses are finite."""
    trainer, reports = scripted(tmp_path, [3.0, 2.0, 2.0, 2.0, 2.0])
    trainer.run(Limits(segments=7))
    with torch.no_grad():
        next(trainer.learner.networks.policy.parameters())[0, 0] = torch.nan
    trainer.run(Limits())
    told = [report for report in reports if report.event.startswith("collapse")]
    assert [report.segments for report in told] == [9]
    assert "is nan" in told[0].event
    assert math.isfinite(reports[-1].metrics["actor_loss"])


def test_parameters_keep_their_place(tmp_path):
    """Resuming and rolling back copy into the tensors that a captured graph would hold."""
    trainer, _ = scripted(tmp_path, [3.0, 2.0, 9.0, 2.0, 2.0, 2.0])
    before = {name: x.data_ptr() for name, x in trainer.learner.tensors().items()}
    trainer.run(Limits())
    assert trainer.progress.rollbacks == 1
    trainer.resume(load_checkpoint(tmp_path / "checkpoint.pt"))
    assert {name: x.data_ptr() for name, x in trainer.learner.tensors().items()} == before


def test_tensorboard(tmp_path):
    """Scalars are written where TensorBoard is installed."""
    pytest.importorskip("tensorboard")
    path = tmp_path / "tiny.toml"
    path.write_text(to_toml(tiny()))
    train_command(path, out=tmp_path / "run", segments=3)
    assert list((tmp_path / "run/tensorboard").glob("events*"))
