"""Copies of an instance that judge one another."""

import math

import pytest
import torch

from dact.training.buffers import snapshot
from dact.training.checkpoint import load_checkpoint
from dact.training.command import make_trainer
from dact.training.curriculum import CurriculumConfig
from dact.training.groups import credit_of, gathered, group_rollout
from dact.training.keeping import CHECKPOINT
from dact.training.ppo import PpoConfig, evaluate_segment, update
from dact.training.recorder import Silence
from dact.training.rollout import choose
from dact.training.trainer import Limits

GROUP = 4
STATE = ("tour_BN", "cost_B", "incumbent_BN", "incumbent_cost_B", "stall_B", "last_move_B2")


def alike(x_B: torch.Tensor) -> bool:
    """Is every row of a group as its first?"""
    x_IG = x_B.view(-1, GROUP, *x_B.shape[1:])
    return bool((x_IG == x_IG[:, :1]).all())


def rewards(steps: int = 5, rows: int = 24) -> torch.Tensor:
    """Few gains, as late in a search, and a group without any."""
    generator = torch.Generator().manual_seed(1)
    reward_TB = torch.rand(steps, rows, generator=generator) * (torch.rand(steps, rows, generator=generator) < 0.2)
    reward_TB[:, :GROUP] = 0
    return reward_TB


@pytest.mark.parametrize("tours", ["random", "greedy"])
def test_copies_begin_alike(make_learner, problem_name, tours):
    """Instances and tours are the same within a group, and others in the next; each row has draws of its own."""
    learner = make_learner(problem_name, group=GROUP, curriculum=CurriculumConfig(tours=tours))
    buffers = learner.buffers
    assert all(alike(x) for name, x in buffers.tensors().items() if name != "state.stream_B")
    assert not torch.equal(buffers.batch.coordinates_BN2[0], buffers.batch.coordinates_BN2[GROUP])
    assert len(set(buffers.state.stream_B.tolist())) == 8


@pytest.mark.parametrize("takeover", ["best", "any"])
def test_a_segment_begins_where_one_of_the_group_is(make_learner, problem_name, takeover):
    """All of its state but the draws: that of the row with the best incumbent, or of the first."""
    learner = make_learner(problem_name, group=GROUP)
    buffers = learner.buffers
    state = learner.engine.advance(buffers.batch, buffers.state, 6)
    assert not alike(state.tour_BN)
    begun = gathered(state, PpoConfig(group=GROUP, takeover=takeover))
    cost_IG = state.incumbent_cost_B.view(-1, GROUP)
    row_I = (cost_IG.argmin(1) if takeover == "best" else torch.zeros(2, dtype=torch.long)) + torch.tensor([0, GROUP])
    for name in STATE:
        assert alike(getattr(begun, name)), name
        assert torch.equal(getattr(begun, name)[::GROUP], getattr(state, name)[row_I]), name
    assert torch.equal(begun.stream_B, state.stream_B)


@pytest.mark.parametrize("scale", ["none", "group"])
def test_advantages_of_a_group_cancel(scale):
    """At every step, whatever they are divided by; where nobody gained they are zero."""
    credit = credit_of(rewards(), PpoConfig(group=GROUP, scale=scale))
    advantage_TIG = (credit.return_TB - credit.baseline_TB).view(5, -1, GROUP)
    torch.testing.assert_close(advantage_TIG.sum(2), torch.zeros(5, 6), atol=1e-5, rtol=0)
    assert (advantage_TIG[:, 0] == 0).all()
    assert (advantage_TIG[0, 1:].abs().amax(1) > 0).all()


def test_returns_end_with_the_segment():
    """They are the discounted rewards from a step on, with nothing behind the last."""
    reward_TB = rewards()
    credit = credit_of(reward_TB, PpoConfig(group=GROUP, discount=0.9))
    expected_TB = torch.stack(
        [sum(0.9 ** (later - step) * reward_TB[later] for later in range(step, 5)) for step in range(5)]
    )
    torch.testing.assert_close(credit.return_TB, expected_TB)


def test_scaled_groups_count_alike():
    """A group whose gains are a tenth of another's has the same advantages."""
    small_TB = rewards()[:, GROUP : 2 * GROUP]
    config = PpoConfig(group=GROUP, scale="group")
    credit = credit_of(torch.cat((small_TB, 10 * small_TB), 1), config)
    advantage_TB = credit.return_TB - credit.baseline_TB
    torch.testing.assert_close(advantage_TB[:, :GROUP], advantage_TB[:, GROUP:])
    torch.testing.assert_close(advantage_TB[0, :GROUP].std(), torch.tensor(1.0))


def test_the_record_is_of_the_moves_made(make_learner, problem_name):
    """One step of as many rows as there were moves: rewards, features and open moves are those of each."""
    learner = make_learner(problem_name, group=GROUP, segment=3)
    batch, state = learner.buffers.batch, learner.buffers.state
    after, segment = group_rollout(learner.engine, learner.task, batch, state, learner.config)
    gained_B = segment.reward_TB.view(3, 8).sum(0)
    torch.testing.assert_close(gained_B, state.incumbent_cost_B - after.incumbent_cost_B, atol=1e-5, rtol=0)
    assert (segment.weight_B == 1).all()
    first_BNF = learner.task.problem.node_features(batch, state.tour_BN)
    assert torch.equal(segment.features_TBNF[0, :8], first_BNF)
    move_C2 = segment.move_TB2[0]
    assert segment.open_TBNN[0][torch.arange(24), move_C2[:, 0], move_C2[:, 1]].all()
    log_prob_TB = evaluate_segment(learner.networks, segment).log_prob_TB
    torch.testing.assert_close(log_prob_TB, segment.log_prob_TB, atol=1e-5, rtol=0)


def test_a_share_of_the_moves(make_learner, problem_name):
    """The search goes on as with all of them; those that are taken are as in the record of all."""
    records, ends = [], []
    for share in (1.0, 0.25):
        learner = make_learner(problem_name, group=GROUP, segment=20, share=share)
        buffers = learner.buffers
        end, segment = group_rollout(learner.engine, learner.task, buffers.batch, buffers.state, learner.config)
        records.append(segment)
        ends.append(end)
    every, few = records
    assert torch.equal(ends[0].tour_BN, ends[1].tour_BN)
    assert few.weight_B.shape == (40,)
    whole = {tuple(row) for row in torch.stack((*every.credit, every.log_prob_TB))[:, 0].t().tolist()}
    chosen = [tuple(row) for row in torch.stack((*few.credit, few.log_prob_TB))[:, 0].t().tolist()]
    assert set(chosen) <= whole


def test_chosen_moves_stand_for_all():
    """The weighted mean of what is chosen by advantages is that of all, on average."""
    credit = credit_of(rewards(), PpoConfig(group=GROUP))
    size_M = (credit.return_TB - credit.baseline_TB).abs().view(-1)
    other_M = torch.rand(len(size_M), generator=torch.Generator().manual_seed(3))
    generator = torch.Generator().manual_seed(0)
    draws = [choose(size_M, 20, torch.rand(len(size_M), generator=generator), 0.5) for _ in range(3000)]
    for x_M in (size_M, other_M):
        means = torch.stack([(weight_C * x_M[move_C]).mean() for move_C, weight_C in draws])
        assert abs(means.mean() - x_M.mean()) < 4 * means.std() / len(draws) ** 0.5


@pytest.mark.parametrize("rows", [8, 80])
def test_the_critic_stays_as_it_is(make_learner, problem_name, rows):
    """An update changes the policy and no bit of the critic, with one block of rows and with several."""
    learner = make_learner(problem_name, rows=rows, size=12, group=GROUP, smoothing=0.9)
    learner.optimiser.set_rates(1e-3, 1e-3)
    before = snapshot(learner.learnt())
    learner.segment()
    after = learner.learnt()
    assert all(torch.equal(x, before[name]) for name, x in after.items() if name.startswith("critic."))
    assert any(not torch.equal(x, before[name]) for name, x in after.items() if name.startswith("actor."))
    assert all(x.isfinite().all() for x in after.values())


def test_gradients_follow_the_advantages(make_learner):
    """Without the bonus and where nobody gained, nothing is learnt."""
    learner = make_learner(group=GROUP, update_epochs=1)
    learner.optimiser.set_rates(1e-3, 1e-3)
    buffers = learner.buffers
    _, segment = group_rollout(learner.engine, learner.task, buffers.batch, buffers.state, learner.config)
    nothing = credit_of(torch.zeros(4, 8), learner.config)
    object.__setattr__(segment, "credit", type(nothing)(*(x.view(1, -1) for x in nothing)))
    before = snapshot(learner.learnt())
    update(learner.networks, segment, learner.optimiser, learner.config)
    assert all(torch.equal(x, before[name]) for name, x in learner.learnt().items() if name.startswith("actor."))


def test_copies_are_of_one_age(make_learner):
    """With rows of all ages a group is replaced as one, by copies that are alike."""
    curriculum = CurriculumConfig(ages=12, start="last")
    learner = make_learner(rows=12, group=GROUP, segment=2, curriculum=curriculum)
    assert learner.lane.pool.left_B.tolist() == [2] * GROUP + [6] * GROUP + [10] * GROUP
    before = learner.buffers.batch.coordinates_BN2.clone()
    learner.segment()
    after = learner.buffers.batch.coordinates_BN2
    assert (before != after).flatten(1).any(1).tolist() == [True] * GROUP + [False] * 2 * GROUP
    assert alike(after)


@pytest.mark.parametrize("ages", [0, 12])
def test_stopped_and_resumed(tmp_path, tiny, ages):
    """A run that was stopped, also within a horizon, ends as if it had not been."""
    changes = {"ppo": {"segment": 2, "group": 2, "share": 0.5}, "curriculum": {"ages": ages}}

    def make(name: str):
        path = tmp_path / name / CHECKPOINT
        checkpoint = load_checkpoint(path) if path.exists() else None
        return make_trainer(tiny(**changes), tmp_path / name, Silence(), checkpoint=checkpoint)

    whole = make("whole")
    whole.run(Limits())
    for stop in (1, 4, math.inf):
        resumed = make("parts")
        resumed.run(Limits(segments=stop))
    expected = whole.learner.tensors()
    assert all(torch.equal(x, expected[name]) for name, x in resumed.learner.tensors().items())


def test_a_run_that_goes_on_keeps_its_groups(tmp_path, tiny, train):
    """Its rows are copies; how they are compared may change."""
    folder = tmp_path / "run"
    train(folder, tiny(ppo={"group": 2, "segment": 2}), segments=2)
    with pytest.raises(ValueError, match=r"'ppo\.group' of a run that goes on cannot change from 2 to 4"):
        train(folder, resume=folder, settings=["group=4"])
    assert train(folder, resume=folder, settings=["ppo.scale=group", "takeover=any"]).finished


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"ppo": {"group": 1}}, "ppo.group is 1, but must be 0"),
        ({"ppo": {"group": -2}}, "ppo.group is -2"),
        ({"ppo": {"group": 3}}, "schedule.rows 4 is not a multiple of ppo.group 3"),
        ({"ppo": {"takeover": "worst"}}, "ppo.takeover 'worst' is not one of best, any"),
        ({"ppo": {"scale": "batch"}}, "ppo.scale 'batch' is not one of none, group"),
        ({"ppo": {"group": 2}, "schedule": {"critic_first": 0.1}}, "schedule.critic_first 0.1 goes with ppo.group = 0"),
    ],
)
def test_wrong_settings_are_named(tiny, changes, named):
    """The error names the setting and its value."""
    with pytest.raises(ValueError, match=named):
        tiny(**changes)


def test_off_by_default(tiny, make_learner):
    """The paper's critic judges, and rows are instances of their own."""
    assert tiny().ppo.group == 0
    learner = make_learner()
    assert learner.copies == 1
    assert len(set(learner.buffers.batch.coordinates_BN2[:, 0, 0].tolist())) == 8
