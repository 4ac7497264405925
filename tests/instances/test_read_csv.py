"""CSV files: columns, headers, the depot's row and the capacity."""

from __future__ import annotations

from pathlib import Path

import pytest
from instance_cases import CSV, RECTANGLE, loaded, refusal, saved

from dact.instances import InputError, InputWarning, check, read, read_set

POINTS = "0,0\n3,0\n3,4\n0,4\n"


@pytest.mark.parametrize(
    "text",
    [
        POINTS,
        "x,y\n" + POINTS,
        "X, Y\n" + POINTS,
        "# mine\n\n" + POINTS,
        POINTS.replace("\n", "\r\n"),
        "\ufeff" + POINTS,
    ],
)
def test_tsp(tmp_path: Path, text: str) -> None:
    """Two columns are a TSP with unrounded lengths, with a header or without."""
    instance = loaded(tmp_path, "mine.csv", text)
    assert (instance.name, instance.problem, instance.rule) == ("mine", "tsp", "euclidean")
    assert instance.coordinates.tolist() == RECTANGLE.tolist()


def test_cvrp(tmp_path: Path) -> None:
    """Three columns are a CVRP whose first row is the depot; a comment gives the capacity."""
    instance = loaded(tmp_path, "mine.csv", CSV)
    assert (instance.problem, instance.capacity) == ("cvrp", 10)
    assert instance.demand.tolist() == [0, 4, 6, 7]


def test_given_capacity_wins(tmp_path: Path) -> None:
    """The caller's capacity replaces the file's, or stands in for it."""
    assert read(saved(tmp_path, "a.csv", CSV), capacity=25).capacity == 25
    bare = saved(tmp_path, "b.csv", CSV.replace("# capacity: 10\n", ""))
    assert read(bare, capacity=25).capacity == 25
    assert read_set(bare, capacity=25).capacity.tolist() == [25]


def test_capacity_comment_anywhere(tmp_path: Path) -> None:
    """The capacity comment may follow the rows, and '=' serves as well as ':'."""
    assert loaded(tmp_path, "a.csv", "0,0,0\n1,1,5\n#Capacity = 9\n").capacity == 9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CSV.replace("# capacity: 10\n", ""), "has a demand column but no capacity: add the line"),
        (CSV.replace("10", "ten"), "line 1: the capacity is 'ten', not a number"),
        (CSV.replace("10", "0"), "line 1: the capacity is 0, but it must be at least 1"),
        (CSV.replace("10", "5"), "capacity 5 is below the largest demand 7 (customer 3)"),
        (CSV + "# capacity: 11\n", "line 7: the capacity is given twice"),
        (CSV.replace("0,0,0", "0,0,1"), "line 3: the first row is the depot, so that its demand must be 0, not 1"),
        (CSV.replace("3,4,6", "3,4,6.5"), "line 5: demand is '6.5', not a whole number"),
        (CSV.replace("3,4,6", "3,4,-6"), "line 5: demand -6 is negative"),
        (CSV.replace("3,4,6", "3,4"), "line 5: '3,4' has 2 cells, not 3"),
        (CSV.replace("3,4,6", "3,4,"), "line 5: demand is '', not a number"),
        (CSV.replace("3,4,6", "nan,4,6"), "line 5: x is 'nan', not a number up to"),
        ("x,y,demand\n1,2\n", "line 2: '1,2' has 2 cells, not 3"),
        ("# capacity: 4\n0,0,0\n", "a CVRP needs a depot and at least one customer"),
        ("lat,y\n1,2\n", "line 1: the header 'lat,y' has neither x,y nor lat,lon"),
        ("lat,lon\n91,2\n", "line 2: lat is 91, not between -90 and 90: are lat and lon exchanged?"),
        ("lat,lon\n1,2\n1,-181\n", "line 3: lon is -181, not between -180 and 180"),
        ("x,y,X\n1,2,3\n", "line 1: the header names the column x twice"),
        ('name,x,y\n"a,1,2\n', "line 2: has a quoted cell that does not end"),
        ("1\n2\n", "line 1: '1' has 1 cell, not 2"),
        ("# vehicles: 0\n" + CSV, "line 1: the number of vehicles is 0, but it must be at least 1"),
        ("1,2,3,4\n", "line 1: '1,2,3,4' has 4 cells, not 3"),
        ("1;2\n1;2;3\n", "line 2: '1;2;3' has 3 cells, not 2"),
        ("x,y\n", "holds no row of numbers"),
        ("# nothing\n", "holds no row of numbers"),
        ("1,two\n", "line 1: y is 'two', not a number"),
        ("", "is empty"),
        (b"1,2\0", "is a binary file, not text"),
    ],
)
def test_refusals(tmp_path: Path, text: str | bytes, expected: str) -> None:
    """A bad table is refused with its line and value."""
    assert expected in refusal(tmp_path, "a.csv", text)


def test_capacity_without_demand(tmp_path: Path) -> None:
    """A capacity makes no sense for a file without demands."""
    with pytest.raises(InputError, match="a capacity is given, but there is no demand column"):
        read(saved(tmp_path, "a.csv", POINTS), capacity=5)


@pytest.mark.parametrize("capacity", [0, -1, 3, 2.5, True])
def test_bad_given_capacity(tmp_path: Path, capacity) -> None:
    """A capacity that cannot be is refused with the file's name."""
    with pytest.raises(InputError, match=r"a\.csv: capacity"):
        read(saved(tmp_path, "a.csv", CSV), capacity=capacity)


@pytest.mark.parametrize(
    "text",
    [
        "0;0\n3;0\n3;4\n0;4\n",
        "x;y\n0;0,0\n3,0;0\n3;4\n0;4,000\n",
        "y,x\n0,0\n0,3\n4,3\n4,0\n",
        "x,y,\n0,0,\n3,0,\n,,\n3,4,\n0,4,\n",
    ],
)
def test_spreadsheets(tmp_path: Path, text: str) -> None:
    """Semicolons, decimal commas, columns in another order and blank cells at the end are read."""
    assert loaded(tmp_path, "a.csv", text).coordinates.tolist() == RECTANGLE.tolist()


@pytest.mark.parametrize(
    "text",
    [
        'name,x,y\nHome,0,0\n"Rossi, Via ""Po""",3,0\n  Two   words ,3,4\n,0,4\n',
        'Home;0;0\nRossi, Via "Po";3;0\nTwo words;3;4\n;0;4\n',
    ],
)
def test_names(tmp_path: Path, text: str) -> None:
    """Names are kept with a header or without, quoted or not; a node without one is called by its number."""
    instance = loaded(tmp_path, "a.csv", text)
    assert instance.coordinates.tolist() == RECTANGLE.tolist()
    assert instance.names == ("Home", 'Rossi, Via "Po"', "Two words", "")
    assert [instance.title(node) for node in (1, 3)] == ['Rossi, Via "Po"', "4"]
    assert instance.label(0) == "node 1 ('Home')"


def test_latitude_and_longitude(tmp_path: Path) -> None:
    """Degrees are great circles in kilometres: a quarter of the equator, and a quarter of a meridian."""
    instance = loaded(tmp_path, "a.csv", "Latitude,lng\n0,0\n0,90\n90,17\n")
    quarter = 6371.0088 * 3.141592653589793 / 2
    assert instance.rule == "great_circle"
    assert instance.distances()[0].tolist() == pytest.approx([0, quarter, quarter])
    assert check(instance, ((0, 1, 2),)).cost == pytest.approx(3 * quarter)


def test_decimal_demands(tmp_path: Path) -> None:
    """Demands are counted in the unit, rounded up, and the capacity is rounded down; 0.3 is three tenths."""
    path = saved(tmp_path, "a.csv", "# capacity: 1.25\nx,y,demand\n0,0,0\n1,0,0.3\n2,0,0.31\n3,0,1\n")
    instance = read(path, demand_unit=0.1)
    assert (instance.demand.tolist(), instance.capacity, instance.demand_unit) == ([0, 3, 4, 10], 12, 0.1)
    with pytest.raises(InputError, match=r"line 4: demand is '0.3', not a whole number: give a demand unit"):
        read(path)


@pytest.mark.parametrize("unit", [0.0, -1.0, float("nan"), float("inf"), "1", 1e-300])
def test_bad_units(tmp_path: Path, unit) -> None:
    """A unit that cannot be is refused."""
    with pytest.raises(InputError, match="demand_unit"):
        read(saved(tmp_path, "a.csv", CSV), demand_unit=unit)


def test_columns_that_are_not_used(tmp_path: Path) -> None:
    """A column that nobody knows is left out, and that is said: it may have been a misspelt demand."""
    with pytest.warns(InputWarning, match="a.csv: the column 'Demnad' is not used; no column is called demand"):
        assert loaded(tmp_path, "a.csv", "x,y,Demnad\n1,2,3\n").problem == "tsp"


TOWN = ["52.1,5.1", "52.2,5.2", "52.3,5.1", "52.15,5.3"]


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (["0,0"], "a.csv: line 6: lat and lon are 0, far from all others: is the place not known?"),
        (["0,0", "0.0,0"], "a.csv: line 6 and 1 more: lat and lon are 0"),
        (["5.15,52.2"], "a.csv: line 6: far from all others, but not with lat and lon exchanged"),
        (["5.15,52.2", "5.1,52.2"], "a.csv: line 6 and 1 more: far from all others, but not"),
    ],
)
def test_odd_places(tmp_path: Path, odd: list[str], said: str) -> None:
    """A place at 0,0 and one whose lat and lon are exchanged are told, and read as they are."""
    path = saved(tmp_path, "a.csv", "\n".join(["lat,lon", *TOWN, *odd, ""]))
    with pytest.warns(InputWarning) as seen:
        assert read(path).size == len(TOWN) + len(odd)
    assert [said in str(each.message) for each in seen] == [True]


@pytest.mark.parametrize(
    "rows",
    [
        [*TOWN, "48.1,11.5", "40.4,-3.7"],
        ["0,0", "0.1,0.1", "0.2,-0.1", "-0.1,0.3", "0.1,0.2"],
        ["10.1,10.2", "10.2,10.1", "10.3,10.1", "10.1,10.4", "0.5,10"],
        ["0,0", "10,10"],
        ["0,0", "0,0", "52,5"],
        ["-17.5,179.9", "-17.6,-179.9", "-17.7,179.8", "-17.5,-179.8"],
    ],
)
@pytest.mark.filterwarnings("error::dact.instances.InputWarning")
def test_places_that_are_not_odd(tmp_path: Path, rows: list[str]) -> None:
    """Far places, places around 0,0, those where lat and lon are alike, and a few only are not spoken of."""
    assert loaded(tmp_path, "a.csv", "\n".join(["lat,lon", *rows, ""])).size == len(rows)
