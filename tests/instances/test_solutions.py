"""Solution files: written, read back, and refused with the reason."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from instance_cases import TSP, VRP, loaded, saved

from dact.instances import InputError, Instance, read, read_solution, write_solution


@pytest.fixture
def tsp(tmp_path: Path) -> Instance:
    """The rectangle, read from its file."""
    return loaded(tmp_path, "rectangle.tsp", TSP)


@pytest.fixture
def cvrp(tmp_path: Path) -> Instance:
    """The three customers, read from their file."""
    return loaded(tmp_path, "corners.vrp", VRP)


def test_tour_text(tmp_path: Path, tsp: Instance) -> None:
    """A .tour file holds the ids of the instance's file, from -1 to EOF as TSPLIB asks."""
    write_solution(tmp_path / "a.tour", tsp, ((2, 0, 1, 3),), 16.0)
    assert (tmp_path / "a.tour").read_text() == (
        "NAME : rectangle.tour\nCOMMENT : Length 16\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n3\n1\n2\n4\n-1\nEOF\n"
    )


def test_sol_text(tmp_path: Path, cvrp: Instance) -> None:
    """A .sol file numbers the routes that serve someone, and ends with the cost."""
    write_solution(tmp_path / "a.sol", cvrp, ((2, 1), (), (3,)), 20.25)
    assert (tmp_path / "a.sol").read_text() == "Route #1: 2 1\nRoute #2: 3\nCost 20.25\n"


@pytest.mark.parametrize("suffix", ["tour", "json"])
def test_tour_comes_back(tmp_path: Path, tsp: Instance, suffix: str) -> None:
    """A tour that was written is read back as the same indices."""
    write_solution(tmp_path / f"a.{suffix}", tsp, ((2, 0, 1, 3),), 16.0)
    assert read_solution(tmp_path / f"a.{suffix}", tsp) == ((2, 0, 1, 3),)


@pytest.mark.parametrize("suffix", ["sol", "json"])
def test_routes_come_back(tmp_path: Path, cvrp: Instance, suffix: str) -> None:
    """Routes that were written, from arrays too, are read back as the same indices."""
    write_solution(str(tmp_path / f"a.{suffix}"), cvrp, [np.array([2, 1]), np.array([3])], 20.0)
    assert read_solution(tmp_path / f"a.{suffix}", cvrp) == ((2, 1), (3,))


def test_json_text(tmp_path: Path, tsp: Instance) -> None:
    """JSON names the instance and numbers nodes as the .tour file does."""
    write_solution(tmp_path / "a.json", tsp, ((0, 1, 2, 3),), 14.0)
    expected = {"name": "rectangle", "problem": "tsp", "cost": 14.0, "routes": [[1, 2, 3, 4]]}
    assert json.loads((tmp_path / "a.json").read_text()) == expected


def test_own_ids(tmp_path: Path) -> None:
    """Ids that do not begin at 1 are used in files and turned into indices in memory."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 5.0]])
    odd = Instance(name="o", problem="tsp", rule="euc_2d", coordinates=points, node_ids=np.array([7, 9, 4]))
    write_solution(tmp_path / "a.tour", odd, ((1, 2, 0),), 11.0)
    assert "TOUR_SECTION\n9\n4\n7\n-1" in (tmp_path / "a.tour").read_text()
    assert read_solution(tmp_path / "a.tour", odd) == ((1, 2, 0),)


def test_depot_elsewhere(tmp_path: Path) -> None:
    """Customers are numbered 1..n without the depot, wherever the depot stands in the file."""
    text = VRP.replace("1 0\n2 4\n3 6\n", "1 4\n2 6\n3 0\n").replace("DEPOT_SECTION\n1", "DEPOT_SECTION\n3")
    instance = loaded(tmp_path, "a.vrp", text)
    write_solution(tmp_path / "b.sol", instance, ((1, 2), (3,)), 1.0)
    assert read_solution(tmp_path / "b.sol", instance) == ((1, 2), (3,))


@pytest.mark.parametrize("ending", ["-1\nEOF\n", "-1\n", "EOF\n", "", "-1\n-1\nEOF\n"])
def test_tour_endings(tmp_path: Path, tsp: Instance, ending: str) -> None:
    """A tour may end with -1, with EOF, with both, with a second -1 or with nothing."""
    path = saved(tmp_path, "b.tour", f"TYPE : TOUR\nTOUR_SECTION\n1 2\n3\n4\n{ending}")
    assert read_solution(path, tsp) == ((0, 1, 2, 3),)


def test_sol_dialects(tmp_path: Path, cvrp: Instance) -> None:
    """Tabs, trailing spaces, empty routes, CRLF and extra fields are harmless."""
    text = "Route #1:\t1 2 \r\nRoute #2: 3\r\nRoute #3:\r\nCost 20\r\nTime 3.5\r\nRoutes: 2\r\n"
    assert read_solution(saved(tmp_path, "b.sol", text), cvrp) == ((1, 2), (3,))


TOUR_CASES = [
    ("TOUR_SECTION\n1 2 3\n-1\n", "is not a solution of 'rectangle': node 4 is not visited"),
    ("TOUR_SECTION\n1 2 3 3\n-1\n", "node 3 is visited twice (and 1 more faults)"),
    ("TOUR_SECTION\n1 2 3 9\n-1\n", "visits node 9, which 'rectangle' does not have"),
    ("TOUR_SECTION\n1 2 x 4\n-1\n", "line 2: a node is 'x', not a number"),
    ("TOUR_SECTION\n1 2\n-1\n3 4\n-1\n", "line 4: node 3 comes after the -1 that ends the tour"),
    ("DIMENSION : 5\nTOUR_SECTION\n1 2 3 4\n", "DIMENSION is 5 but 'rectangle' has 4 nodes"),
    ("TYPE : TOUR\n", "the TOUR_SECTION is missing"),
    ("TOUR_SECTION\n-1\n", "a TSP solution is one tour, not 0"),
    ("", "is empty"),
]

SOL_CASES = [
    ("Route #1: 1 2\nCost 9\n", "is not a solution of 'corners': customer 3 is not visited"),
    ("Route #1: 1 2\nRoute #2: 3 1\nCost 9\n", "customer 1 is visited twice"),
    ("Route #1: 1 2 3\nCost 9\n", "route 1 carries 17, above the capacity 10"),
    ("Route #1: 1 2\nRoute #2: 4\n", "visits customer 4, which 'corners' does not have"),
    ("Route #1: 1 2\nRoute #2: 0 3 0\n", "the depot is named inside a route"),
    ("Route #1: 1 x\n", "line 1: a customer is 'x', not a number"),
    ("Route #1: 1 2 3\nCost low\n", "line 2: the cost is 'low', not a number"),
    ("Route #1 1 2\n", "holds no line of the form 'Route #1: 4 2 7'"),
    ("Routes: 3\n", "holds no line of the form 'Route #1: 4 2 7'"),
    ("Cost 20\n", "holds no line of the form 'Route #1: 4 2 7'"),
    (b"\0\1", "is a binary file, not text"),
]

JSON_CASES = [
    ("{", "is not JSON"),
    ("[" * 100_000, "is not JSON"),
    ("[]", "has no list 'routes' of lists"),
    ('{"routes": [1, 2]}', "has no list 'routes' of lists"),
    ('{"routes": [[1, 2, 3, 4.5]]}', "a route holds 4.5, not a node number"),
    ('{"routes": [[1, 2, 3, true]]}', "a route holds True, not a node number"),
    ('{"routes": [[1, 2, 3, 40]]}', "visits node 40, which 'rectangle' does not have"),
    ('{"routes": [[1, 2], [3, 4]]}', "a TSP solution is one tour, not 2"),
]


def refused(path: Path, instance: Instance) -> str:
    """Read a solution that must be refused; return the one-line message."""
    with pytest.raises(InputError) as caught:
        read_solution(path, instance)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
    return message


@pytest.mark.parametrize(("text", "expected"), TOUR_CASES)
def test_bad_tours(tmp_path: Path, tsp: Instance, text: str, expected: str) -> None:
    """A tour that does not solve the instance is refused, and the node is named."""
    assert expected in refused(saved(tmp_path, "b.tour", text), tsp)


@pytest.mark.parametrize(("text", "expected"), SOL_CASES)
def test_bad_routes(tmp_path: Path, cvrp: Instance, text: str | bytes, expected: str) -> None:
    """Routes that do not solve the instance are refused with customer, route and load."""
    assert expected in refused(saved(tmp_path, "b.sol", text), cvrp)


@pytest.mark.parametrize(("text", "expected"), JSON_CASES)
def test_bad_json(tmp_path: Path, tsp: Instance, text: str, expected: str) -> None:
    """JSON of another shape is refused."""
    assert expected in refused(saved(tmp_path, "b.json", text), tsp)


def test_extensions(tmp_path: Path, tsp: Instance, cvrp: Instance) -> None:
    """Each problem has its own extensions."""
    for name, instance, expected in (
        ("a.sol", tsp, r"\.sol files do not hold TSP solutions"),
        ("a.tour", cvrp, r"\.tour files do not hold CVRP solutions"),
        ("a.txt", tsp, r"the extension '\.txt' is not one of \.tour, \.sol, \.json"),
    ):
        with pytest.raises(InputError, match=expected):
            write_solution(tmp_path / name, instance, ((0, 1, 2, 3),), 1.0)
        with pytest.raises(InputError, match=expected):
            read_solution(tmp_path / name, instance)


def test_extensions_are_those_that_fit(tmp_path: Path, tsp: Instance) -> None:
    """A refusal lists what can be read, or what can be written."""
    written = r"not one of \.tour, \.sol, \.json, \.csv"
    with pytest.raises(InputError, match=f"{written}$"):
        write_solution(tmp_path / "a.xlsx", tsp, ((0, 1, 2, 3),), 1.0)
    with pytest.raises(InputError, match=rf"{written}, \.tsv, \.xlsx$"):
        read_solution(tmp_path / "a.txt", tsp)


def test_infeasible_is_not_written(tmp_path: Path, cvrp: Instance) -> None:
    """What does not solve the instance is never written."""
    with pytest.raises(InputError, match="route 1 carries 17"):
        write_solution(tmp_path / "a.sol", cvrp, ((1, 2, 3),), 1.0)
    assert not (tmp_path / "a.sol").exists()


def test_writing_is_atomic(tmp_path: Path, cvrp: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails half-way leaves the old file and no rubbish behind."""
    path = tmp_path / "a.sol"
    write_solution(path, cvrp, ((1, 2), (3,)), 20.0)
    before = path.read_text()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dact.instances.files.os.replace", fail)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\)"):
        write_solution(path, cvrp, ((3,), (2, 1)), 20.0)
    assert path.read_text() == before
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.sol", "corners.vrp"]


def test_written_solution_is_the_best_known(tmp_path: Path, cvrp: Instance) -> None:
    """A solution beside an instance, whose cost our judge confirms, is its best known value."""
    write_solution(tmp_path / "corners.sol", cvrp, ((1, 2), (3,)), 20.0)
    assert read(tmp_path / "corners.vrp").best_known == 20.0
