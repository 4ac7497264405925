"""What a horizon begins with: its instances, their tours after the warm-up, and the learning rates."""

import pytest
import torch

from dact.training.buffers import snapshot
from dact.training.checkpoint import load_checkpoint
from dact.training.command import make_trainer
from dact.training.recorder import Recorder
from dact.training.rollout import rollout
from dact.training.trainer import Limits
from dact.training.validation import Score

WARM = {"rate": 0.05, "begin": 1.0}
"""Ten warm-up steps from the first horizon on."""


@pytest.fixture
def make(tmp_path, tiny):
    """Builds a trainer with horizons of one segment, whose validations take no time."""

    def call(costs=(), checkpoint=None, **changes):
        config = tiny(**{"schedule": {"horizon": 2, "epochs": 6, "batches": 1}} | changes)
        trainer = make_trainer(config, tmp_path, Recorder(tmp_path, tensorboard=False), checkpoint=checkpoint)
        answers = iter(costs)
        trainer.validation.measure = lambda *_: Score(next(answers, 2.0))
        return trainer

    return call


def watched(trainer):
    """Lists that grow as the trainer runs: all buffers as each horizon begins, and as it ends."""
    begins, ends, segment = [], [], trainer.learner.segment

    def noted():
        begins.append(snapshot(trainer.learner.buffers.tensors()))
        segment()
        ends.append(snapshot(trainer.learner.buffers.tensors()))

    trainer.learner.segment = noted
    return begins, ends


def assert_fresh(seen):
    """No search has been made from here: the tours are the best so far, and there is no last move."""
    assert torch.equal(seen["state.incumbent_BN"], seen["state.tour_BN"])
    assert torch.equal(seen["state.incumbent_cost_B"], seen["state.cost_B"])
    assert (seen["state.last_move_B2"] == -1).all()
    assert (seen["state.stall_B"] == 0).all()


def test_warm_up_walks_with_the_policy(make_learner, problem_name):
    """The states are those of the policy's own search, and the instances are the same."""
    learner = make_learner(problem_name)
    before = snapshot(learner.buffers.tensors())
    expected = learner.engine.advance(learner.buffers.batch, learner.buffers.state, 10)
    learner.warm_up(10)
    after = learner.buffers.tensors()
    assert torch.equal(after["state.tour_BN"], expected.tour_BN)
    assert torch.equal(after["state.incumbent_cost_B"], expected.incumbent_cost_B)
    assert (after["state.incumbent_cost_B"] < before["state.incumbent_cost_B"]).any()
    assert not torch.equal(after["state.stream_B"], before["state.stream_B"])
    assert torch.equal(after["batch.coordinates_BN2"], before["batch.coordinates_BN2"])


@pytest.mark.parametrize("start", ["best", "last"])
def test_a_horizon_begins_where_the_warm_up_led(make, problem_name, start):
    """With the best solutions of ten steps from new instances, or with the last ones, and with nothing else of it."""
    twin = make(problem=problem_name).learner
    twin.new_batch()
    fresh = snapshot(twin.buffers.tensors())
    twin.warm_up(10)
    state = twin.buffers.state
    assert not torch.equal(state.tour_BN, state.incumbent_BN)
    trainer = make(problem=problem_name, curriculum=WARM | {"start": start})
    begins, _ = watched(trainer)
    trainer.run(Limits(segments=1))
    assert trainer.progress.warm_up == 10
    seen = begins[0]
    assert torch.equal(seen["batch.coordinates_BN2"], fresh["batch.coordinates_BN2"])
    assert torch.equal(seen["state.tour_BN"], state.incumbent_BN if start == "best" else state.tour_BN)
    assert torch.equal(seen["state.cost_B"], state.incumbent_cost_B if start == "best" else state.cost_B)
    assert_fresh(seen)


@pytest.mark.parametrize("method", ["back_to_best", "from_here"])
def test_the_first_step_may_undo_the_last_move_of_the_warm_up(make_learner, method):
    """All pairs of different positions are open at the first step of a horizon, and one fewer at the second."""
    learner = make_learner("tsp")
    learner.warm_up(10)
    assert (learner.buffers.state.last_move_B2 >= 0).all()
    getattr(learner, method)()
    _, segment = rollout(learner.engine, learner.task, learner.buffers.batch, learner.buffers.state, 2)
    assert segment.open_TBNN.sum(dim=(2, 3)).tolist() == [[30] * 8, [28] * 8]


@pytest.mark.parametrize("tours", ["greedy", "random"])
def test_batches_begin_with_the_tours_asked_for(make, problem_name, tours):
    """Greedy ones in every new batch, or none of them."""
    trainer = make(problem=problem_name, curriculum={"rate": 0.0, "tours": tours})
    learner, problem = trainer.learner, trainer.learner.task.problem
    begun = []

    def begin():
        buffers = learner.buffers
        begun.append((problem.greedy_start(buffers.batch), buffers.state.tour_BN.clone(), buffers.state.cost_B.clone()))

    learner.segment = begin
    trainer.run(Limits(segments=2))
    assert [torch.equal(greedy_BN, tour_BN) for greedy_BN, tour_BN, _ in begun] == [tours == "greedy"] * 2
    assert not torch.equal(begun[0][2], begun[1][2])


@pytest.mark.parametrize("horizons", [1, 3])
def test_instances_stay_for_so_many_horizons(make, problem_name, horizons):
    """Each goes on from the best of the one before, without another warm-up; then there are new instances."""
    trainer = make(problem=problem_name, curriculum=WARM | {"horizons": horizons})
    begins, ends = watched(trainer)
    trainer.run(Limits())
    assert len(begins) == 6
    for horizon in range(1, 6):
        before, seen = ends[horizon - 1], begins[horizon]
        kept = horizon % horizons != 0
        assert torch.equal(seen["batch.coordinates_BN2"], before["batch.coordinates_BN2"]) == kept
        assert torch.equal(seen["state.stream_B"], before["state.stream_B"]) == kept
        assert_fresh(seen)
        if kept:
            assert torch.equal(seen["state.tour_BN"], before["state.incumbent_BN"])


def test_actor_and_critic_have_rates_of_their_own(make, tmp_path):
    """Both fall by the schedule, both are halved by a collapse, and a run that goes on has them at once."""
    changes = {"ppo": {"actor_rate": 1e-3, "critic_rate": 3e-4}, "validation": {"collapse_rate": 0.5}}
    trainer, rates = make([3.0, 2.0, 9.0], **changes), []
    trainer.learner.segment = lambda: rates.append([rate.item() for rate in trainer.learner.optimiser.rates])
    trainer.run(Limits())
    assert trainer.progress.rollbacks == 1
    factors = [scale * 0.985 ** (200 * horizon / 6) for horizon, scale in enumerate([1, 1, 1, 1, 0.5, 0.5])]
    assert rates == [pytest.approx([1e-3 * factor, 3e-4 * factor]) for factor in factors]
    again = make(checkpoint=load_checkpoint(tmp_path / "checkpoint.pt"), **changes)
    assert [rate.item() for rate in again.learner.optimiser.rates] == rates[-1]


def test_the_critic_may_learn_first(make):
    """Over half of six horizons the actor stays as it is, and the critic does not; then both learn."""
    trainer = make(schedule={"critic_first": 0.5, "horizon": 2, "epochs": 6, "batches": 1})
    actor, critic = trainer.learner.networks.policy, trainer.learner.networks.critic
    segment, seen = trainer.learner.segment, []

    def noted() -> None:
        before = [snapshot(network.state_dict()) for network in (actor, critic)]
        segment()
        after = (actor.state_dict(), critic.state_dict())
        seen.append(
            [
                any(not torch.equal(x, now[name]) for name, x in was.items())
                for was, now in zip(before, after, strict=True)
            ]
        )

    trainer.learner.segment = noted
    trainer.run(Limits())
    assert seen == [[False, True]] * 3 + [[True, True]] * 3
