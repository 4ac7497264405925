"""Old solutions as starts of new days: customers came, went and grew."""

from pathlib import Path

import numpy as np
import pytest

import dact
from dact.instances import InputError, Instance, check, generate_set, read_start, repaired, write_solution

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
    """With a limit on vehicles, routes are dissolved into the others; what does not fit is refused by its name."""
    start = repaired(street([1, 1, 1, 1], vehicles=1), [[1, 2], [4]])
    assert (len(start.routes), start.repairs[-1]) == (1, "1 route was dissolved")
    full = street([3, 3, 1, 1], vehicles=2)
    assert check(full, repaired(full, [[1], [2], [3], [4]]).routes).feasible
    with pytest.raises(InputError, match=r"needs more than 3 vehicles: customer 3 fits into no other route"):
        repaired(street([3, 3, 2, 2, 2], vehicles=3), [[1], [2], [4, 5]])


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
    """Routes by names need names that are."""
    with pytest.raises(InputError, match="the name 'Ann' is used twice"):
        repaired(street([1, 1], names=("Base", "Ann", "Ann")), [["Ann"]])


def test_tours(tmp_path: Path) -> None:
    """A tour of fewer nodes gets the others in between, whatever its DIMENSION."""
    path = tmp_path / "old.tour"
    path.write_text("DIMENSION : 3\nTOUR_SECTION\n1\n3\n9\n-1\n")
    line = Instance(name="line", problem="tsp", rule="euclidean", coordinates=LINE[:4])
    start = read_start(path, line)
    assert check(line, start.routes).feasible
    assert start.repairs[0] == "1 customer that is gone was dropped: 9"
    assert repaired(line, [[]]).routes[0] != ()


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
