"""Instances from arrays, matrices and tables in memory."""

from __future__ import annotations

import numpy as np
import pytest
from instance_cases import RECTANGLE

from dact.instances import InputError, InputWarning, Instance, check


class Frame:
    """As much of a DataFrame as we ask for, so that pandas need not be installed."""

    def __init__(self, columns: dict[object, list], index: list | None = None) -> None:
        self._values = columns
        self.columns = list(columns)
        self.index = list(range(len(next(iter(columns.values()))))) if index is None else index

    def __getitem__(self, column: object) -> list:
        return self._values[column]

    def to_numpy(self) -> np.ndarray:
        return np.array(list(self._values.values())).T


def test_from_arrays() -> None:
    """Coordinates are a TSP; with demands they are a CVRP, which may have names and a limit on vehicles."""
    assert Instance.from_arrays(RECTANGLE).problem == "tsp"
    names = ("Base", "a", "b", "c")
    shops = Instance.from_arrays(RECTANGLE, [0, 1, 2, 1], 2, name="shops", names=names, vehicles=2)
    assert (shops.name, shops.names, shops.capacity, shops.vehicles) == ("shops", names, 2, 2)
    assert Instance.from_arrays(RECTANGLE, latlon=True).rule == "great_circle"
    decimal = Instance.from_arrays(RECTANGLE, [0, 0.5, 1, 0.2], 1.5, demand_unit=0.5)
    assert (decimal.demand.tolist(), decimal.capacity) == ([0, 1, 2, 1], 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("abc",), "coordinates must be real numbers in 2 axes, not 'abc'"),
        (([],), r"coordinates must be real numbers in 2 axes, not \[\]"),
        (([1, 2],), r"coordinates must be real numbers in 2 axes, not \[1, 2\]"),
        (([[1, 2], [3]],), r"coordinates is \[\[1, 2\], \[3\]\], whose parts differ in length"),
        ((RECTANGLE, [0, 1, 1, 1]), "no capacity"),
        ((RECTANGLE, None, 3), "a capacity is given, but there is no demand"),
        ((RECTANGLE, [0, 1], 3), "demand has 2 entries for 4 nodes"),
        ((RECTANGLE, [0, 1, 1, 1], "3"), "capacity '3' is not a number"),
        ((RECTANGLE, [0, 1.5, 1, 1], 3), r"demand\[1\] is 1.5, not a whole number: give a demand_unit, such as 0.5"),
        ((RECTANGLE, [0, 1, 1, 1], 3.5), "capacity 3.5 is not a whole number: give a demand_unit, such as 0.5"),
    ],
)
def test_wrong_arrays(arguments: tuple, message: str) -> None:
    """What does not fit is refused by its name."""
    with pytest.raises(InputError, match=message):
        Instance.from_arrays(*arguments)


def test_from_matrix() -> None:
    """An array or a DataFrame with names, for a tour or for vehicles; labels 0, 1, 2 are no names."""
    roads = [[0, 1, 9], [9, 0, 1], [1, 9, 0]]
    assert check(Instance.from_matrix(roads), ((0, 1, 2),)).cost == 3
    vehicles = Instance.from_matrix(np.array(roads), [0, 1, 1], 2, coordinates=RECTANGLE[:3])
    assert (vehicles.problem, vehicles.rule) == ("cvrp", "explicit")
    labelled = Frame({"A": [0, 9, 1], "B": [1, 0, 9], "C": [9, 1, 0]}, ["A", "B", "C"])
    assert Instance.from_matrix(labelled).names == ("A", "B", "C")
    assert Instance.from_matrix(labelled).distances().tolist() == roads
    assert Instance.from_matrix(Frame({0: [0, 1], 1: [2, 0]})).names == ()
    with pytest.raises(InputError, match="names its rows and columns differently"):
        Instance.from_matrix(Frame({"A": [0, 1], "B": [2, 0]}, ["B", "A"]))


def test_from_frame() -> None:
    """The columns are those of CSV files, in any order and any case."""
    table = {"Demand": [0, 2, 1], "NAME": ["Base", "a", "b"], "lat": [45.0, 46.0, 47.0], "lon": [7.0, 8.0, 9.0]}
    instance = Instance.from_frame(Frame({**table, "phone": [1, 2, 3]}), 3)
    assert (instance.problem, instance.rule, instance.names) == ("cvrp", "great_circle", ("Base", "a", "b"))
    roads = Frame({"b": [0, 1, 2], "a": [3, 0, 4], "Base": [5, 6, 0]}, ["b", "a", "Base"])
    driven = Instance.from_frame(Frame(table), 3, matrix=roads)
    assert driven.distances().tolist() == [[0, 4, 2], [6, 0, 1], [5, 3, 0]]
    with pytest.raises(InputError, match="neither the columns x, y nor lat, lon"):
        Instance.from_frame(Frame({"demand": [0, 1]}), 3)
    with pytest.raises(InputError, match="not a DataFrame"):
        Instance.from_frame([[1, 2]], 3)


def test_frames_of_pandas() -> None:
    """The same with pandas itself, where it is installed."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"name": ["Base", "a"], "x": [0, 1], "y": [0, 1.5], "demand": [0, 1]})
    assert Instance.from_frame(table, 2).names == ("Base", "a")
    assert Instance.from_matrix(pandas.DataFrame([[0, 1], [2, 0]])).distances().tolist() == [[0, 1], [2, 0]]


@pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")
def test_names_that_are_all_different() -> None:
    """Of several columns that may be names, one whose values are all different is taken, as from a file."""
    frame = Frame({"shop": ["U", "U"], "id": [7, 8], "x": [0, 1], "y": [0, 1]})
    with pytest.warns(InputWarning, match="'id' as name"):
        assert Instance.from_frame(frame).names == ("7", "8")
