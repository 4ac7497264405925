"""What validations and losses decide: which weights are the best, and when a run goes back to them."""

import math

import pytest
import torch

from dact.policy import load_weights
from dact.training.checkpoint import load_checkpoint
from dact.training.command import make_trainer
from dact.training.recorder import Recorder
from dact.training.trainer import Limits
from dact.training.validation import Score


@pytest.fixture
def scripted(tmp_path, tiny):
    """Builds a trainer whose validations give the costs told, and the list of what it reports."""

    def make(costs, **changes):
        reports = []
        trainer = make_trainer(tiny(**changes), tmp_path, Recorder(tmp_path, reports.append, tensorboard=False))
        answers = iter(costs)
        trainer.validation.measure = lambda stop: Score(next(answers))
        return trainer, reports

    return make


def test_collapse_rolls_back(tmp_path, scripted):
    """A validation far above the best brings the best weights back, halves the rate, and says so."""
    trainer, reports = scripted([3.0, 2.0, 2.2, 1.9])
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
    assert reports[-1].actor_rate == pytest.approx(0.5 * 1e-3 * 0.985 ** (200 * 17 / 18))


def test_where_a_call_ends_decides_nothing(tmp_path, scripted):
    """A lucky validation at the end of a call gives the weights that are kept, and nothing to judge collapses by."""
    trainer, reports = scripted([3.0, 1.5, 2.0, 2.0, 2.0])
    trainer.run(Limits(segments=3))
    kept = (tmp_path / "best.safetensors").read_bytes()
    trainer.run(Limits())
    assert trainer.progress.rollbacks == 0
    assert trainer.progress.judged_cost == 2.0
    assert trainer.progress.best_cost == 1.5
    assert (tmp_path / "best.safetensors").read_bytes() == kept
    assert [report.event for report in reports if report.event] == ["start", "end"]


def test_a_little_worse_is_no_collapse(scripted):
    """Within the margin training goes on."""
    trainer, reports = scripted([3.0, 2.0, 2.09, 2.0])
    trainer.run(Limits())
    assert trainer.progress.rollbacks == 0
    assert [report.event for report in reports if report.event] == ["start", "best"]


def test_untrained_networks_are_no_best(scripted):
    """The first trained weights become the best even where untrained ones were luckier."""
    trainer, _ = scripted([1.0, 2.0, 2.0, 2.0])
    trainer.run(Limits())
    assert trainer.progress.rollbacks == 0
    assert trainer.progress.best_cost == 2.0


def test_a_loss_that_is_not_finite_rolls_back(scripted):
    """Weights spoilt on the way are replaced at the end of the horizon, and later losses are finite."""
    trainer, reports = scripted([3.0, 2.0, 2.0, 2.0, 2.0])
    trainer.run(Limits(segments=7))
    with torch.no_grad():
        next(trainer.learner.networks.policy.parameters())[0, 0] = torch.nan
    trainer.run(Limits())
    told = [report for report in reports if report.event.startswith("collapse")]
    assert [report.segments for report in told] == [9]
    assert "is nan" in told[0].event
    assert math.isfinite(reports[-1].metrics["actor_loss"])


def test_parameters_keep_their_place(tmp_path, scripted):
    """Resuming and rolling back copy into the tensors that a captured graph would hold."""
    trainer, _ = scripted([3.0, 2.0, 9.0, 2.0, 2.0, 2.0])
    before = {name: x.data_ptr() for name, x in trainer.learner.tensors().items()}
    trainer.run(Limits())
    assert trainer.progress.rollbacks == 1
    trainer.resume(load_checkpoint(tmp_path / "checkpoint.pt"))
    assert {name: x.data_ptr() for name, x in trainer.learner.tensors().items()} == before


def test_smoothed_weights_are_validated_and_kept(tmp_path, scripted):
    """The file holds their running mean; training goes on with the weights themselves."""
    trainer, _ = scripted([3.0, 2.0], ppo={"smoothing": 0.9})
    optimiser, seen = trainer.learner.optimiser, []
    measure = trainer.validation.measure
    trainer.validation.measure = lambda stop: seen.append(optimiser.value_GL.clone()) or measure(stop)
    trainer.run(Limits(segments=6))
    assert torch.equal(seen[1], optimiser.smooth_GL)
    assert not torch.equal(seen[1], optimiser.value_GL)
    with optimiser.smoothed():
        smooth = {name: x.clone() for name, x in trainer.learner.networks.policy.state_dict().items()}
    kept = load_weights(tmp_path / "best.safetensors").policy.state_dict()
    assert all(torch.equal(kept[name], x) for name, x in smooth.items())
