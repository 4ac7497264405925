"""The independent checker: hand-worked costs, every violation, and published solutions."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from instance_cases import DATA, RECTANGLE, needs_data, shared_files

from dact.instances import Instance, check, read, read_set, read_solution

TSP = Instance(name="t", problem="tsp", rule="euclidean", coordinates=RECTANGLE)
CVRP = Instance(
    name="c",
    problem="cvrp",
    rule="euclidean",
    coordinates=RECTANGLE,
    demand=np.array([0, 4, 6, 7]),
    capacity=10,
)


def test_tour_by_hand() -> None:
    """Around the 3 x 4 rectangle is 14; along both diagonals is 3 + 5 + 3 + 5."""
    assert check(TSP, [(0, 1, 2, 3)]).cost == 14.0
    verdict = check(TSP, [(0, 1, 3, 2)])
    assert (verdict.feasible, verdict.cost, verdict.violations) == (True, 16.0, ())


def test_routes_by_hand() -> None:
    """Depot-1-2-depot is 3 + 4 + 5 and depot-3-depot is 8: 20 in all, loads 10 and 7."""
    verdict = check(CVRP, [(1, 2), (3,)])
    assert (verdict.feasible, verdict.cost) == (True, 20.0)


def test_numpy_routes() -> None:
    """Routes may be arrays."""
    assert check(TSP, np.array([[3, 2, 1, 0]])).cost == 14.0


def test_empty_routes_cost_nothing() -> None:
    """A vehicle that stays at the depot adds neither cost nor fault."""
    assert check(CVRP, [(1, 2), (), (3,)]).cost == 20.0


def test_one_node() -> None:
    """The tour of one node costs 0, and of two nodes there and back."""
    one = Instance(name="o", problem="tsp", rule="geo", coordinates=RECTANGLE[:1])
    two = Instance(name="o", problem="tsp", rule="euc_2d", coordinates=RECTANGLE[:2])
    assert check(one, [(0,)]).cost == 0.0
    assert check(two, [(0, 1)]).cost == 6.0


def test_explicit() -> None:
    """An explicit instance is judged by its matrix."""
    matrix = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    assert check(Instance(name="m", problem="tsp", rule="explicit", matrix=matrix), [(0, 1, 2)]).cost == 12.0


@pytest.mark.parametrize(
    ("instance", "routes", "violations"),
    [
        (TSP, [(0, 1, 2)], ("node 4 is not visited",)),
        (TSP, [(0, 1, 2, 2)], ("node 3 is visited twice", "node 4 is not visited")),
        (TSP, [(0, 1, 2, 3, 3, 3)], ("node 4 is visited 3 times",)),
        (TSP, [(0, 1), (2, 3)], ("a TSP solution is one tour, not 2",)),
        (TSP, [(0, 1, 2, 3, 7)], ("node index 7 does not exist",)),
        (TSP, [(0, 1, 2, 3, -1)], ("node index -1 does not exist",)),
        (TSP, [()], tuple(f"node {node} is not visited" for node in (1, 2, 3, 4))),
        (CVRP, [(1, 2)], ("customer 3 is not visited",)),
        (
            CVRP,
            [(1, 2), (3, 3)],
            ("customer 3 is visited twice", "route 2 carries 14, above the capacity 10"),
        ),
        (CVRP, [(1, 2, 3)], ("route 1 carries 17, above the capacity 10",)),
        (CVRP, [(1, 0, 2), (3,)], ("the depot is named inside a route",)),
        (CVRP, [], tuple(f"customer {node} is not visited" for node in (1, 2, 3))),
    ],
)
def test_violations(instance: Instance, routes: list[tuple[int, ...]], violations: tuple[str, ...]) -> None:
    """Each fault is a sentence that names the node or the route."""
    verdict = check(instance, routes)
    assert verdict.violations == violations
    assert not verdict.feasible


def test_cost_of_infeasible_routes() -> None:
    """The cost is still computed where it has a meaning, and is NaN where it has none."""
    assert check(CVRP, [(1, 2, 3)]).cost == 14.0
    assert math.isnan(check(TSP, [(0, 9)]).cost)


def test_fractions_are_not_nodes() -> None:
    """A node must be an integer: 1.5 is a mistake of the caller."""
    with pytest.raises(TypeError):
        check(TSP, [(0, 1.5, 2, 3)])  # type: ignore[list-item]


def best_values() -> dict[str, float]:
    """Read the published values by name."""
    with (DATA / "cvrplib_bks.csv").open() as stream:
        return {row["name"]: float(row["bks"]) for row in csv.DictReader(stream)}


@needs_data
@pytest.mark.parametrize("folder", ["cvrplib", "cvrplib_more"])
def test_published_x_solutions(folder: str) -> None:
    """Every published X solution is feasible and costs exactly its best known value."""
    values = best_values()
    paths = shared_files(f"{folder}/X-*.sol")
    assert paths
    for path in paths:
        instance = read(path.with_suffix(".vrp"))
        verdict = check(instance, read_solution(path, instance))
        assert (verdict.feasible, verdict.cost) == (True, values[path.stem]), path.name
        assert instance.best_known == values[path.stem]


@needs_data
@pytest.mark.parametrize("name", ["A-n32-k5", "B-n31-k5", "E-n13-k4", "F-n72-k4", "M-n101-k10", "P-n16-k8"])
def test_other_published_solutions(name: str) -> None:
    """So is one solution of each older set, the explicit E-n13-k4 among them."""
    instance = read(DATA / "cvrplib_more" / f"{name}.vrp")
    routes = read_solution(DATA / "cvrplib_more" / f"{name}.sol", instance)
    assert check(instance, routes).cost == best_values()[name]


@needs_data
def test_real_valued_solution() -> None:
    """tai75a's published cost is that of unrounded lengths, to two decimals."""
    instance = read(DATA / "cvrplib_more" / "tai75a.vrp").with_rounding("none")
    cost = check(instance, read_solution(DATA / "cvrplib_more" / "tai75a.sol", instance)).cost
    assert round(cost, 2) == instance.best_known == 1618.36


@needs_data
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_reference_solutions(problem: str) -> None:
    """The reference solutions of the validation sets cost what the sets say, in float64."""
    path = DATA / "validation" / f"{problem}20_seed4321.npz"
    instances = read_set(path)
    with np.load(path) as stored:
        solutions = stored["reference_solution"]
    for index in range(0, 256, 5):
        stops = [node for node in solutions[index].tolist() if node >= 0]
        routes = [stops] if problem == "tsp" else _split(stops)
        verdict = check(instances[index], routes)
        assert verdict.feasible
        assert verdict.cost == pytest.approx(instances[index].best_known, rel=1e-12)


def _split(stops: list[int]) -> list[list[int]]:
    routes: list[list[int]] = [[]]
    for node in stops:
        if node == 0:
            routes.append([])
        else:
            routes[-1].append(node)
    return routes
