"""CSV files: columns, headers, the depot's row and the capacity."""

from __future__ import annotations

from pathlib import Path

import pytest
from instance_cases import CSV, RECTANGLE, loaded, refusal, saved

from dact.instances import InputError, read, read_set

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
        (CSV.replace("0,0,0", "0,0,1"), "the depot has demand 1, but it must be 0"),
        (CSV.replace("3,4,6", "3,4,6.5"), "line 5: demand is '6.5', not a whole number"),
        (CSV.replace("3,4,6", "3,4,-6"), "line 5: demand -6 is negative"),
        (CSV.replace("3,4,6", "3,4"), "line 5: '3,4' has 2 cells, not 3"),
        (CSV.replace("3,4,6", "3,4,"), "line 5: demand is '', not a number"),
        (CSV.replace("3,4,6", "nan,4,6"), "line 5: x is 'nan', not a number up to"),
        ("x,y,demand\n1,2\n", "line 2: '1,2' has 2 cells, not 3"),
        ("# capacity: 4\n0,0,0\n", "a CVRP needs a depot and at least one customer"),
        ("lat,lon\n1,2\n", "line 1: the header 'lat,lon' is not x,y or x,y,demand"),
        ("1\n2\n", "line 1: '1' has 1 cells, not 2"),
        ("1,2,3,4\n", "line 1: '1,2,3,4' has 4 cells, not 3"),
        ("1;2\n", "line 1: the header '1;2' is not x,y"),
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
