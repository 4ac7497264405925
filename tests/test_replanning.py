"""Old solutions as starts of new days: customers came, went and grew."""

from pathlib import Path

import numpy as np
import pytest

import dact
from dact.instances import (
    InputError,
    Instance,
    check,
    generate_set,
    read_solution,
    read_start,
    repaired,
    write_solution,
)
from dact.problems import FleetError

LINE = np.array([[float(place), 0.0] for place in range(8)])


def street(demand: list[int], capacity: int = 4, names: tuple[str, ...] = (), vehicles: int = 0) -> Instance:
    """A depot at the end of a street, and customers along it."""
    return Instance(
        name="street",
        problem="cvrp",
        rule="euclidean",
        coordinates=LINE[: len(demand) + 1],
        demand=np.array([0, *demand]),
        capacity=capacity,
        names=names,
        vehicles=vehicles,
    )


def test_a_solution_stays_as_it_is() -> None:
    """Nothing is done to a start that is one."""
    start = repaired(street([1, 1, 1, 1]), [[4, 1], [2, 3]])
    assert (start.routes, start.repairs) == (((4, 1), (2, 3)), ())


def test_customers_that_came_and_went() -> None:
    """Those that are gone are dropped, new ones are put where they cost least, and both are told."""
    start = repaired(street([1, 1, 1, 1]), [[1, 9, 4], [8], [2]])
    assert start.routes == ((1, 3, 4), (2,))
    assert start.repairs == (
        "2 customers that are gone were dropped: 9, 8",
        "1 customer that is new was inserted: 3",
    )


def test_customers_that_grew() -> None:
    """An overloaded route is cut into as few parts as possible, where that is cheapest."""
    start = repaired(street([2, 2, 2, 2, 1]), [[5], [1, 2, 3, 4]])
    assert start.routes == ((5,), (1, 2), (3, 4))
    assert start.repairs == ("route 2 was overloaded and split into 2",)


def test_a_new_customer_without_room() -> None:
    """Where no vehicle has room, another one drives."""
    assert repaired(street([4, 4, 1]), [[1], [2]]).routes == ((1,), (2,), (3,))


def test_a_fleet_is_kept() -> None:
    """With a limit on vehicles, routes are dissolved into the others."""
    start = repaired(street([1, 1, 1, 1], vehicles=1), [[1, 2], [4]])
    assert (len(start.routes), start.repairs[-1]) == (1, "1 route was dissolved")
    full = street([3, 3, 1, 1], vehicles=2)
    assert check(full, repaired(full, [[1], [2], [3], [4]]).routes or ()).feasible


def test_a_fleet_that_needs_another_packing() -> None:
    """Where routes cannot be dissolved into the others, customers change vehicles, and it is told how many did."""
    start = repaired(street([6, 4, 6, 4], capacity=10, vehicles=2), [[1], [3], [2, 4]])
    assert start.repairs == ("the routes were packed anew for 2 vehicles, which moved 2 customers",)
    assert [sorted(route) for route in start.routes or ()] in ([[1, 2], [3, 4]], [[1, 4], [2, 3]])
    tight = street([7, 6, 5, 5, 4, 3], capacity=10, vehicles=3)
    for routes in ([[1], [2], [3, 5], [4, 6]], [[6, 5, 4, 3, 2, 1]], [[each] for each in range(1, 7)], [[1, 2]]):
        found = repaired(tight, routes).routes
        assert found is not None
        assert check(tight, found).feasible


def test_a_fleet_that_the_start_does_not_fit(tmp_path: Path) -> None:
    """Where no packing is found either, the search begins without the start and says so; what cannot be found without a
    start is no mistake in it."""
    hopeless = street([3, 3, 2, 2, 2], vehicles=3)
    told = ("the start does not fit into 3 vehicles; the search begins without it",)
    start = repaired(hopeless, [[1], [2], [4, 5]])
    assert (start.routes, start.repairs) == (None, told)
    with pytest.raises(FleetError, match="no routes for 3 vehicles were found"):
        dact.solve(hopeless, start=[[1], [2], [4, 5]], time_limit=0.1)


def test_a_start_is_dropped_but_an_answer_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the start does not fit, there is an answer, which tells it."""
    monkeypatch.setattr("dact.instances.insertion.without_overload", lambda *_: None)
    result = dact.solve(street([6, 4, 6, 4], capacity=10, vehicles=2), start=[[1], [3], [2, 4]], steps=10)
    assert (len(result.routes), result.feasible) == (2, True)
    assert result.repairs == ("the start does not fit into 2 vehicles; the search begins without it",)


@pytest.mark.parametrize(
    ("routes", "message"),
    [
        ([[1, 2], [3, 1]], "route 2 visits customer 1 as route 1 does"),
        ([[1, 2, 2]], "route 1 visits customer 2 twice"),
        ([[1, 0, 2]], "route 1 visits the depot on its way"),
        ([[1], [-1, 2]], "route 2 visits -1, which is no number of a node"),
    ],
)
def test_what_cannot_be_mended(routes: list[list[int]], message: str) -> None:
    """A start of which nobody knows what was meant is refused with its route."""
    with pytest.raises(InputError, match=message):
        repaired(street([1, 1, 1]), routes)


def test_names_win_over_numbers(tmp_path: Path) -> None:
    """Files that have names are read by them, so that a removed row does not shift the others."""
    old = street([1, 1, 1], names=("Base", "Ann", "Ben", "Cem"))
    new = street([1, 1], names=("Base", "Cem", "Ann"))
    for suffix in (".csv", ".json"):
        write_solution(tmp_path / f"old{suffix}", old, ((3, 2), (1,)), 8.0)
        start = read_start(tmp_path / f"old{suffix}", new)
        assert start.routes == ((1,), (2,))
        assert start.repairs == ("1 customer that is gone was dropped: Ben",)


def test_a_depot_of_another_name(tmp_path: Path) -> None:
    """A list of stops fits where the depot has got another name, or is a customer's place now."""
    old = street([1, 1, 1, 1], names=("Hall", "Ann", "Ben", "Cem", "Dora"))
    path = tmp_path / "old.csv"
    write_solution(path, old, ((4, 1), (2, 3)), 16.0)
    assert read_start(path, street([1, 1, 1, 1], names=("Shed", *old.names[1:]))).routes == ((4, 1), (2, 3))
    start = read_start(path, street([1, 1, 1, 1], names=("Shed", "Ann", "Ben", "Cem", "Hall")))
    assert start.repairs == ("1 customer that is gone was dropped: Dora", "1 customer that is new was inserted: Hall")


def test_names_that_are_not_unique(tmp_path: Path) -> None:
    """Routes by names need names that are; others of the instance do not matter."""
    with pytest.raises(
        InputError, match=r"the name 'Ann' is used twice, .*: give the \.sol or \.json file, which numbers"
    ):
        repaired(street([1, 1], names=("Base", "Ann", "Ann")), [["Ann"]])
    thrice = street([1, 1, 1, 1], names=("Base", "Ann", "Ben", "Ann", "Ann"))
    path = tmp_path / "old.csv"
    path.write_text("route,name\n1,Ben\n1,Ann\n")
    for read in (read_start, read_solution):
        with pytest.raises(InputError, match=r"old\.csv: the name 'Ann' is used 3 times"):
            read(path, thrice)
    path.write_text("route,name\n1,Ben\n")
    assert read_start(path, thrice).repairs == ("3 customers that are new were inserted: Ann, Ann, Ann",)


@pytest.mark.parametrize("suffix", [".csv", ".json", ".sol"])
@pytest.mark.parametrize("depot", ["Base", "Ann"])
def test_answers_with_shared_names_are_starts(tmp_path: Path, suffix: str, depot: str) -> None:
    """What was written for customers that share a name, maybe with the depot, is read back as it was."""
    shared = street([1, 1, 1, 1], names=(depot, "Ann", "Ben", "Ann", "Ann"))
    path = tmp_path / f"old{suffix}"
    for routes in (((4, 1), (2, 3)), ((1, 2, 3, 4),), ((1,), (3,), (4,), (2,)), ((3, 2), (1, 4))):
        write_solution(path, shared, routes, 16.0)
        assert (read_start(path, shared).routes, read_start(path, shared).repairs) == (routes, ())
        assert read_solution(path, shared) == routes


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_shared_names_of_another_day(tmp_path: Path, suffix: str) -> None:
    """Names that are unique today are found by name; of the others, a number that is another customer's is gone."""
    old = street([1, 1, 1, 1], names=("Base", "Ann", "Ben", "Ann", "Cem"))
    path = tmp_path / f"old{suffix}"
    write_solution(path, old, ((4, 1), (2, 3)), 16.0)
    start = read_start(path, street([1, 1, 1], names=("Base", "Ann", "Ann", "Cem")))
    assert start.repairs == (
        "2 customers that are gone were dropped: Ben, Ann (number 3)",
        "1 customer that is new was inserted: Ann",
    )
    path = tmp_path / "names.json"
    path.write_text('{"names": [["Cem", "Ann"]], "routes": [[4]]}')
    with pytest.raises(InputError, match="the name 'Ann' is used twice"):
        read_start(path, old)


def test_a_tour_of_shared_names(tmp_path: Path) -> None:
    """A tour's nodes are told apart by their ids."""
    tour = Instance(name="tour", problem="tsp", rule="euclidean", coordinates=LINE[:4], names=("A", "A", "B", "A"))
    for suffix in (".csv", ".json"):
        write_solution(tmp_path / f"old{suffix}", tour, ((1, 2, 0, 3),), 8.0)
        assert read_start(tmp_path / f"old{suffix}", tour).routes == ((1, 2, 0, 3),)


def test_tours(tmp_path: Path) -> None:
    """A tour of fewer nodes gets the others in between, whatever its DIMENSION."""
    path = tmp_path / "old.tour"
    path.write_text("DIMENSION : 3\nTOUR_SECTION\n1\n3\n9\n-1\n")
    line = Instance(name="line", problem="tsp", rule="euclidean", coordinates=LINE[:4])
    start = read_start(path, line)
    assert check(line, start.routes or ()).feasible
    assert start.repairs[0] == "1 customer that is gone was dropped: 9"
    assert repaired(line, [[]]).routes != ((),)


def test_a_start_in_python(tmp_path: Path) -> None:
    """`start=` takes a file or routes; the answer is no worse than the repaired start, and says what was repaired."""
    instance = generate_set("cvrp", 12, 1, seed=2)[0]
    first = dact.solve(instance, steps=30)
    write_solution(tmp_path / "a.sol", instance, first.routes, first.cost)
    for start in (tmp_path / "a.sol", str(tmp_path / "a.sol"), first.routes):
        again = dact.solve(instance, start=start, steps=5)
        assert (again.start_cost, again.repairs) == (first.cost, ())
    less = dact.solve(instance, start=[route[1:] for route in first.routes], steps=0)
    assert len(less.repairs) == 1
    with pytest.raises(InputError, match="the start route 1 visits customer 1 twice"):
        dact.solve(instance, start=[[1, 1]])
    with pytest.raises(InputError, match="the start route 2 visits customer 3 as route 1 does"):
        dact.solve(instance, start=[[3, 1], [3]])
    with pytest.raises(ValueError, match="start 'best' is not one of greedy, random"):
        dact.solve(instance, start="best")


@pytest.mark.parametrize("index", [5, 99])
def test_indices_that_do_not_exist(index: int) -> None:
    """A start may visit nodes that are gone, which its repairs tell; `start_routes` may not."""
    instance = street([1, 1, 1, 1])
    result = dact.solve(instance, start=[[1, index, 2]], steps=0)
    assert result.repairs[0] == f"1 customer that is gone was dropped: {index}"
    assert check(instance, result.routes).feasible
    with pytest.raises(ValueError, match=f"the start is not a solution of 'street': node index {index} does not exist"):
        dact.solve(instance, start_routes=((1, index, 2), (3, 4)))


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (5, "start is 5, neither the name of a start, nor a file, nor a list of routes"),
        ([9], r"start\[0\] is 9, not a route: a list of indices or names"),
        (["Ann"], r"start\[0\] is 'Ann', not a route"),
        ([[1], [2.5]], r"start\[1\] visits 2.5, which is neither an index nor a name"),
        ([[True]], r"start\[0\] visits True"),
        ([[[1]]], r"start\[0\] visits \[1\]"),
    ],
)
def test_what_is_no_route(start: object, message: str) -> None:
    """A start of another shape is refused with the part that is wrong."""
    with pytest.raises(TypeError, match=message):
        dact.solve(street([1, 1, 1]), start=start)  # type: ignore[call-overload]


def test_routes_of_numpy() -> None:
    """Arrays and iterators of routes are taken like lists."""
    instance = street([1, 1, 1, 1])
    for start in (np.array([[1, 2], [3, 4]]), [iter((1, 2)), range(3, 5)]):
        assert dact.solve(instance, start=start, steps=0).start_routes == ((1, 2), (3, 4))  # type: ignore[call-overload]
