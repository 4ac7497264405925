"""Training on solved instances: what moves are paid for neighbours as in the solution."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from dact.problems import PROBLEMS, UNIFORM
from dact.symmetries import SYMMETRIES
from dact.training.checkpoint import load_checkpoint
from dact.training.command import make_trainer
from dact.training.guide import GuideConfig, GuidedSource, SolvedBatch, guided, legs_alike, neighbours
from dact.training.instances import InstanceSource
from dact.training.keeping import CHECKPOINT
from dact.training.recorder import Silence
from dact.training.rollout import rollout, walk

GUIDE = GuideConfig(weight=0.5, instances=12, rounds=20)


@pytest.fixture
def source(problem_name) -> InstanceSource:
    """Draws solved instances of 9 customers or nodes."""
    plain = InstanceSource(problem=PROBLEMS[problem_name], size=9, rows=6)
    return guided(plain, GUIDE, torch.Generator().manual_seed(1))


def undirected(tour: list[int], depots: int) -> list[frozenset[int]]:
    """The legs of a tour; all depots are node -1."""
    label = [-1 if node < depots else node for node in tour]
    return [frozenset(leg) for leg in pairwise([*label, label[0]])]


def test_legs_of_a_tour_that_are_as_in_another():
    """Customers' legs count 1 in either direction, legs to a depot a half, legs between depots nothing."""
    solution = torch.tensor([[0, 3, 4, 5, 1, 6, 2]])  # three depots; routes 3 4 5 and 6
    near = neighbours(solution, depots=3)
    for tour, expected in (
        ([0, 3, 4, 5, 1, 6, 2], 2 + 4 / 2),
        ([0, 6, 1, 2, 5, 4, 3], 2 + 4 / 2),  # turned around, with an empty route between
        ([0, 4, 3, 5, 6, 1, 2], 1 + 1 / 2),  # 4-3 and 6-0 are right
        ([0, 3, 1, 4, 2, 5, 6], 1 / 2 + 1 / 2 + 1 / 2),  # 3 has two depots for the one it wants; 5 and 6 have one
    ):
        assert legs_alike(torch.tensor([tour]), near, depots=3).tolist() == [expected], tour


def test_nodes_without_depots_count_alike():
    """A tour of a TSP has all of its own legs, in either direction and from any node on."""
    tour = torch.tensor([[0, 3, 1, 4, 2]])
    near = neighbours(tour, depots=0)
    assert legs_alike(tour, near, 0).tolist() == [5]
    assert legs_alike(tour.flip(1).roll(1, dims=1), near, 0).tolist() == [5]
    assert legs_alike(torch.tensor([[0, 3, 1, 2, 4]]), near, 0).tolist() == [3]


def test_random_tours_against_sets_of_legs():
    """Where no customer is alone on a route, it is half the ends at customers of the legs that both tours have."""
    generator = torch.Generator().manual_seed(5)
    depots, customers = 2, 7
    for _ in range(30):
        orders = [torch.randperm(customers, generator=generator) + depots for _ in range(2)]
        cuts = [int(torch.randint(2, customers - 1, (), generator=generator)) for _ in range(2)]
        one, other = (
            torch.cat((torch.tensor([0]), order[:cut], torch.tensor([1]), order[cut:]))
            for order, cut in zip(orders, cuts, strict=True)
        )
        both = set(undirected(one.tolist(), depots)) & set(undirected(other.tolist(), depots))
        ends = sum(sum(node >= 0 for node in leg) for leg in both)
        assert legs_alike(one.unsqueeze(0), neighbours(other.unsqueeze(0), depots), depots).item() == ends / 2


def test_solutions_are_good_and_paid_in_mean_legs(source):
    """All neighbours of the solution are worth its cost times the weight but for legs to depots; random tours less."""
    assert isinstance(source, GuidedSource)
    solved, problem = source.solved[9, UNIFORM], source.problem
    stream_P = torch.arange(solved.rows)
    start_PN = problem.random_start(solved, stream_P)
    random_P = legs_alike(start_PN, solved.near_BN2, solved.depots)
    assert (random_P < solved.customers / 2).float().mean() > 0.8
    cost_P = solved.worth_B * solved.customers / GUIDE.weight
    assert (cost_P < 0.9 * solved.cost(start_PN)).all()
    assert (cost_P <= solved.cost(problem.greedy_start(solved)) + 1e-5).all()


def test_rows_are_drawn_with_their_solutions(source):
    """Under one of the symmetries, with the neighbours of the same instance."""
    drawn, solved = source.sample(torch.Generator().manual_seed(2)), source.solved[9, UNIFORM]
    assert isinstance(drawn, SolvedBatch)
    for row in range(drawn.rows):
        turned = torch.einsum("kxy,ny->knx", SYMMETRIES, drawn.coordinates_BN2[row] - 0.5) + 0.5
        distance_KP = (turned.unsqueeze(1) - solved.coordinates_BN2).abs().amax((2, 3))
        place = int(distance_KP.amin(0).argmin())
        assert distance_KP[:, place].amin() < 1e-6
        assert torch.equal(drawn.near_BN2[row], solved.near_BN2[place])
        assert torch.equal(drawn.demand_BN[row], solved.demand_BN[place])
    both = drawn.take(torch.tensor([4, 1]))
    assert torch.equal(both.near_BN2, drawn.near_BN2[[4, 1]])
    assert torch.equal(both.worth_B, drawn.worth_B[[4, 1]])


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_segments_pay_for_neighbours(make_learner, source, share):
    """The rewards are what incumbents gained and what the guide pays; all other records are as without it."""
    learner = make_learner(source.problem.name)
    batch = source.sample(torch.Generator().manual_seed(3))
    assert isinstance(batch, SolvedBatch)
    _, state = learner.begun(source, torch.Generator().manual_seed(3))
    plain = learner.task.problem.sample(9, 1, torch.Generator())
    unpaid = replace(plain, **{name: getattr(batch, name) for name in vars(plain)})
    records = [rollout(learner.engine, learner.task, each, state, 4, share)[1] for each in (batch, unpaid)]
    _, made = walk(learner.engine, batch, state, 4)
    paid_TB = records[0].reward_TB - records[1].reward_TB
    if share == 1:
        torch.testing.assert_close(paid_TB, batch.rewards(made.tour_ZBN))
        first, last = (legs_alike(made.tour_ZBN[z], batch.near_BN2, batch.depots) for z in (0, -1))
        torch.testing.assert_close(paid_TB.sum(0), batch.worth_B * (last - first))
    assert paid_TB.abs().sum() > 0
    assert torch.equal(records[0].features_TBNF, records[1].features_TBNF)


def test_a_run_with_a_guide_ends_and_repeats_itself(tiny, problem_name, tmp_path):
    """The same seed solves the same instances and learns the same; the guide changes what is learnt."""

    def weights(name, **guide):
        trainer = make_trainer(tiny(problem=problem_name, guide=guide), tmp_path / name, Silence())
        trainer.learner.new_batch()
        trainer.learner.segment()
        return torch.cat([x.flatten() for x in trainer.learner.networks.policy.state_dict().values()])

    solved = {"weight": 0.5, "instances": 8, "rounds": 5}
    first, again, other = weights("a", **solved), weights("b", **solved), weights("c", **solved | {"weight": 0.1})
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"weight": -1.0}, "guide.weight -1.0 is not between 0 and 1000"),
        ({"instances": 0}, "guide.instances 0 is not between 1 and 10,000,000"),
        ({"rounds": 0}, "guide.rounds 0 is not between 1 and 10,000,000"),
    ],
)
def test_wrong_settings_are_named(wrong, told):
    """In one sentence."""
    with pytest.raises(ValueError, match=told):
        GuideConfig(**wrong)


def test_a_run_with_a_guide_goes_on(tiny, train, tmp_path, caplog):
    """Its checkpoint has the batch with its solutions, and instances are solved again; a changed guide is refused."""
    guide = {"weight": 0.5, "instances": 6, "rounds": 5}
    caplog.set_level("INFO")
    train(tmp_path / "run", tiny(guide=guide), segments=4)
    assert "solving 6 instances for the guide, 5 rounds each" in caplog.text
    assert train(tmp_path, resume=tmp_path / "run").finished
    whole = train(tmp_path / "whole", tiny(guide=guide))
    assert whole.finished
    ends = [load_checkpoint(tmp_path / name / CHECKPOINT).tensors for name in ("run", "whole")]
    assert all(torch.equal(each, ends[1][name]) for name, each in ends[0].items())
    with pytest.raises(ValueError, match=r"'guide\.weight' of a run that goes on cannot change from 0\.5 to 0\.1"):
        train(tmp_path, resume=tmp_path / "run", settings=["guide.weight=0.1"])
