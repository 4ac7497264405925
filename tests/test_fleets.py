"""Limits on the number of vehicles, from the file to the answer."""

import time
from pathlib import Path

import numpy as np
import pytest

import dact
from dact.instances import InputError, Instance, check, generate_set, read
from dact.instances.instance import least_vehicles
from dact.problems import FleetError, routes_for_fleet

HARBOUR = Path(__file__).resolve().parents[1] / "examples" / "harbour60.vrp"
FULL = [7, 6, 5, 5, 4, 3, 3, 3, 2, 2, 8, 2]
"""For vehicles of ten, fifty in all: five of them must be full."""
FOURS = [4, 4, 4, 4, 4]
"""Twenty in all, but no three fit a vehicle of ten: two vehicles are not enough, which sums do not tell."""


def shops(demand: list[int], vehicles: int = 0) -> Instance:
    """Customers anywhere, vehicles of ten."""
    points = np.random.RandomState(1).rand(len(demand) + 1, 2)
    loads = np.array([0, *demand])
    return Instance(
        name="shops", problem="cvrp", rule="euclidean", coordinates=points, demand=loads, capacity=10, vehicles=vehicles
    )


@pytest.mark.parametrize("search", ["hybrid", "policy"])
@pytest.mark.parametrize("start", ["greedy", "random"])
def test_no_answer_has_more_routes(search: str, start: str) -> None:
    """Even where every vehicle must be full, the answer keeps to the limit."""
    result = dact.solve(shops(FULL, 5), search=search, start=start, steps=60)
    assert (len(result.routes), result.feasible) == (5, True)
    assert result.cost <= result.start_cost


@pytest.mark.parametrize("search", ["hybrid", "policy"])
def test_one_vehicle(search: str) -> None:
    """One vehicle for all is a tour."""
    result = dact.solve(shops([1, 2, 3, 1, 1, 1], 1), search=search, steps=40)
    assert (len(result.routes), result.feasible) == (1, True)


def test_the_bound_of_the_loads() -> None:
    """Fewer vehicles than loads need are refused with the number, by their sum or by loads that share none."""
    assert least_vehicles(shops(FULL)) == 5
    with pytest.raises(InputError, match="vehicles 4 is below 5, which the loads need at least"):
        shops(FULL, 4)
    with pytest.raises(InputError, match="vehicles 2 is below 3"):
        shops([6, 6, 6], 2)


def test_not_reached_is_not_impossible() -> None:
    """Where no packing is found, the fewest vehicles found are told, and nothing is claimed."""
    with pytest.raises(FleetError, match=r"no routes for 2 vehicles were found .*; the fewest found are 3"):
        dact.solve(shops(FOURS, 2), time_limit=0.1)


def test_packing_where_greedy_fails() -> None:
    """Sectors that overflow are mended by moves and swaps; each customer is served once."""
    instance = shops(FULL * 4, 20)
    routes = routes_for_fleet(instance, time.perf_counter() + 20)
    assert check(instance, routes).feasible


def test_the_checker_counts_routes() -> None:
    """Too many routes are a violation, and empty ones do not count."""
    instance = shops([5, 5, 5], 2)
    assert check(instance, [[1], [2], [3]]).violations == ("3 routes are more than the 2 vehicles",)
    assert check(instance, [[1, 2], [], [3]]).feasible


def test_fields_and_comments(tmp_path: Path) -> None:
    """VEHICLES of a .vrp file and the comment of a CSV file are read; a TSP has no vehicles to limit."""
    path = tmp_path / "a.csv"
    path.write_text("# capacity: 10\n# Vehicles = 3\n0,0,0\n1,0,5\n0,1,5\n")
    assert read(path).vehicles == 3
    with pytest.raises(InputError, match="a TSP is one tour, so that vehicles cannot be limited"):
        dact.Instance(name="t", problem="tsp", rule="euclidean", coordinates=np.zeros((3, 2)), vehicles=2)


def test_vehicles_of_the_caller(tmp_path: Path) -> None:
    """The caller's limit wins over the file's, for every format, and is refused with the file's name."""
    path = tmp_path / "a.csv"
    path.write_text("# vehicles: 3\n# capacity: 4\nx,y,demand\n0,0,0\n0,1,2\n1,0,2\n1,1,2\n")
    assert [read(path).vehicles, read(path, vehicles=4).vehicles] == [3, 4]
    assert read(HARBOUR, vehicles=20).vehicles == 20
    generate_set("cvrp", 5, 1, seed=1).save_npz(tmp_path / "a.npz")
    assert read(tmp_path / "a.npz", vehicles=3).vehicles == 3
    for vehicles, text in ((1, "vehicles 1 is below 2"), (-1, "vehicles -1 is not a positive"), ("2", "vehicles '2'")):
        with pytest.raises(InputError, match=f"a.csv: {text}"):
            read(path, vehicles=vehicles)  # type: ignore[arg-type]
