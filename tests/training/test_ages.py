"""Rows of all ages: when they are replaced, by what, and where the others go on from."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from begun import is_permutation
from dact.problems import PROBLEMS, Batch
from dact.training.buffers import fields, snapshot
from dact.training.checkpoint import load_checkpoint
from dact.training.command import make_trainer
from dact.training.curriculum import CurriculumConfig
from dact.training.keeping import CHECKPOINT
from dact.training.recorder import Silence
from dact.training.trainer import Limits

AGES = {"ages": 12, "start": "last"}
"""Six segments of two steps, where horizons have three."""
SEGMENT = 2


@pytest.fixture
def make(tmp_path, tiny):
    """Builds a trainer of a small pool, without validations."""

    def call(curriculum=None, name="run", **changes):
        changes = {"curriculum": AGES | (curriculum or {}), "validation": {"every_batches": 0}} | changes
        folder = tmp_path / name
        path = folder / CHECKPOINT
        checkpoint = load_checkpoint(path) if path.exists() else None
        trainer = make_trainer(tiny(**changes), folder, Silence(), checkpoint=checkpoint)
        trainer.examiner.validation = None
        return trainer

    return call


@pytest.fixture
def learner(make_learner, problem_name):
    """Twelve rows that live for six segments."""
    return make_learner(problem_name, rows=12, segment=SEGMENT, curriculum=CurriculumConfig(**AGES))


def walked(learner, segments: int) -> list[dict[str, Tensor]]:
    """Buffers and pool at first and after each of some segments, with other instances to come at each."""
    seen = [snapshot(learner.own())]
    for _ in range(segments):
        learner.segment()
        learner.refill()
        seen.append(snapshot(learner.own()))
    return seen


def replaced(before: dict[str, Tensor], after: dict[str, Tensor]) -> list[bool]:
    """Which rows have another instance."""
    return (before["batch.coordinates_BN2"] != after["batch.coordinates_BN2"]).flatten(1).any(1).tolist()


@pytest.mark.parametrize(("rows", "ages"), [(12, 12), (264, 1000), (1056, 1000), (5, 12), (7, 1000)])
def test_ends_of_lives_are_spread_evenly(make_learner, rows, ages):
    """Of rows in a line, as many end in each part of `ages` steps, to within one; all of them at ends of segments."""
    curriculum = CurriculumConfig(ages=ages)
    left_B = make_learner(rows=rows, segment=SEGMENT, curriculum=curriculum).lane.pool.left_B
    assert left_B.min() == SEGMENT
    assert left_B.max() <= ages
    assert (left_B % SEGMENT == 0).all()
    segments = ages // SEGMENT
    counts = torch.bincount(left_B // SEGMENT, minlength=segments + 1)[1:]
    assert counts.max() - counts.min() <= 1
    parts = counts.double().cumsum(0) - rows * torch.arange(1, segments + 1, dtype=torch.double) / segments
    assert parts.abs().max() < 1


def test_rows_are_replaced_when_their_own_time_is_up(learner):
    """First after what they have left, then every `ages` steps; two of twelve at each of six segments."""
    seen = walked(learner, 14)
    first_B = seen[0]["pool.left_B"] // SEGMENT
    assert first_B.tolist() == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    for segment in range(1, 15):
        due = [segment % 6 == first % 6 for first in first_B.tolist()]
        assert replaced(seen[segment - 1], seen[segment]) == due, segment


def test_ages_are_spread_evenly_once_all_rows_were_replaced(learner):
    """After `ages` steps, and for ever: what they have left is spread as it was."""
    seen = walked(learner, 13)
    for each in seen[6:]:
        age_B = 12 - each["pool.left_B"]
        assert sorted(age_B.tolist()) == [0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10]


def test_replaced_rows_are_new(learner, problem_name):
    """They are the prepared instances at their feasible starts, which nothing has been found from; others go on."""
    learner.segment()
    before = snapshot(learner.own())
    learner.segment()
    after, batch = learner.own(), learner.buffers.batch
    due_B = torch.tensor(replaced(before, after))
    assert due_B.tolist() == [place in (2, 3) for place in range(12)]
    for name, x in learner.buffers.tensors().items():
        assert torch.equal(x[due_B], before[f"pool.fresh.{name}"][due_B]), name
    state, fresh = learner.buffers.state, batch.take(due_B.nonzero().flatten())
    assert torch.equal(state.incumbent_BN[due_B], state.tour_BN[due_B])
    assert torch.equal(state.incumbent_cost_B[due_B], state.cost_B[due_B])
    assert torch.equal(state.cost_B[due_B], fresh.cost(state.tour_BN[due_B]))
    assert (state.stall_B[due_B] == 0).all()
    assert (state.last_move_B2[due_B] == -1).all()
    assert (state.last_move_B2[~due_B] >= 0).all()
    assert feasible(problem_name, fresh, state.tour_BN[due_B])


def feasible(problem: str, batch: Batch, tour_BN: Tensor) -> bool:
    """Permutations, whose routes the vehicles can carry."""
    for row, tour_N in enumerate(tour_BN.tolist()):
        one = batch.take(torch.tensor([row]))
        for route in PROBLEMS[problem].routes(one, tour_N) if one.depots else ():
            if sum(one.demand_BN[0, one.depots - 1 + node].item() for node in route) > one.capacity_B.item():
                return False
    return bool(is_permutation(tour_BN).all())


def test_the_others_keep_their_search(learner):
    """Rows whose time is not up are where the search alone would have brought them."""
    buffers = learner.buffers
    expected = learner.engine.advance(buffers.batch, buffers.state, SEGMENT)
    learner.segment()
    kept = slice(2, None)
    assert torch.equal(buffers.state.tour_BN[kept], expected.tour_BN[kept])
    assert torch.equal(buffers.state.incumbent_cost_B[kept], expected.incumbent_cost_B[kept])
    assert torch.equal(buffers.state.stall_B[kept], expected.stall_B[kept])


@pytest.mark.parametrize("start", ["best", "last"])
def test_a_horizon_goes_on(make, problem_name, start):
    """With the rows there are, without a warm-up: from their best, or from where they are."""
    trainer = make({"start": start}, problem=problem_name)
    trainer.run(Limits(segments=3))
    before = snapshot(trainer.learner.own())
    assert (before["state.tour_BN"] != before["state.incumbent_BN"]).any()
    assert trainer._ready(Limits())
    after = trainer.learner.own()
    assert trainer.progress.warm_up == 0
    assert replaced(before, after) == [False] * 4
    assert torch.equal(after["pool.left_B"], before["pool.left_B"])
    wanted = "state.incumbent_BN" if start == "best" else "state.tour_BN"
    assert torch.equal(after["state.tour_BN"], before[wanted])
    assert torch.equal(after["state.incumbent_BN"], before["state.incumbent_BN"])
    fresh = "pool.fresh.batch.coordinates_BN2"
    assert not torch.equal(after[fresh], before[fresh])


def test_no_instance_comes_twice(make):
    """In eight horizons every instance that rows begin with is another one."""
    trainer = make(schedule={"epochs": 4, "horizon": 6}, curriculum={"ages": 6})
    begun, segment = set(), trainer.learner.segment

    def noted() -> None:
        segment()
        begun.update(trainer.learner.buffers.batch.coordinates_BN2[:, 0, 0].tolist())

    trainer.learner.segment = noted
    trainer.run(Limits())
    assert trainer.progress.segments == 24
    # Each of four rows is replaced every three segments. Two of the first four instances last for one segment only.
    assert len(begun) == 2 + 4 * 8


@pytest.mark.parametrize("first", [True, False])
def test_new_rows_have_made_the_warm_up(make, first):
    """Where the curriculum has one, in the first horizon and later: they go on from where it led."""
    trainer = make({"rate": 0.05, "begin": 1.0})
    trainer.run(Limits(segments=0 if first else 3))
    twin = make({"rate": 0.05, "begin": 1.0}, name="run" if not first else "twin").learner
    if first:
        twin.new_batch()
        twin.warm_up(10)
    twin.refill()
    fresh = twin.lane.pool.fresh
    expected = twin.engine.advance(fresh.batch, fresh.state, 10)
    assert trainer._ready(Limits())
    assert trainer.progress.warm_up == 10
    found = trainer.learner.lane.pool.fresh
    assert torch.equal(found.batch.coordinates_BN2, fresh.batch.coordinates_BN2)
    for name, x in fields(expected).items():
        assert torch.equal(getattr(found.state, name), x), name
    assert torch.equal(trainer.learner.buffers.state.tour_BN, twin.buffers.state.tour_BN)


@pytest.mark.parametrize("ages", [0, 12])
def test_tired_rows_go_back_to_their_best(make_learner, problem_name, ages):
    """With `restart`, as a search does; the record of a segment has the state behind it."""
    curriculum = CurriculumConfig(ages=ages, restart=3)
    learner = make_learner(problem_name, rows=12, segment=SEGMENT, curriculum=curriculum)
    most = 0
    for _ in range(8):
        learner.segment()
        state = learner.buffers.state
        most = max(most, int(state.stall_B.max()))
        back_B = state.stall_B == 0
        assert torch.equal(state.tour_BN[back_B], state.incumbent_BN[back_B])
    assert most == 2


def test_stopped_and_resumed(make):
    """A run that was stopped, also in mid-horizon or in its first round of ages, ends as if it had not been."""
    whole = make(name="whole", sizes=[6, 8])
    whole.run(Limits())
    before = 0
    for stop in (1, 3, 7, 13, math.inf):
        resumed = make(name="parts", sizes=[6, 8])
        assert resumed.progress.segments == before
        resumed.run(Limits(segments=stop))
        before = stop
    expected = whole.learner.tensors()
    assert any("pool.left_B" in name for name in expected)
    for name, x in resumed.learner.tensors().items():
        assert torch.equal(x, expected[name]), name


def test_a_run_that_goes_on_keeps_its_ages(tmp_path, tiny, train):
    """Its tensors have them; whether rows are restarted may change."""
    folder = tmp_path / "run"
    train(folder, tiny(curriculum=AGES), segments=2)
    with pytest.raises(ValueError, match=r"'curriculum\.ages' of a run that goes on cannot change from 12 to 0"):
        train(folder, resume=folder, settings=["ages=0"])
    assert train(folder, resume=folder, settings=["restart=4"]).finished


def test_new_instances_for_every_size(make):
    """Where those of a run could not be kept, no lane stays as it was, and lives are spread anew."""
    trainer = make(sizes=[6, 8])
    trainer.run(Limits(segments=8))
    learner, before = trainer.learner, snapshot(trainer.learner.own())
    learner.reseed(5)
    for size in (6, 8):
        for part in ("batch.", "pool.fresh.batch."):
            name = f"{size}.{part}coordinates_BN2"
            assert not torch.equal(learner.own()[name], before[name]), name
        assert learner.own()[f"{size}.pool.left_B"].tolist() == [2, 4, 8, 10]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"ages": -1}, "curriculum.ages -1 is negative"),
        ({"restart": -1}, "curriculum.restart -1 is negative"),
        ({"ages": 13}, "curriculum.ages 13 is not a multiple of ppo.segment 2"),
        ({"ages": 4}, "curriculum.ages 4 is below schedule.horizon 6"),
    ],
)
def test_wrong_settings_are_named(tiny, changes, named):
    """The error names the setting and its value."""
    with pytest.raises(ValueError, match=named):
        tiny(curriculum=changes)


def test_off_by_default(tiny, make_learner):
    """The paper's curriculum: no pool, no restarts, and as many tensors in a checkpoint as before."""
    assert tiny().curriculum == replace(tiny().curriculum, ages=0, restart=0)
    learner = make_learner()
    assert learner.lane.pool is None
    assert not any("pool" in name for name in learner.own())
    assert learner.engine.config.patience == 2**31 - 1
