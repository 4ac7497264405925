"""Steps with the current policy."""

import dataclasses

import torch

from begun import is_permutation
from dact.kernels.pick_move import idle_moves
from dact.kernels.row_draws import streams
from dact.operators import OPERATORS
from dact.policy import Policy, PolicyConfig
from dact.search import PlainEngine, start_state, step
from dact.training.rollout import Task, choose, rollout, standing


def test_rewards_are_what_the_incumbent_gained(make_learner, problem_name):
    """The rewards of a segment add up to the fall of the incumbent's cost, and tours stay permutations."""
    learner = make_learner(problem_name)
    buffers = learner.buffers
    state, segment = rollout(learner.engine, learner.task, buffers.batch, buffers.state, 5)
    gained_B = buffers.state.incumbent_cost_B - state.incumbent_cost_B
    torch.testing.assert_close(segment.reward_TB.sum(0), gained_B, atol=1e-5, rtol=0)
    assert (segment.reward_TB >= 0).all()
    assert is_permutation(state.tour_BN).all()


def test_standing_is_free_of_units(make_learner, problem_name):
    """Instances in other units, with the same tours, show the critic the same numbers; both are plain at the start."""
    learner = make_learner(problem_name)
    batch, state = learner.buffers.batch, learner.buffers.state
    larger = dataclasses.replace(batch, scale_B=1000 * batch.scale_B)
    cost_ZB, incumbent_ZB = (batch.cost(state.tour_BN) * factor for factor in (torch.tensor([[1.0], [1.2]]), 1.0))
    incumbent_ZB = incumbent_ZB.expand_as(cost_ZB)
    seen_ZB2 = standing(batch, cost_ZB, incumbent_ZB)
    torch.testing.assert_close(standing(larger, 1000 * cost_ZB, 1000 * incumbent_ZB), seen_ZB2)
    assert (seen_ZB2[0, :, 1] == 0).all()
    torch.testing.assert_close(seen_ZB2[1, :, 1], 2 * seen_ZB2[1, :, 0])
    assert (seen_ZB2[..., 0] > 0.1).all()
    assert (seen_ZB2[..., 0] < 5).all()


def test_standing_of_a_segment_is_that_of_its_states(make_learner, problem_name):
    """One entry per state; the incumbents' fall by the rewards."""
    learner = make_learner(problem_name)
    buffers = learner.buffers
    state, segment = rollout(learner.engine, learner.task, buffers.batch, buffers.state, 4)
    assert segment.standing_ZB2.shape == (5, 8, 2)
    ends = standing(buffers.batch, state.cost_B.unsqueeze(0), state.incumbent_cost_B.unsqueeze(0))
    assert torch.equal(segment.standing_ZB2[-1:], ends)
    fall_TB = segment.standing_ZB2[:-1, :, 0] - segment.standing_ZB2[1:, :, 0]
    torch.testing.assert_close(fall_TB * buffers.batch.length**0.5, segment.reward_TB, atol=1e-5, rtol=0)


def test_record_matches_the_states(make_learner, problem_name):
    """Replaying the recorded moves visits states with the recorded features, and every move was open."""
    learner = make_learner(problem_name)
    buffers, problem = learner.buffers, learner.task.problem
    state = buffers.state
    end, segment = rollout(learner.engine, learner.task, buffers.batch, state, 4)
    row_B = torch.arange(buffers.batch.rows)
    for features_BNF, open_BNN, move_B2 in zip(segment.features_TBNF, segment.open_TBNN, segment.move_TB2, strict=True):
        assert torch.equal(features_BNF, problem.node_features(buffers.batch, state.tour_BN))
        assert open_BNN[row_B, move_B2[:, 0], move_B2[:, 1]].all()
        state, _ = step(OPERATORS[learner.task.operator], buffers.batch, state, move_B2)
    assert torch.equal(state.tour_BN, end.tour_BN)
    assert torch.equal(segment.end_BNF, problem.node_features(buffers.batch, end.tour_BN))


def test_idle_moves_are_not_made(tiny):
    """Where they are closed, the record has them closed and no move is one."""
    config = tiny(problem="cvrp", idle_moves=False)
    task = Task(problem=config.searched_problem(), operator=config.operator)
    batch = task.problem.sample(6, 8, torch.Generator().manual_seed(1))
    tour_BN = task.problem.greedy_start(batch)
    begin = start_state(tour_BN, batch.cost(tour_BN), streams(1, range(8), torch.device("cpu")))
    policy = Policy(PolicyConfig(features=task.problem.features)).eval()
    state = begin
    _, segment = rollout(PlainEngine(task.problem, policy, task.search()), task, batch, begin, 4)
    for open_BNN, move_B2 in zip(segment.open_TBNN, segment.move_TB2, strict=True):
        idle_BNN = idle_moves(state.tour_BN, batch.depots)
        assert not (open_BNN & idle_BNN).any()
        assert open_BNN[torch.arange(8), move_B2[:, 0], move_B2[:, 1]].all()
        state, _ = step(OPERATORS["two_opt"], batch, state, move_B2)


def test_a_share_of_the_rows_is_recorded(make_learner, problem_name):
    """Three of eight rows, each as in the record of all; the search itself goes on with all of them, the same way."""
    learner = make_learner(problem_name)
    batch, state = learner.buffers.batch, learner.buffers.state
    ends, segments = [], []
    for share in (1.0, 0.375):
        end, segment = rollout(learner.engine, learner.task, batch, state, 4, share)
        ends.append(end)
        segments.append(segment)
    every, few = segments
    assert torch.equal(ends[0].tour_BN, ends[1].tour_BN)
    assert few.weight_B.shape == (3,)
    assert every.weight_B.tolist() == [1.0] * 8
    row_C = [(few.end_BNF[place] == every.end_BNF).flatten(1).all(1).int().argmax().item() for place in range(3)]
    assert len(set(row_C)) == 3
    for name in ("features_TBNF", "open_TBNN", "move_TB2", "log_prob_TB", "reward_TB", "standing_ZB2"):
        assert torch.equal(getattr(few, name), getattr(every, name)[:, row_C]), name


def test_chosen_rows_stand_for_all():
    """No row twice, those that gained most nearly always, and weighted means that are right on average."""
    generator = torch.Generator().manual_seed(0)
    gain_B = torch.zeros(64)
    gain_B[:4] = torch.tensor([0.5, 0.1, 0.02, 1.0])
    other_B = torch.rand(64, generator=generator)
    draws = [choose(gain_B, 16, torch.rand(64, generator=generator)) for _ in range(4000)]
    assert all(len(set(row_C.tolist())) == 16 for row_C, _ in draws[:100])
    assert sum(3 in row_C for row_C, _ in draws) > 0.99 * len(draws)
    assert sum(60 in row_C for row_C, _ in draws) < 0.3 * len(draws)
    for x_B in (torch.ones(64), gain_B, other_B):
        means = torch.stack([(weight_C * x_B[row_C]).mean() for row_C, weight_C in draws])
        assert abs(means.mean() - x_B.mean()) < 4 * means.std() / len(draws) ** 0.5


def test_choosing_halves_the_noise():
    """With few rows that gained, a quarter chosen so gives a steadier mean of the gains than a quarter at random."""
    generator = torch.Generator().manual_seed(0)
    gain_B = torch.where(torch.rand(256, generator=generator) < 0.05, torch.rand(256, generator=generator), 0.0)
    chosen, drawn = [], []
    for _ in range(500):
        row_C, weight_C = choose(gain_B, 64, torch.rand(256, generator=generator))
        chosen.append((weight_C * gain_B[row_C]).mean())
        drawn.append(gain_B[torch.randperm(256, generator=generator)[:64]].mean())
    assert torch.stack(chosen).std() < 0.5 * torch.stack(drawn).std()


def test_nobody_gained():
    """Then all rows are alike."""
    row_C, weight_C = choose(torch.zeros(32), 8, torch.rand(32))
    assert weight_C.isfinite().all()
    assert (weight_C == weight_C[0]).all()
    assert len(set(row_C.tolist())) == 8
