"""Steps with the current policy."""

import torch

from dact import tours
from dact.search import PlainEngine, SearchConfig, step
from dact.training.rollout import rollout, walk


def test_rewards_are_what_the_incumbent_gained(make_learner, problem_name):
    """The rewards of a segment add up to the fall of the incumbent's cost, and tours stay permutations."""
    learner = make_learner(problem_name)
    buffers = learner.buffers
    state, segment = rollout(
        learner.networks, learner.task, buffers.batch, buffers.state, 5, learner.generators["rollout"]
    )
    gained_B = buffers.state.incumbent_cost_B - state.incumbent_cost_B
    torch.testing.assert_close(segment.reward_TB.sum(0), gained_B, atol=1e-5, rtol=0)
    assert (segment.reward_TB >= 0).all()
    assert tours.is_permutation(state.tour_BN).all()


def test_record_matches_the_states(make_learner, problem_name):
    """Replaying the recorded moves visits states with the recorded features, and every move was open."""
    learner = make_learner(problem_name)
    buffers, problem = learner.buffers, learner.task.problem
    state = buffers.state
    end, segment = rollout(learner.networks, learner.task, buffers.batch, state, 4, learner.generators["rollout"])
    row_B = torch.arange(buffers.batch.rows)
    for features_BNF, open_BNN, move_B2 in zip(segment.features_TBNF, segment.open_TBNN, segment.move_TB2, strict=True):
        assert torch.equal(features_BNF, problem.node_features(buffers.batch, state.tour_BN))
        assert open_BNN[row_B, move_B2[:, 0], move_B2[:, 1]].all()
        state, _ = step(learner.task.operator, buffers.batch, state, move_B2)
    assert torch.equal(state.tour_BN, end.tour_BN)
    assert torch.equal(segment.end_BNF, problem.node_features(buffers.batch, end.tour_BN))


def test_walk_is_the_plain_engine(make_learner, problem_name):
    """Step by step, with and without restarts, training walks as the search engine does."""
    for patience in (None, 2):
        learner = make_learner(problem_name)
        batch, state = learner.buffers.batch, learner.buffers.state
        config = SearchConfig(patience=patience or 10**9)
        engine = PlainEngine(learner.task.problem, learner.networks.policy, config)
        expected = engine.advance(batch, state, 12, torch.Generator().manual_seed(5))
        generator = torch.Generator().manual_seed(5)
        for _ in range(12):
            state = walk(learner.networks, learner.task, batch, state, generator, patience)
        for name, x in vars(expected).items():
            assert torch.equal(getattr(state, name), x), name
