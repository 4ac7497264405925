"""What fits into the time that a call has."""

import math

import pytest
import torch
from tables import rows

from dact.training.checkpoint import load_checkpoint
from dact.training.command import make_trainer
from dact.training.keeping import CHECKPOINT
from dact.training.recorder import Recorder
from dact.training.trainer import Limits
from dact.training.validation import Score


@pytest.fixture
def clock(clock, monkeypatch):
    """The clock of trainers and examiners too; it shows 1000."""
    clock.advance(1000)
    for module in ("trainer", "examiner"):
        monkeypatch.setattr(f"dact.training.{module}.time", clock)
    return clock


class Slow:
    """An engine whose steps take so many seconds of the clock."""

    def __init__(self, engine, clock, step: float):
        self.engine, self.clock, self.seconds = engine, clock, step

    def advance(self, batch, state, steps):
        """What warm-ups call."""
        self.clock.now += self.seconds * steps
        return self.engine.advance(batch, state, steps)

    def __getattr__(self, name):
        return getattr(self.engine, name)


@pytest.fixture
def make(tmp_path, tiny, clock):
    """Builds a trainer whose segments, warm-up steps and validations take so many seconds of the clock.

    Its segments do nothing else unless it `learns`.
    """

    def call(segment=1.0, step=0.0, takes=10.0, checkpoint=None, init="", learns=False, **changes):
        trainer = make_trainer(tiny(**changes), tmp_path, Recorder(tmp_path, tensorboard=False), checkpoint=checkpoint)
        trainer.progress.started_from = init
        learner, trained = trainer.learner, trainer.learner.segment

        def pass_and_train() -> None:
            clock.now += segment
            if learns:
                trained()

        def measure(stop) -> Score | None:
            for _ in range(10):
                if stop():
                    return None
                clock.now += takes / 10
            trainer.validation.seconds = takes
            return Score(2.0)

        learner.segment = pass_and_train
        learner.lane.engine = Slow(learner.lane.engine, clock, step)
        trainer.validation.measure = measure
        trainer.validation.estimate = lambda: setattr(trainer.validation, "seconds", takes)
        return trainer

    return call


def events(folder) -> list[tuple[int, str]]:
    """Segments and events of the table."""
    return [(int(row["segments"]), row["event"]) for row in rows(folder)]


@pytest.mark.parametrize("init", ["", "tsp20"])
def test_a_call_keeps_its_time(make, clock, tmp_path, init):
    """Start and end are measured, and training has what is left, with a margin: 100 - 10 - 12.5 seconds."""
    trainer = make(schedule={"epochs": 99}, validation={"every_batches": 0}, init=init)
    trainer.run(Limits(deadline=clock.now + 100))
    assert clock.now <= 1100
    assert trainer.progress.segments == 78
    assert events(tmp_path)[0] == (0, "start")
    last = (tmp_path / "metrics.csv").read_text().splitlines()[-1]
    assert last.startswith("78,")
    assert last.endswith(",end")
    assert (tmp_path / "best.safetensors").exists()


def test_validations_that_take_too_long_are_left_out(make, clock, tmp_path, caplog):
    """A quarter of the call for the start, half of it for the last: training has the time, and it is said."""
    trainer = make(takes=60.0, schedule={"epochs": 99}, validation={"every_batches": 0})
    with caplog.at_level("INFO", logger="dact"):
        trainer.run(Limits(deadline=clock.now + 100))
    assert trainer.progress.segments == 100
    assert clock.now == 1100
    assert {event for _, event in events(tmp_path)} == {""}
    assert "the start is not measured: a validation takes about 60 s here" in caplog.text
    assert "the last weights are not measured" in caplog.text
    assert load_checkpoint(tmp_path / CHECKPOINT).progress.start_seen


def test_a_run_from_a_faster_machine_keeps_its_time(make, clock, tmp_path):
    """What a validation takes is found out anew, before the time is gone."""
    make(takes=1.0, schedule={"epochs": 99}).run(Limits(segments=6))
    again = make(takes=900.0, schedule={"epochs": 99}, checkpoint=load_checkpoint(tmp_path / CHECKPOINT))
    begun = clock.now
    again.run(Limits(deadline=begun + 50))
    assert clock.now == begun + 50
    assert again.progress.segments == 56


def test_the_deadline_ends_a_validation_that_takes_longer_than_thought(make, clock, tmp_path):
    """The call ends there, with a checkpoint, and the next one trains at once: short calls get on."""
    trainer = make(takes=40.0)
    trainer.validation.estimate = lambda: setattr(trainer.validation, "seconds", 1.0)
    assert not trainer.run(Limits(deadline=clock.now + 30))
    assert clock.now <= 1034
    checkpoint = load_checkpoint(tmp_path / CHECKPOINT)
    assert (checkpoint.progress.segments, checkpoint.progress.start_seen) == (0, True)
    make(checkpoint=checkpoint, learns=True).run(Limits(segments=1))
    last = (tmp_path / "metrics.csv").read_text().splitlines()[1:]
    assert [row.rsplit(",", 1)[1] for row in last] == ["end"]


def test_without_a_deadline_all_is_measured(make, tmp_path):
    """Nothing is left out, and nothing is estimated."""
    trainer = make(takes=1e6)
    trainer.validation.estimate = None
    trainer.run(Limits())
    assert [event for _, event in events(tmp_path)].count("start") == 1
    assert trainer.finished


def test_schedules_count_training_alone(make, clock, tmp_path):
    """Two minutes are 120 segments of a second, whatever validations take; the run is over when its progress is 1."""
    trainer = make(schedule={"schedule_minutes": 2.0}, validation={"every_batches": 4})
    trainer.run(Limits())
    assert trainer.finished
    assert trainer.progress.segments == 120
    assert {int(row["segments"]) / 120 for row in rows(tmp_path)} == {float(row["progress"]) for row in rows(tmp_path)}
    assert trainer.progress.seconds - trainer.progress.validating == pytest.approx(120)
    assert trainer.progress.validating == pytest.approx(clock.now - 1000 - 120)
    assert trainer.progress.validating >= 100


def test_slow_validations_come_less_often(make, tmp_path):
    """Asked for every ten seconds, those of 20 seconds come after 60: training has three quarters of the time."""
    trainer = make(
        takes=20.0,
        schedule={"schedule_minutes": 5.0, "horizon": 2},
        validation={"every_batches": 0, "every_seconds": 10.0},
    )
    trainer.run(Limits())
    measured = [int(row["segments"]) for row in rows(tmp_path) if row["validation_cost"]]
    assert measured == [0, 60, 120, 180, 240, 300]


@pytest.mark.parametrize("length", [{"schedule_minutes": 0.1}, {"epochs": 1, "batches": 2}])
def test_rates_fall_within_a_horizon(make, length):
    """A horizon that is half of the schedule has falling rates, in a schedule by minutes or by batches."""
    trainer = make(schedule={**length, "decay": 0.985}, takes=0.0)
    seen, segment = [], trainer.learner.segment

    def noted() -> None:
        seen.append(trainer.learner.optimiser.rates[0].item())
        segment()

    trainer.learner.segment = noted
    trainer.run(Limits())
    assert seen == pytest.approx([1e-3 * 0.985 ** (200 * second / 6) for second in range(6)])


def test_a_warm_up_that_is_cut_short_goes_on(make, clock, tmp_path):
    """The deadline comes in the middle of it; the run goes on from there, and ends as one that was never stopped."""
    changes = {"curriculum": {"rate": 0.05, "begin": 1.0}, "validation": {"every_batches": 0}}
    whole = make(0.0, 0.0, 0.0, learns=True, **changes)
    whole.run(Limits())
    expected = {name: x.clone() for name, x in whole.learner.tensors().items()}
    trainer = make(1.0, 10.0, 0.0, learns=True, **changes)
    trainer.run(Limits(deadline=clock.now + 130))
    # A warm-up takes 100 seconds and a horizon three: the second warm-up has begun.
    assert trainer.progress.segments == 3
    assert clock.now < 1000 + 130 + 41
    kept = load_checkpoint(tmp_path / CHECKPOINT)
    assert (kept.progress.walking, kept.progress.walked, kept.progress.warm_up) == ("rows", 4, 10)
    again = make(0.0, 0.0, 0.0, learns=True, checkpoint=kept, **changes)
    again.run(Limits())
    for name, x in again.learner.tensors().items():
        assert torch.equal(x, expected[name]), name
    assert math.isfinite(again.progress.best_cost)
