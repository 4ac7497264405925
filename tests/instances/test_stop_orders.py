"""Lists of stops that people made or sorted: the order of stops, and the names of routes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from dact.instances import InputError, Instance, read_solution, read_start, write_solution

NAMES = ("Depot", "Ann", "Ben", "Cem", "Dora")
ROUTES = ((4, 1), (2, 3))


def plaza(names: tuple[str, ...] = NAMES, problem: str = "cvrp") -> Instance:
    """Four customers around a depot."""
    points, demand = [[0, 0], [3, 0], [3, 4], [0, 4], [1, 7]], [0, 1, 1, 1, 1]
    loads = (demand, 4) if problem == "cvrp" else ()
    return Instance.from_arrays(points, *loads, names=names)


@pytest.mark.parametrize("problem", ["cvrp", "tsp"])
@pytest.mark.parametrize("names", [NAMES, (), ("Depot", "Ann", "Ann", "Depot", "Ben")])
def test_our_lists_in_any_order(tmp_path: Path, problem: str, names: tuple[str, ...]) -> None:
    """A list that DACT wrote is read back as it was, however its rows were sorted."""
    instance, path = plaza(names, problem), tmp_path / "a.csv"
    routes = ROUTES if problem == "cvrp" else ((2, 0, 4, 1, 3),)
    write_solution(path, instance, routes, 1.0)
    head, *rows = path.read_text().splitlines()
    for seed in range(20):
        shuffled = np.random.RandomState(seed).permutation(rows)
        path.write_text("\n".join([head, *shuffled]))
        assert read_solution(path, instance) == routes
        assert (read_start(path, instance).routes, read_start(path, instance).repairs) == (routes, ())


def test_shared_names_alone_get_numbers(tmp_path: Path) -> None:
    """Lists of unique names have the columns that they always had."""
    for names, last in ((NAMES, "distance"), (("Depot", "Ann", "Ann", "Cem", "Ann"), "number")):
        write_solution(tmp_path / "a.csv", plaza(names), ROUTES, 1.0)
        assert (tmp_path / "a.csv").read_text().splitlines()[0].split(",")[-1] == last


def test_a_workbook_is_read_by_its_stops(tmp_path: Path) -> None:
    """Stops count in workbooks as in text."""
    book = openpyxl.Workbook()
    for row in (("Tour", "Stopp", "Kunde"), (1, 2, "Ann"), (2, 20, "Cem"), (1, 1, "Dora"), (2, 10, "Ben")):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert read_start(tmp_path / "a.xlsx", plaza()).routes == ROUTES


@pytest.mark.parametrize(
    "text",
    [
        "route,stop,name\n1,second,Dora\n1,first,Ann\n2,,Ben\n2,,Cem\n",
        "route,name,stop\n1,Dora\n1,Ann\n2,Ben\n2,Cem\n",
        "route,name\n2,Ben\n1,Dora\n1,Ann\n2,Cem\n",
        "route,stop\n1,Dora\n1,Ann\n2,Ben\n2,Cem\n",
        "Tour;Kunde\nRotes Auto;Dora\nA;Ben\nRotes Auto;Ann\nA;Cem\n",
        "Tour-Nr.;Stop;Kunde;Nr\n1;2;Ann;7\n1;1;Dora;8\n2;-1;Ben;1\n2;0;Cem;9\n",
        "vehicle,customer,driver\nvan,Dora,x\nvan,Ann,x\ncar,Ben,y\ncar,Cem,y\n",
        "route,company,customer_id\n1,x,Dora\n1,y,Ann\n2,x,Ben\n2,y,Cem\n",
        "name,Route,number\nDora,1,17b\nAnn,1,4\nBen,2,4\nCem,2,\n",
        "name,Route,vehicle\nDora,1,van\nAnn,1,car\nBen,2,car\nCem,2,car\n",
    ],
)
def test_lists_of_other_people(tmp_path: Path, text: str) -> None:
    """Without numbers of stops the rows count; routes may have names, and columns the headers that tables may have."""
    (tmp_path / "a.csv").write_text(text)
    assert read_start(tmp_path / "a.csv", plaza()).routes == ROUTES
    assert read_solution(tmp_path / "a.csv", plaza()) == ROUTES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,1,Ann\n2,1,Ben\n1,2,Dora\n1,1,Cem\n", "line 5: route 1 has stop 1 twice, first in line 2"),
        ("A,1,Ann\nA,1.0,Ben\n", "line 3: route A has stop 1 twice, first in line 2"),
        ("1,1,Ann\n1,,Ben\n", "line 3: has no number of a stop, which other lines have"),
        ("1,1,Ann\n1,last,Ben\n", "line 3: the stop is 'last', not a number"),
        ("1,1,Ann\n1,1.5,Ben\n", "line 3: the stop is '1.5', not a whole number"),
        ("A,1,Ann\n,2,Ben\n", "line 3: names no route"),
        ("1,1,Ann\nA,2,Ben\n", "line 3: the route is 'A', not a number"),
    ],
)
def test_stops_and_routes_that_are_not_clear(tmp_path: Path, text: str, message: str) -> None:
    """An order that cannot be told is refused with its line."""
    path = tmp_path / "a.csv"
    path.write_text(f"route,stop,name\n{text}")
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
        read_start(path, plaza())
