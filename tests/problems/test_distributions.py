"""Instances that are not uniform."""

import math
from dataclasses import replace

import pytest
import torch

from begun import begun
from dact.problems import PROBLEMS, UNIFORM, Batch, InstanceConfig
from dact.problems.capacity import feasible
from dact.problems.distributions import ANY, DEMANDS, NODES, draw_capacity, draw_points

X_LIKE = InstanceConfig(nodes=ANY, depot=ANY, demand=ANY, capacity="routes")


def draw(rows: int = 40, size: int = 30, problem: str = "cvrp", seed: int = 3, **settings) -> Batch:
    """A batch of some kind."""
    return PROBLEMS[problem].sample(size, rows, torch.Generator().manual_seed(seed), InstanceConfig(**settings))


def neighbour_distance(points_BN2: torch.Tensor) -> float:
    """Mean distance to the nearest other point."""
    distance_BNN = torch.cdist(points_BN2, points_BN2) + 10 * torch.eye(points_BN2.shape[1])
    return distance_BNN.amin(2).mean().item()


@pytest.mark.parametrize("nodes", [*NODES, ANY])
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_points_are_in_the_square_and_follow_the_seed(problem, nodes):
    """Every kind stays in the unit square; a seed gives the same batch again, another one another."""
    first, same, other = (draw(problem=problem, nodes=nodes, seed=seed).coordinates_BN2 for seed in (3, 3, 4))
    assert first.min() >= 0
    assert first.max() <= 1
    assert torch.equal(first, same)
    assert not torch.equal(first, other)


def test_clusters_are_dense():
    """Neighbours are nearer in clusters than in uniform instances, and mixed ones lie between."""
    near = {nodes: neighbour_distance(draw(size=60, problem="tsp", nodes=nodes).coordinates_BN2) for nodes in NODES}
    assert near["clustered"] < 0.7 * near["uniform"]
    assert near["clustered"] < near["mixed"] < near["uniform"]


def test_clusters_keep_off_the_border():
    """Points that would fall outside are drawn anew, not piled up on the border."""
    points = draw_points(InstanceConfig(nodes="clustered"), 200, 50, torch.Generator().manual_seed(1))
    assert ((points == 0) | (points == 1)).float().mean() < 1e-3


def test_depots():
    """The centre is the centre, corners are all four, and all copies of a depot lie at one place."""
    assert (draw(depot="centre").coordinates_BN2[:, 0] == 0.5).all()
    corners = draw(depot="corner").coordinates_BN2[:, 0]
    assert len(corners.unique(dim=0)) == 4
    assert set(corners.flatten().tolist()) == {0.0, 1.0}
    batch = draw(depot=ANY)
    assert (batch.coordinates_BN2[:, : batch.depots] == batch.coordinates_BN2[:, :1]).all()


@pytest.mark.parametrize(
    ("demand", "low", "high"),
    [("kool", 1, 9), ("unit", 1, 1), ("1-10", 1, 10), ("5-10", 5, 10), ("1-100", 1, 100), ("50-100", 50, 100)],
)
def test_demand_ranges(demand, low, high):
    """Both ends occur and nothing beyond; depots have none."""
    batch = draw(rows=200, demand=demand, capacity="routes")
    customers = batch.demand_BN[:, batch.depots :]
    assert (customers.min(), customers.max()) == (low, high)
    assert (batch.demand_BN[:, : batch.depots] == 0).all()


def test_quadrants():
    """Demands are small in two opposite quadrants and large in the others."""
    batch = draw(rows=200, demand="quadrant", capacity="routes")
    points, demand = batch.coordinates_BN2[:, batch.depots :], batch.demand_BN[:, batch.depots :]
    large = (points[..., 0] < 0.5) == (points[..., 1] < 0.5)
    assert (demand[large].min(), demand[large].max()) == (51, 100)
    assert (demand[~large].min(), demand[~large].max()) == (1, 50)


def test_many_small_few_large():
    """Most demands are small, some large, none between."""
    demand = draw(rows=300, demand="many-small", capacity="routes").demand_BN
    customers = demand[demand > 0]
    large = customers >= 50
    assert 0.1 < large.float().mean() < 0.25
    assert customers[~large].max() == 10


def test_capacity_follows_the_triangle():
    """With equal demands the capacity is the route length: mean of a triangular distribution, within its ends."""
    config = InstanceConfig(capacity="routes")
    room = draw_capacity(config, torch.full((20000, 10), 100), torch.Generator().manual_seed(1)).float() / 100
    assert (room >= 3).all()
    assert (room <= 25).all()
    assert room.mean().item() == pytest.approx((3 + 6 + 25) / 3, rel=0.02)
    assert room.quantile((6 - 3) / (25 - 3)).item() == pytest.approx(6, rel=0.05)


def test_bands_are_equal_parts_of_the_routes():
    """Together they are the whole distribution, each lies beyond the one before, and has the depots that it needs."""
    config = InstanceConfig(capacity="routes", bands=3)
    demand = torch.full((20000, 10), 100)
    rooms = [draw_capacity(band, demand, torch.Generator().manual_seed(1)).float() / 100 for band in config.each_band()]
    whole = draw_capacity(config, demand, torch.Generator().manual_seed(1)).float() / 100
    assert rooms[0].max() <= rooms[1].min() + 0.01
    assert rooms[1].max() <= rooms[2].min() + 0.01
    shares = torch.tensor([0.1, 0.5, 0.9])
    torch.testing.assert_close(torch.cat(rooms).quantile(shares), whole.quantile(shares), rtol=0.02, atol=0)
    depots = [band.depots(60) for band in config.each_band()]
    assert depots[0] == config.depots(60) == 30
    assert depots[0] > depots[1] > depots[2]
    assert depots[1] == math.ceil(1.4 * 60 / rooms[1].min().item()) + 2


@pytest.mark.parametrize("band", [0, 1, 2])
def test_starts_of_a_band_are_feasible(band):
    """Its depots suffice for its shortest routes."""
    config = replace(X_LIKE, bands=3).each_band()[band]
    batch = PROBLEMS["cvrp"].sample(30, 200, torch.Generator().manual_seed(band), config)
    for tour_BN in (PROBLEMS["cvrp"].greedy_start(batch), begun("cvrp", batch).tour_BN):
        assert feasible(batch, tour_BN).all()


@pytest.mark.parametrize("demand", [*DEMANDS, ANY])
@pytest.mark.parametrize("size", [5, 40])
def test_starts_are_feasible(demand, size):
    """Even where routes are shortest there are depots enough: starts are permutations that overload no vehicle."""
    short = {"route_low": 3.0, "route_mode": 3.0, "route_high": 3.5}
    batch = draw(rows=30, size=size, demand=demand, capacity="routes", nodes=ANY, depot=ANY, **short)
    problem = PROBLEMS["cvrp"]
    for tour_BN in (problem.greedy_start(batch), begun(problem.name, batch).tour_BN):
        assert torch.equal(tour_BN.sort(1).values, torch.arange(batch.length).expand_as(tour_BN))
        for row in range(batch.rows):
            for route in problem.routes(batch, tour_BN[row].tolist()):
                load = sum(int(batch.demand_BN[row, batch.depots - 1 + customer]) for customer in route)
                assert load <= batch.capacity_B[row]


def test_any_mixes_kinds():
    """Instances of one batch differ in kind, yet share the number of depots."""
    batch = PROBLEMS["cvrp"].sample(50, 60, torch.Generator().manual_seed(1), X_LIKE)
    highest = batch.demand_BN.amax(1)
    assert {1, 10} <= set(highest.tolist())
    assert highest.max() > 90
    assert batch.depots == X_LIKE.depots(50)


def test_defaults_are_the_papers():
    """The default draws what it always did, with the paper's number of depots for its sizes."""
    generator = torch.Generator().manual_seed(7)
    points = torch.rand(3, 21, 2, generator=generator)
    batch = PROBLEMS["cvrp"].sample(20, 3, torch.Generator().manual_seed(7))
    assert torch.equal(batch.coordinates_BN2[:, batch.depots - 1 :], points)
    assert [InstanceConfig().depots(size) for size in (5, 20, 50, 100)] == [6, 10, 20, 20]


def test_fewer_depots():
    """Tours get shorter, instances stay the same; too few are refused before anything is drawn."""
    few = InstanceConfig(most_routes=14)
    batch, usual = (PROBLEMS["cvrp"].sample(50, 9, torch.Generator().manual_seed(7), each) for each in (few, UNIFORM))
    assert (batch.depots, batch.length, usual.length) == (14, 64, 70)
    assert torch.equal(batch.coordinates_BN2[:, 13:], usual.coordinates_BN2[:, 19:])
    assert torch.equal(batch.demand_BN[:, 13:], usual.demand_BN[:, 19:])
    with pytest.raises(ValueError, match="most_routes 10 is below the 11 that 50 customers may need"):
        PROBLEMS["cvrp"].sample(50, 9, torch.Generator(), InstanceConfig(most_routes=10))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"nodes": "square"}, "instances.nodes 'square'"),
        ({"capacity": "any"}, "instances.capacity 'any'"),
        ({"demand": "1-100"}, "needs instances.capacity 'routes'"),
        ({"most_routes": -1}, "instances.most_routes -1 is negative"),
        ({"route_low": 7.0}, "must rise"),
        ({"route_from": 0.5, "route_to": 0.5, "capacity": "routes"}, "must rise"),
        ({"bands": 0}, "instances.bands 0 is not between 1 and 16"),
        ({"bands": 2, "capacity": "routes", "most_routes": 30}, "bands 2 goes with most_routes = 0, not with 30"),
        ({"bands": 2}, "bands need instances.capacity 'routes'"),
        ({"route_low": 1.0}, "must rise"),
    ],
)
def test_wrong_settings_are_named(settings, words):
    """The error says which setting is wrong."""
    with pytest.raises(ValueError, match=words):
        InstanceConfig(**settings)


def test_tsp_has_no_vehicles():
    """Settings for vehicles are refused where there are none."""
    with pytest.raises(ValueError, match="no vehicles"):
        draw(problem="tsp", depot="centre")


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_draws_do_not_wait_for_the_host(problem):
    """On a GPU nothing is read back while instances are drawn."""
    config = X_LIKE if problem == "cvrp" else InstanceConfig(nodes=ANY)
    generator = torch.Generator(device="cuda").manual_seed(1)
    torch.cuda.set_sync_debug_mode("error")
    try:
        batch = PROBLEMS[problem].sample(30, 20, generator, config)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert batch.coordinates_BN2.is_cuda
