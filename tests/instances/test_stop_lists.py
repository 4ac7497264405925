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
