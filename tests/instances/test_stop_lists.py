"""Solutions as lists of stops: what is written, and what is read of it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from dact.instances import InputError, Instance, read_solution, read_start, write_solution

OLD = "route,stop,name,load,leg\n1,0,depot,0,0\n1,1,1,1,3\n1,2,2,2,4\n1,3,depot,0,5\n2,0,depot,0,0\n2,1,3,3,4\n"


def corners(scale: float = 1.0, unit: float | None = None, load: float = 1) -> Instance:
    """A depot and three customers on the corners of a rectangle."""
    points = np.array([[0, 0], [3, 0], [3, 4], [0, 4]]) * scale
    demand = [0, load, load, load]
    return Instance.from_arrays(points, demand, 2 * load, demand_unit=unit)


def rows(tmp_path: Path, instance: Instance) -> list[dict[str, str]]:
    """The list of two routes."""
    write_solution(tmp_path / "a.csv", instance, ((1, 2), (3,)), 20.0)
    return list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))


def test_distances(tmp_path: Path) -> None:
    """Legs and distances from the start of the route, whole where they are."""
    listed = rows(tmp_path, corners())
    assert [row["leg"] for row in listed] == ["0", "3", "4", "5", "0", "4", "4"]
    assert [row["distance"] for row in listed] == ["0", "3", "7", "12", "0", "4", "8"]


@pytest.mark.parametrize(
    ("scale", "leg"),
    [(1 / 3, "1.33333"), (1e3 / 3, "1333.33"), (1e6 / 3, "1333333.33"), (1e-3 / 3, "0.00133333"), (1e-12, "0")],
)
def test_decimals(tmp_path: Path, scale: float, leg: str) -> None:
    """The longest route has six digits, or two decimals; no number has an exponent."""
    assert rows(tmp_path, corners(scale))[2]["leg"] == leg


@pytest.mark.parametrize(("load", "unit", "text"), [(1_234_567, None, "1234567"), (0.3, 0.1, "0.3"), (2.5, 0.5, "2.5")])
def test_loads(tmp_path: Path, load: float, unit: float | None, text: str) -> None:
    """Loads are in the units of the file, all their digits written."""
    assert rows(tmp_path, corners(unit=unit, load=load))[1]["load"] == text


def test_lists_of_all_versions_are_read(tmp_path: Path) -> None:
    """Lists with and without distances, with other columns and in another order are solutions and starts."""
    instance = corners()
    rows(tmp_path, instance)
    (tmp_path / "old.csv").write_text(OLD)
    (tmp_path / "other.csv").write_text("driver,name,route\nJo,1,1\nJo,2,1\nMo,3,2\n")
    for name in ("a", "old", "other"):
        assert read_solution(tmp_path / f"{name}.csv", instance) == ((1, 2), (3,))
        assert read_start(tmp_path / f"{name}.csv", instance).repairs == ()


def test_lists_that_a_spreadsheet_program_saved(tmp_path: Path) -> None:
    """A list that comes back as a workbook or with tabs is read as before, and its mistakes name their row."""
    instance, book = corners(), openpyxl.Workbook()
    rows(tmp_path, instance)
    lines = list(csv.reader((tmp_path / "a.csv").read_text().splitlines()))
    (tmp_path / "a.tsv").write_text("\n".join("\t".join(line) for line in lines))
    for line in lines:
        book.active.append([int(cell) if cell.isdigit() else cell for cell in line])
    book.save(tmp_path / "a.xlsx")
    for suffix in (".csv", ".tsv", ".xlsx"):
        assert read_solution(tmp_path / f"a{suffix}", instance) == ((1, 2), (3,))
        assert read_start(tmp_path / f"a{suffix}", instance).repairs == ()
    book.active["A3"] = "first"
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(
        InputError, match=re.escape(f"{tmp_path / 'b.xlsx'}: line 3: the route is 'first', not a number")
    ):
        read_start(tmp_path / "b.xlsx", instance)
    (tmp_path / "c.xlsx").write_text("route,name\n")
    with pytest.raises(InputError, match=re.escape(f"{tmp_path / 'c.xlsx'}: is not an Excel workbook")):
        read_start(tmp_path / "c.xlsx", instance)


def test_a_customer_listed_twice_is_not_taken_for_the_depot(tmp_path: Path) -> None:
    """A route from and to a place that is no customer loses it; one with a customer at both ends is refused."""
    points, path = [[0, 0], [3, 0], [3, 4], [0, 4]], tmp_path / "a.csv"
    named = Instance.from_arrays(points, [0, 1, 1, 1], 3, names=["Hub", "A", "B", "C"])
    for instance, first, second in ((named, "A", "B"), (corners(), "1", "2")):
        path.write_text(f"route,name\n1,yard\n1,{first}\n1,{second}\n1,yard\n")
        assert read_start(path, instance).repairs == ("1 customer that is new was inserted: " + instance.title(3),)
        path.write_text(f"route,name\n1,{first}\n1,{second}\n1,{first}\n")
        with pytest.raises(InputError, match=r"route 1 visits customer 1.* twice"):
            read_start(path, instance)


def test_a_single_route_from_and_to_a_customer_of_today(tmp_path: Path) -> None:
    """In our own lists, stop 0 at both ends of the only route is its depot, also where that is a customer today."""
    points, path = [[0, 0], [3, 0], [3, 4], [0, 4]], tmp_path / "a.csv"
    old = Instance.from_arrays(points, [0, 1, 1, 1], 3, names=["Hub", "A", "B", "C"])
    today = Instance.from_arrays(points, [0, 1, 1, 1], 3, names=["Yard", "A", "B", "Hub"])
    write_solution(path, old, ((1, 3, 2),), 18.0)
    told = ("1 customer that is gone was dropped: C", "1 customer that is new was inserted: Hub")
    assert read_start(path, today).repairs == told
    without = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\n".join(f"{route};{stop};{name}" for route, stop, name, *_ in without))
    assert read_start(path, today).repairs == told


@pytest.mark.parametrize(
    "text",
    [
        "route,name\n1,Hub\n1,A\n1,B\n1,Hub\n",
        "route,stop,name\n1,1,Hub\n1,2,A\n1,3,B\n1,4,Hub\n",
        "route,stop,name,load\n1,0,Hub,1\n1,1,A,1\n1,2,B,1\n1,3,Hub,1\n",
        "route,stop,name\n1,0,Hub\n1,1,A\n1,2,Hub\n2,0,B\n2,1,Yard\n",
    ],
)
def test_a_customer_at_both_ends_that_may_be_the_depot(tmp_path: Path, text: str) -> None:
    """Where a list does not say that its ends are the depot, the refusal says what to change."""
    points, path = [[0, 0], [3, 0], [3, 4], [0, 4]], tmp_path / "a.csv"
    today = Instance.from_arrays(points, [0, 1, 1, 1], 3, names=["Yard", "A", "B", "Hub"])
    path.write_text(text)
    hint = "route 1 visits customer 3 ('Hub') twice, first and last: if that was the depot, leave it out there"
    with pytest.raises(InputError, match=re.escape(f"{path}: {hint}")):
        read_start(path, today)
    path.write_text(text.replace(",Hub", ",depot"))
    assert "was inserted: Hub" in read_start(path, today).repairs[-1]
