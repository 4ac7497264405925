"""Distance matrices in files of their own, alone or beside a table of customers."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from instance_cases import EXPLICIT, TSP, loaded, refusal, saved

from dact.instances import InputError, InputWarning, check, read

ROADS = np.array([[0, 2, 9, 4], [3, 0, 5, 6], [8, 7, 0, 1], [2, 5, 3, 0]])
ROWS = "0,2,9,4\n3,0,5,6\n8,7,0,1\n2,5,3,0\n"
LABELLED = ",A,B,C,D\nA,0,2,9,4\nB,3,0,5,6\nC,8,7,0,1\nD,2,5,3,0\n"

NUMBERED = "ID,101,102,103,104\n101,0,2,9,4\n102,3,0,5,6\n103,8,7,0,1\n104,2,5,3,0\n"


def npy(values: np.ndarray) -> bytes:
    """The bytes of an .npy file."""
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "names"),
    [
        ("a.csv", ROWS, ()),
        ("a.csv", ROWS.replace(",", ";"), ()),
        ("a.csv", LABELLED, ("A", "B", "C", "D")),
        ("a.csv", "A,B,C,D\n" + ROWS, ("A", "B", "C", "D")),
        ("a.csv", "".join(LABELLED.splitlines(keepends=True)[1:]), ("A", "B", "C", "D")),
        ("a.csv", LABELLED.replace("A,0", "A,"), ("A", "B", "C", "D")),
        ("a.csv", NUMBERED, ("101", "102", "103", "104")),
        ("a.csv", NUMBERED.replace("ID", ""), ("101", "102", "103", "104")),
        ("a.npy", npy(ROADS), ()),
        ("a.npy", npy(ROADS.astype(np.float32)), ()),
    ],
)
def test_a_matrix_alone(tmp_path: Path, name: str, content: str | bytes, names: tuple[str, ...]) -> None:
    """A matrix is a TSP whose costs are those of the direction driven."""
    instance = loaded(tmp_path, name, content)
    assert (instance.problem, instance.rule, instance.symmetric, instance.names) == ("tsp", "explicit", False, names)
    assert instance.distances().tolist() == ROADS.tolist()
    assert [check(instance, [route]).cost for route in ((0, 1, 2, 3), (0, 3, 2, 1))] == [10, 17]


@pytest.mark.parametrize("header", ["name,demand", "demand,name", "name,x,y,demand", "name,lat,lon,demand"])
def test_a_table_with_a_matrix(tmp_path: Path, header: str) -> None:
    """Demands come from the table and distances from the matrix, whose rows are matched by their names."""
    row = {"name": "{}", "demand": "{}", "x": "1.5", "y": "2", "lat": "45", "lon": "{}"}
    order, text = "BADC", header + "\n"
    for place, letter in enumerate(order):
        cells = {**row, "name": letter, "demand": str(place), "lon": str(place)}
        text += ",".join(cells[column] for column in header.split(",")) + "\n"
    matrix = saved(tmp_path, "roads.csv", LABELLED)
    instance = read(saved(tmp_path, "a.csv", text), capacity=5, matrix=matrix)
    places = ["ABCD".index(letter) for letter in order]
    assert instance.distances().tolist() == ROADS[np.ix_(places, places)].tolist()
    assert (instance.problem, instance.demand.tolist()) == ("cvrp", [0, 1, 2, 3])
    assert (instance.coordinates is None) == ("x" not in header and "lat" not in header)
    assert check(instance, [(1, 2), (3,)]).cost == ROADS[1, 0] + ROADS[0, 3] + ROADS[3, 1] + ROADS[1, 2] + ROADS[2, 1]


@pytest.mark.parametrize(
    ("table", "matrix", "expected"),
    [
        ("name,demand\n101,0\n105,1\n", NUMBERED, r"a.csv: the matrix .*m.csv lacks the name '105'"),
        ("name,demand\nA,0\nB,1\nC,1\nE,1\n", LABELLED, r"a.csv: the matrix .*m.csv lacks the name 'E'"),
        ("Filiale;Kisten\nA;0\nB;1\n", LABELLED, r"line 1: the header 'Filiale;Kisten' has neither name nor demand$"),
        ("demand\n0\n1\n", ROWS, r"a.csv: has 2 nodes, but the matrix .*m.csv has 4"),
        ("x,y\n0,0\n1,1\n", ROWS, r"a.csv: has 2 nodes, but the matrix .*m.csv has 4"),
        ("name,phone\na,b\n", ROWS, r"a.csv: has 1 node, but the matrix .*m.csv has 4"),
        ("name,demand\nA,0\nA,1\nB,1\nC,1\nD,1\n", LABELLED, r"a.csv: a name is used twice, .* of the matrix .*m.csv"),
    ],
)
@pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")
def test_tables_that_do_not_fit(tmp_path: Path, table: str, matrix: str, expected: str) -> None:
    """A matrix of other nodes is refused."""
    with pytest.raises(InputError, match=expected):
        read(
            saved(tmp_path, "a.csv", table),
            capacity=5 if "demand" in table else None,
            matrix=saved(tmp_path, "m.csv", matrix),
        )


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", ROWS.replace("7", "seven"), "line 3: a distance is 'seven', not a number"),
        ("a.csv", ROWS.replace("8,7,0,1", "8,7,0"), "line 3: has 3 distances, but the matrix has 4 rows"),
        ("a.csv", ROWS.replace("7", "-7"), "line 3: the distance -7 is negative"),
        ("a.csv", LABELLED.replace("C,8", "E,8"), "the row 'E' has no column of that name"),
        ("a.csv", LABELLED.replace("C,8", "A,8"), "the column 'C' has no row of that name"),
        ("a.csv", LABELLED.replace("B,C", "B,B"), "two columns have the name 'B'"),
        ("a.npy", npy(np.zeros((3, 2))), "holds an array of shape (3, 2), not a matrix"),
        ("a.npy", npy(np.array([["a", "b"], ["c", "d"]])), "matrix must be real numbers"),
        ("a.npy", npy(ROADS)[:-8], "is not an .npy file of plain numbers"),
        ("a.npy", npy(np.array([[None]])), "is not an .npy file of plain numbers"),
        ("a.npy", b"rubbish", "is not an .npy file of plain numbers"),
    ],
)
def test_refusals(tmp_path: Path, name: str, content: str | bytes, expected: str) -> None:
    """A bad matrix is refused with its place and value."""
    assert expected in refusal(tmp_path, name, content)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("A,B,C,D\n0,1,2,3\n1,0,2,3\n1,2,0,3\n", "line 2: has 4 distances, but the matrix has 3 rows"),
        ("A,B,C,D\n0,1,2\n1,0,2\n1,2,0\n", "names 4 columns, but has 3 rows"),
    ],
)
def test_rows_that_begin_with_numbers(tmp_path: Path, rows: str, expected: str) -> None:
    """They have labels only where these are the header's names; what is too wide is told as such."""
    with pytest.raises(InputError, match=f"m.csv: {expected}"):
        read(
            saved(tmp_path, "a.csv", "name,demand\nA,0\nB,1\nC,1\n"), capacity=5, matrix=saved(tmp_path, "m.csv", rows)
        )


def test_three_rows_need_names(tmp_path: Path) -> None:
    """Three rows of three numbers are coordinates and demands, unless a header says otherwise."""
    assert loaded(tmp_path, "a.csv", "# capacity: 9\n0,0,0\n3,0,4\n3,4,6\n").problem == "cvrp"
    assert loaded(tmp_path, "b.csv", "a,b,c\n0,3,5\n3,0,4\n5,4,0\n").rule == "explicit"


def test_asymmetric_files_of_tsplib(tmp_path: Path) -> None:
    """ATSP is read; a TSP that is not symmetric is read too, with a warning, as it may be a misprint."""
    text = EXPLICIT.replace("5 4 0", "6 4 0")
    assert not loaded(tmp_path, "a.tsp", text.replace("TYPE : TSP", "TYPE : ATSP")).symmetric
    with pytest.warns(InputWarning, match="from node 1 to node 3 is 5 and back 6"):
        assert check(loaded(tmp_path, "b.tsp", text), ((0, 1, 2),)).cost == 13


def test_decimal_degrees_in_a_geo_file(tmp_path: Path) -> None:
    """GEO means degrees and minutes; a file whose minutes go beyond 59 is read as it says, with a warning."""
    geo = TSP.replace("EUC_2D", "GEO")
    assert loaded(tmp_path, "a.tsp", geo).rule == "geo"
    with pytest.warns(InputWarning, match=r"GEO reads 45.75 as degrees and minutes, but there are no such minutes"):
        loaded(tmp_path, "b.tsp", geo.replace("3 3 4", "3 45.75 4"))
