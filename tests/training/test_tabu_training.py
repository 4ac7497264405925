"""Training on searches that do not go back to recent tours."""

from dataclasses import replace

import pytest
import torch

from dact.kernels.fingerprint import fingerprints
from dact.search import PlainEngine, SearchConfig, start_state
from dact.training.checkpoint import load_checkpoint, save_checkpoint
from dact.training.command import make_trainer
from dact.training.curriculum import CurriculumConfig
from dact.training.keeping import CHECKPOINT
from dact.training.ppo import evaluate_segment
from dact.training.recorder import Silence
from dact.training.rollout import walk

GROUPS = {"group": 4, "takeover": "any", "segment": 6}


def comebacks(learner, steps: int) -> int:
    """How many steps of a rollout lead to a tour that its row had before."""
    batch, state = learner.buffers.batch, learner.buffers.state
    _, made = walk(learner.engine, batch, state, steps)
    tours = torch.stack([fingerprints(tour_BN, batch.depots) for tour_BN in made.tour_ZBN], dim=1).tolist()
    return sum(len(row) - len(set(row)) for row in tours)


def test_few_tours_of_a_rollout_come_back(make_learner, problem_name):
    """As in a search with the same setting."""
    kept, free = (comebacks(make_learner(problem_name, tabu=length), 30) for length in (64, 0))
    assert free > 20
    assert kept < free / 4


@pytest.mark.parametrize("options", [{}, GROUPS], ids=["rows", "groups"])
def test_log_probabilities_are_those_of_the_update(make_learner, problem_name, options):
    """Of the move that was made, whatever was drawn before it."""
    learner = make_learner(problem_name, tabu=16, **options)
    batch, state = learner.buffers.batch, learner.buffers.state
    for _ in range(3):
        state, segment = learner.rollout(learner.engine, batch, state)
        now = evaluate_segment(learner.networks, segment)
        torch.testing.assert_close(now.log_prob_TB, segment.log_prob_TB, atol=1e-4, rtol=0)


def test_a_new_start_forgets(make_learner, problem_name):
    """Where a horizon begins, the tour that it begins from is the only one that is known."""
    learner = make_learner(problem_name, tabu=8)
    learner.warm_up(5)
    assert (learner.buffers.state.recent_BL[:, :-6] == 0).all()
    assert (learner.buffers.state.recent_BL[:, -6:] != 0).all()
    for begin in (learner.back_to_best, learner.from_here, learner.new_batch):
        begin()
        state = learner.buffers.state
        assert (state.recent_BL[:, :-1] == 0).all()
        assert torch.equal(state.recent_BL[:, -1], fingerprints(state.tour_BN, learner.buffers.batch.depots))


@pytest.mark.parametrize("changes", [{}, {"curriculum": {"ages": 12}}, {"ppo": GROUPS | {"segment": 2}}])
def test_stopped_and_resumed(tiny, in_parts, problem_name, changes):
    """Recent tours are part of a checkpoint: a run in parts ends as a whole one."""
    in_parts(tiny(**{"problem": problem_name, "tabu": 8, "validation": {"every_batches": 0}} | changes), stops=(1, 5))


def test_validation_searches_so_too(tmp_path, tiny):
    """Weights are chosen by the search that they are trained for."""
    costs = []
    for length in (0, 64):
        config = tiny(tabu=length, size=9, validation={"steps": 40})
        validation = make_trainer(config, tmp_path / str(length), Silence()).examiner.validation
        part = validation.parts[0]
        engine = PlainEngine(part.pipeline.problem, part.engine.policy, SearchConfig(patience=250, tabu=length))
        start = start_state(part.starts.tour_BN, part.batch.cost(part.starts.tour_BN), part.starts.stream_R)
        costs.append(validation.measure().cost)
        assert costs[-1] == pytest.approx(engine.advance(part.batch, start, 40).incumbent_cost_B.mean().item())
    assert costs[0] != costs[1]


def test_it_cannot_change_later(tmp_path, tiny, train):
    """The best cost so far was measured with it."""
    folder = tmp_path / "run"
    train(folder, tiny(tabu=8), segments=1)
    with pytest.raises(ValueError, match="setting 'tabu' of a run that goes on cannot change from 8 to 4"):
        train(folder, resume=folder, settings=["tabu=4"])


def test_wrong_settings(tiny):
    """As in a search."""
    with pytest.raises(ValueError, match="tabu -1 is not between 0 and 1024"):
        tiny(tabu=-1)


def test_pools_of_all_ages_know_their_own(make_learner, problem_name):
    """A new instance comes with the tour that it begins from, and without those of the row before it."""
    learner = make_learner(problem_name, tabu=8, rows=12, segment=2, curriculum=CurriculumConfig(ages=12))
    learner.refill()
    fresh = learner.lane.pool.fresh.state.recent_BL.clone()
    learner.segment()
    replaced = (learner.buffers.state.recent_BL == fresh).all(1)
    assert replaced.any()
    assert not replaced.all()


def test_runs_from_before_the_setting_go_on(tmp_path, tiny, train):
    """Their checkpoints lack it, and what describes bands; they end where a run that has the defaults ends."""
    folders = [tmp_path / name for name in ("old", "new")]
    for folder in folders:
        train(folder, tiny(problem="cvrp"), segments=4)
    path = folders[0] / CHECKPOINT
    checkpoint = load_checkpoint(path)
    plain = {name: value for name, value in checkpoint.config.items() if name != "tabu"}
    plain["instances"] = {name: plain["instances"][name] for name in ("nodes", "depot", "demand", "capacity")}
    save_checkpoint(path, replace(checkpoint, config=plain))
    ends = [load_checkpoint(train(folder, resume=folder).folder / CHECKPOINT).tensors for folder in folders]
    for name, x in ends[0].items():
        assert torch.equal(x, ends[1][name]), name
