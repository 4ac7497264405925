"""What a run keeps: checkpoints, the weights to go back to, validations by the clock, and TensorBoard's scalars."""

from dataclasses import replace

import pytest
import torch
from tables import rows

from dact.search import PlainEngine, SearchConfig, start_state
from dact.training.buffers import snapshot
from dact.training.checkpoint import load_checkpoint
from dact.training.command import make_trainer, train_command
from dact.training.config import to_toml
from dact.training.recorder import Recorder
from dact.training.trainer import Limits
from dact.training.validation import Score

SHORT = {"horizon": 2, "epochs": 6, "batches": 1}
"""Six horizons of one segment."""
EVERYTHING = {"actor", "critic", "step", "exp_avg", "exp_avg_sq"}


@pytest.fixture
def scripted(tmp_path, tiny):
    """Builds a trainer whose validations give the costs told, and the list of what was learnt at each of them."""

    def make(costs, checkpoint=None, **changes):
        recorder = Recorder(tmp_path, tensorboard=False)
        trainer = make_trainer(tiny(schedule=SHORT, **changes), tmp_path, recorder, checkpoint=checkpoint)
        answers, learnt = iter(costs), []

        def measure(*_):
            learnt.append(snapshot(trainer.learner.learnt()))
            return Score(next(answers))

        trainer.validation.measure = measure
        return trainer, learnt

    return make


def differing(left, right) -> set[str]:
    """The kinds of tensors that are not the same in both: weights by network, Adam's memory by its part."""
    assert left.keys() == right.keys()
    names = (name.split(".") for name, x in left.items() if not torch.equal(x, right[name]))
    return {each[-1] if each[0] == "optimiser" else each[0] for each in names}


def test_half_a_checkpoint_leaves_the_one_before(tmp_path, scripted):
    """Where files may not grow to its size, the new one is not written, and the old one loads."""
    resource = pytest.importorskip("resource")
    trainer, _ = scripted([3.0, 2.0])
    trainer.run(Limits(segments=2))
    path = tmp_path / "checkpoint.pt"
    before = path.read_bytes()
    trainer.progress.segments += 1
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limits[1]))
    try:
        with pytest.raises(ValueError, match="cannot be written"):
            trainer.save()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert load_checkpoint(path).progress.segments == 2


def test_a_collapse_takes_the_optimisers_memory_back(scripted):
    """Weights, both of Adam's moments and its count are those at the best validation."""
    trainer, learnt = scripted([3.0, 2.0, 9.0])
    trainer.run(Limits(segments=4))
    assert trainer.progress.rollbacks == 1
    assert differing(learnt[1], learnt[2]) == EVERYTHING
    assert differing(learnt[1], trainer.learner.learnt()) == set()


def test_a_run_that_goes_on_knows_its_best(tmp_path, scripted):
    """A collapse after a stop brings back the weights that were the best before it, not those at the stop."""
    stopped, learnt = scripted([3.0, 2.0, 2.05])
    stopped.run(Limits(segments=3))
    best = learnt[1]
    assert differing(best, stopped.learner.learnt()) == EVERYTHING
    resumed, _ = scripted([9.0], checkpoint=load_checkpoint(tmp_path / "checkpoint.pt"))
    resumed.run(Limits(segments=4))
    assert resumed.progress.rollbacks == 1
    assert differing(best, resumed.learner.learnt()) == set()


@pytest.mark.parametrize(("every", "expected"), [(25.0, [0, 3, 6]), (5.0, [0, 1, 2, 3, 4, 5, 6]), (0.0, [0, 6])])
def test_validations_by_the_clock(tmp_path, scripted, every, expected):
    """With horizons of ten seconds: after every third one for 25 seconds, after each for 5, and at the end for none."""
    trainer, _ = scripted([2.0] * 7, validation={"every_batches": 0, "every_seconds": every})

    def ten_seconds():
        trainer.progress.seconds += 10

    trainer.learner.segment = ten_seconds
    reports = []
    trainer.recorder = Recorder(tmp_path, reports.append, tensorboard=False)
    trainer.run(Limits())
    assert [report.segments for report in reports if report.validation_cost is not None] == expected


def test_validations_have_their_patience(tmp_path, tiny):
    """The cost is that of a search with the patience of the config."""
    found = []
    for patience in (1, 1000):
        config = tiny(size=8, validation={"steps": 20, "patience": patience})
        trainer = make_trainer(config, tmp_path, Recorder(tmp_path, tensorboard=False))
        validation, learner = trainer.validation, trainer.learner
        search = SearchConfig(operator=config.operator, patience=patience)
        engine = learner.networks.engine(learner.task.problem, search)
        part = validation.parts[0]
        start = start_state(part.starts.tour_BN, part.batch.cost(part.starts.tour_BN), part.starts.stream_R)
        cost_B = engine.advance(part.batch, start, 20).incumbent_cost_B
        found.append(validation.measure().cost)
        assert found[-1] == pytest.approx(cost_B.mean().item())
    assert found[0] != pytest.approx(found[1])


@pytest.mark.parametrize("nodes", ["uniform", "clustered"])
def test_validations_are_checked(tmp_path, tiny, monkeypatch, nodes):
    """Scores choose weights, so they are recomputed in float64 from the tours, and a tour that is none raises."""
    config = tiny(validation={"count": 3, "steps": 3}, instances={"nodes": nodes})
    validation = make_trainer(config, tmp_path, Recorder(tmp_path, tensorboard=False)).validation
    advance = PlainEngine.advance

    def told_wrong(engine, *rest):
        state = advance(engine, *rest)
        return replace(state, incumbent_cost_B=state.incumbent_cost_B / 2)

    def led_wrong(engine, *rest):
        state = advance(engine, *rest)
        return replace(state, incumbent_BN=torch.zeros_like(state.incumbent_BN))

    honest = validation.measure().cost
    monkeypatch.setattr(PlainEngine, "advance", told_wrong)
    assert validation.measure().cost > 0.9 * honest
    monkeypatch.setattr(PlainEngine, "advance", led_wrong)
    with pytest.raises(RuntimeError, match="does not visit every node once"):
        validation.measure()


def test_tensorboard_has_the_numbers_of_the_csv(tmp_path, tiny):
    """Every number of a reading is a scalar by the segments done."""
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    path = tmp_path / "tiny.toml"
    path.write_text(to_toml(tiny(schedule=SHORT, curriculum={"begin": 1.0})))
    train_command(path, out=tmp_path / "run", segments=2)
    events = EventAccumulator(str(tmp_path / "run/tensorboard")).Reload()
    table = rows(tmp_path / "run")
    for name in (
        *("approx_kl", "clip_fraction", "explained_variance", "entropy", "actor_norm", "critic_norm"),
        *("reward", "actor_loss", "value_loss", "actor_rate", "warm_up_steps", "validation_cost"),
    ):
        expected = {int(row["segments"]): float(row[name]) for row in table if row[name]}
        assert expected, name
        scalars = {scalar.step: scalar.value for scalar in events.Scalars(name)}
        assert scalars == pytest.approx(expected, rel=1e-5), name
