"""What every problem promises: sampling, starts, features, costs, routes."""

import numpy as np
import pytest
import torch

from begun import begun, is_permutation
from dact.instances import Instance, check, generate_set
from dact.problems import PROBLEMS, Batch, Cvrp, FleetError, Tsp, capacity
from dact.problems.construct import first_fit_decreasing
from dact.problems.cvrp import depots_for


def routes_cover(routes: tuple[tuple[int, ...], ...], nodes: list[int]) -> bool:
    """Every node once."""
    return sorted(node for route in routes for node in route) == nodes


@pytest.mark.parametrize("start", ["greedy", "random"])
def test_starts_are_feasible_and_anchored(problem_name: str, batch: Batch, start: str) -> None:
    """Starts visit every node once, begin at node 0 and overload nobody."""
    tour_BN = begun(problem_name, batch, start).tour_BN
    assert is_permutation(tour_BN).all()
    assert (tour_BN[:, 0] == 0).all()
    if batch.depots:
        assert capacity.feasible(batch, tour_BN).all()


def test_random_starts_are_random(problem_name: str, generator: torch.Generator) -> None:
    """Every customer comes first in some of many random starts of one instance, and the seed decides which."""
    problem = PROBLEMS[problem_name]
    one = problem.sample(6, 1, generator)
    many = one.take(torch.zeros(300, dtype=torch.long))
    first = begun(problem_name, many, seed=1).tour_BN
    again = begun(problem_name, many, seed=1).tour_BN
    assert torch.equal(first, again)
    assert set(first[:, 1].tolist()) == set(range(max(one.depots, 1), one.length))


def test_greedy_start_of_a_line_walks_along_it() -> None:
    """From the left end of a line the nearest neighbour is always the next point."""
    points = np.array([[0.0, 0.0], [3.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    batch = Tsp().collate([Instance(name="line", problem="tsp", rule="euclidean", coordinates=points)])
    assert Tsp().greedy_start(batch).tolist() == [[0, 2, 3, 1]]


def test_greedy_start_returns_home_when_nothing_fits() -> None:
    """With room for two units, three customers of one unit on a line take two vehicles."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    instance = Instance(
        name="line", problem="cvrp", rule="euclidean", coordinates=points, demand=np.array([0, 1, 1, 1]), capacity=2
    )
    batch = Cvrp().collate([instance])
    tour_BN = Cvrp().greedy_start(batch)
    assert Cvrp().routes(batch, tour_BN[0].tolist()) == ((1, 2), (3,))


def test_cost_is_by_the_instances_own_rule(problem_name: str) -> None:
    """The cost of a tour equals what the independent checker says, rounding and units included."""
    instances = generate_set(problem_name, 12, 3, seed=4)
    problem = PROBLEMS[problem_name]
    for rule in ("euclidean", "euc_2d", "ceil_2d"):
        members = [
            Instance(
                name=one.name,
                problem=one.problem,
                rule=rule,
                coordinates=np.asarray(one.coordinates) * 1000 - 300,
                demand=one.demand,
                capacity=one.capacity,
            )
            for one in instances
        ]
        batch = problem.collate(members)
        tour_BN = begun(problem.name, batch).tour_BN
        for row, (member, cost) in enumerate(zip(members, batch.cost(tour_BN).tolist(), strict=True)):
            verdict = check(member, problem.routes(batch, tour_BN[row].tolist()))
            assert verdict.feasible
            assert cost == pytest.approx(verdict.cost, rel=1e-6)


def test_set_rows_cost_the_euclidean_length(problem_name: str) -> None:
    """A set in the unit square is used as it is."""
    instances = generate_set(problem_name, 20, 4, seed=2)
    problem = PROBLEMS[problem_name]
    batch = problem.collate_set(instances)
    tour_BN = problem.greedy_start(batch)
    for row, cost in enumerate(batch.cost(tour_BN).tolist()):
        routes = problem.routes(batch, tour_BN[row].tolist())
        assert cost == pytest.approx(check(instances[row], routes).cost, rel=1e-6)


def test_routes_and_given_start_are_inverse(problem_name: str, batch: Batch) -> None:
    """Driving the routes of a tour gives those routes again."""
    problem = PROBLEMS[problem_name]
    tour_BN = problem.greedy_start(batch)
    routes = [problem.routes(batch, tour) for tour in tour_BN.tolist()]
    again = problem.given_start(batch, routes)
    assert [problem.routes(batch, tour) for tour in again.tolist()] == routes


def test_augmented_rows_share_costs_and_have_their_own_pictures(problem_name: str, batch: Batch) -> None:
    """The eight pictures of a row cost the same and look different."""
    problem = PROBLEMS[problem_name]
    tour_BN = problem.greedy_start(batch).repeat_interleave(8, 0)
    rows = batch.augmented(8)
    cost_BA = rows.cost(tour_BN).view(-1, 8)
    torch.testing.assert_close(cost_BA, cost_BA[:, :1].expand(-1, 8))
    features = problem.node_features(rows, tour_BN).view(batch.rows, 8, -1)
    assert len({tuple(picture.tolist()) for picture in features[0]}) == 8


def test_cvrp_features_by_hand() -> None:
    """Routes (1, 2) and (3) with demands 4, 5, 6 of 10: distances along the tour, loads as shares of the room."""
    points = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    instance = Instance(
        name="square", problem="cvrp", rule="euclidean", coordinates=points, demand=np.array([0, 4, 5, 6]), capacity=10
    )
    batch = Cvrp().collate([instance])
    tour_BN = Cvrp().given_start(batch, [((1, 2), (3,))])
    features_NF = Cvrp().node_features(batch, tour_BN)[0]
    root = 2**0.5
    expected = torch.tensor(
        [
            [0, 0, 0, 1, 0, 0, 0.9],
            [0, 1, 1, 1, 0, 0.4, 0.9],
            [1, 1, 1, root, 0.4, 0.5, 0.5],
            [0, 0, root, 1, 0.9, 0, 0.6],
            [1, 0, 1, 1, 0, 0.6, 0.6],
            [0, 0, 1, 0, 0.6, 0, 0],
            [0, 0, 0, 0, 0, 0, 0],
        ]
    )
    torch.testing.assert_close(features_NF, expected)


def test_first_fit_decreasing_by_hand() -> None:
    """6, 5, 4, 3 into vehicles of 9: (6, 3) and (5, 4); a customer without demand joins the first."""
    vehicle = first_fit_decreasing(np.array([[3, 4, 5, 6, 0]]), np.array([9]))
    assert vehicle.tolist() == [[0, 1, 1, 0, 0]]


@pytest.mark.parametrize(("customers", "paper"), [(20, 10), (50, 20), (100, 20)])
def test_depots_are_the_papers_at_its_sizes(customers: int, paper: int) -> None:
    """10, 20 and 20 dummy depots for Kool's instances of 20, 50 and 100 customers."""
    assert Cvrp().collate_set(generate_set("cvrp", customers, 50, seed=1)).depots == paper


def test_preferred_depots_are_used_where_they_are_enough() -> None:
    """14 instead of 20 for 50 customers; 4 would leave no spare vehicle. In a set and for an instance alike."""
    drawn = generate_set("cvrp", 50, 50, seed=1)
    assert [Cvrp().with_depots(depots).collate_set(drawn).depots for depots in (0, 4, 14)] == [20, 20, 14]
    assert [Cvrp().with_depots(depots).tour_length(drawn[0]) for depots in (0, 4, 14)] == [70, 70, 64]


def test_depots_suffice_when_every_customer_needs_its_own_vehicle() -> None:
    """Thirty full loads get thirty-one depots, and all starts are feasible."""
    demand = np.array([[0] + [7] * 30])
    assert depots_for(demand, np.array([7])) == 31
    instance = Instance(
        name="full", problem="cvrp", rule="euclidean", coordinates=np.random.rand(31, 2), demand=demand[0], capacity=7
    )
    batch = Cvrp().collate([instance])
    assert capacity.feasible(batch, Cvrp().greedy_start(batch)).all()


def test_a_row_that_runs_out_of_depots_is_repacked_or_refused() -> None:
    """Greedy may need a third vehicle where packing needs two; with one depot too few there is an error."""
    points = np.array([[0.0, 0.0], [0.0, 0.1], [0.0, 0.2], [0.0, 0.9], [0.0, 1.0]])
    instance = Instance(
        name="tight", problem="cvrp", rule="euclidean", coordinates=points, demand=np.array([0, 2, 2, 3, 3]), capacity=5
    )
    batch = Cvrp().collate([instance])
    keep = torch.cat((torch.arange(2), torch.arange(batch.depots, batch.length)))
    tight = Batch(
        coordinates_BN2=batch.coordinates_BN2[:, keep],
        scale_B=batch.scale_B,
        demand_BN=batch.demand_BN[:, keep],
        capacity_B=batch.capacity_B,
        depots=2,
    )
    assert Cvrp().routes(tight, Cvrp().greedy_start(tight)[0].tolist()) == ((1, 3), (2, 4))
    overfull = Batch(**{**vars(tight), "demand_BN": tight.demand_BN + (tight.demand_BN > 0).int()})
    with pytest.raises(FleetError, match="row 0 needs 4 vehicles but the batch has 2 depots"):
        Cvrp().greedy_start(overfull)


def test_sampling_follows_kools_distribution(generator: torch.Generator) -> None:
    """Points fill the unit square, demands are 1 to 9, capacity 30, 40, 50 for 20, 50, 100 customers."""
    for customers, room in ((20, 30), (50, 40), (100, 50)):
        batch = Cvrp().sample(customers, 64, generator)
        assert batch.customers == customers
        assert batch.capacity_B.unique().tolist() == [room]
        assert batch.demand_BN[:, batch.depots :].unique().tolist() == list(range(1, 10))
        assert not batch.demand_BN[:, : batch.depots].any()
        assert 0.45 < float(batch.coordinates_BN2.mean()) < 0.55
