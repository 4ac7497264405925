"""Distances that differ by direction, as those of roads do, from the file to the answer."""

from itertools import permutations

import numpy as np
import pytest

import dact
from dact.instances import Instance, better_directions, check


def roads(problem: str, nodes: int = 8, seed: int = 0) -> Instance:
    """Whole distances that have nothing to do with each other."""
    matrix = np.random.RandomState(seed).randint(1, 100, (nodes, nodes)).astype(float)
    loads = {"demand": np.array([0] + [1] * (nodes - 1)), "capacity": 3} if problem == "cvrp" else {}
    return Instance(name="roads", problem=problem, rule="explicit", matrix=matrix, **loads)


@pytest.mark.parametrize("search", ["hybrid", "policy"])
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_answers_cost_what_the_direction_driven_costs(problem: str, search: str) -> None:
    """Both searches give checked answers, no worse than their start, with no route shorter the other way round."""
    instance = roads(problem)
    result = dact.solve(instance, search=search, steps=40)
    assert result.feasible
    assert result.cost == check(instance, result.routes).cost <= result.start_cost
    assert better_directions(instance, result.routes) == result.routes


def test_the_best_tour_is_found() -> None:
    """The shortest of all tours of eight nodes, by trying them all."""
    instance = roads("tsp")
    best = min(check(instance, ((0, *rest),)).cost for rest in permutations(range(1, 8)))
    assert dact.solve(instance, steps=2000).cost == best


def test_routes_are_turned() -> None:
    """A route is turned where that is shorter, and a tour stays where it begins."""
    there = np.array([[0.0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]])
    tour = Instance(name="t", problem="tsp", rule="explicit", matrix=there)
    assert better_directions(tour, ((0, 3, 2, 1),)) == ((0, 1, 2, 3),)
    demand = np.array([0, 1, 1, 1])
    routes = Instance(name="r", problem="cvrp", rule="explicit", matrix=there, demand=demand, capacity=3)
    assert better_directions(routes, ((3, 2, 1),)) == ((1, 2, 3),)
    assert better_directions(routes, ((1, 2), (3,))) == ((1, 2), (3,))


def test_the_policy_sees_the_mean_of_both_directions() -> None:
    """The plane layout is that of the symmetrised matrix."""
    instance = roads("tsp")
    mean = Instance(name="m", problem="tsp", rule="explicit", matrix=(instance.matrix + instance.matrix.T) / 2)
    assert np.allclose(instance.points(), mean.points())
