"""The judge of whole sets agrees with the checker of single solutions, and finds what is wrong."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dact.instances import InstanceSet, check, generate_set
from dact.instances.distances import RULES, pairwise
from dact.pipeline import judge

SET_RULES = sorted(RULES.keys() - {"explicit"})


def _scaled(problem: str, size: int, count: int, rule: str, seed: int) -> InstanceSet:
    drawn = generate_set(problem, size, count, seed)
    return InstanceSet(
        name="set",
        problem=problem,
        coordinates=drawn.coordinates * 60,
        demand=drawn.demand,
        capacity=drawn.capacity,
        rule=rule,
    )


@settings(max_examples=30, deadline=None)
@given(rule=st.sampled_from(SET_RULES), size=st.integers(1, 9), seed=st.integers(0, 999))
def test_costs_equal_the_checkers_and_the_matrix(rule: str, size: int, seed: int):
    """Random tours cost what the checker says, and what the search's own distances add up to, under every rule."""
    instances = _scaled("tsp", size, 3, rule, seed)
    stream = np.random.default_rng(seed)
    tours = np.stack([stream.permutation(size) for _ in range(3)])
    expected = [check(instance, [tour.tolist()]).cost for instance, tour in zip(instances, tours, strict=True)]
    assert judge(instances, tours, depots=0) == pytest.approx(expected, rel=1e-12)
    searched = [
        pairwise(rule, points)[tour, np.roll(tour, -1)].sum()
        for points, tour in zip(instances.coordinates, tours, strict=True)
    ]
    assert searched == pytest.approx(expected, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 8), depots=st.integers(1, 6), seed=st.integers(0, 9999))
def test_cvrp_verdict_equals_the_checkers(size: int, depots: int, seed: int):
    """Random tours with depots anywhere are judged as the checker judges their routes."""
    instances = _scaled("cvrp", size, 1, "euclidean", seed)
    tour = np.random.default_rng(seed).permutation(size + depots)
    verdict = check(instances[0], _routes(tour, depots))
    if verdict.feasible:
        assert judge(instances, tour[None], depots) == pytest.approx([verdict.cost], rel=1e-12)
    else:
        with pytest.raises(RuntimeError, match=r"set\[0\] overloads"):
            judge(instances, tour[None], depots)


def _routes(tour: np.ndarray, depots: int) -> list[list[int]]:
    """By hand: turn the tour so that it starts at a depot, then cut."""
    start = next(place for place, node in enumerate(tour) if node < depots)
    routes: list[list[int]] = []
    for node in np.roll(tour, -start).tolist():
        if node < depots:
            routes.append([])
        else:
            routes[-1].append(node - depots + 1)
    return [route for route in routes if route]


def test_a_node_visited_twice_is_found():
    """The instance at fault is named."""
    instances = generate_set("tsp", 4, 3, 0)
    tours = np.tile(np.arange(4), (3, 1))
    tours[2, 1] = 3
    with pytest.raises(RuntimeError, match=r"tsp4_seed0\[2\] does not visit every node once"):
        judge(instances, tours, depots=0)


def test_no_verdict_rests_on_the_distances_of_the_search(monkeypatch: pytest.MonkeyPatch):
    """A mistake in the distances that a search goes by cannot hide: set and single solution are costed without them."""
    instances = _scaled("cvrp", 4, 2, "euc_2d", 1)
    tours = np.array([[0, 3, 2, 1, 4, 5], [0, 5, 2, 1, 3, 4]])
    before = judge(instances, tours, depots=2)
    monkeypatch.setattr("dact.instances.instance.pairwise", lambda rule, points: np.zeros((len(points), len(points))))
    assert instances[0].distances().sum() == 0
    assert judge(instances, tours, depots=2).tolist() == before.tolist()
    assert [check(instance, _routes(tour, 2)).cost for instance, tour in zip(instances, tours, strict=True)] == (
        before.tolist()
    )
