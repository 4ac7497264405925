"""Messages about loads have the units of the file, not those in which demands are counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from instance_cases import RECTANGLE

from dact.instances import InputError, Instance, check, read, read_solution

STOPS = "name,lat,lon,demand\nDepot,48.1,11.5,0\nA,48.2,11.6,80.5\nB,48.3,11.5,20\n"


@pytest.fixture
def stops(tmp_path: Path) -> Path:
    """A table with decimal demands."""
    path = tmp_path / "stops.csv"
    path.write_text(STOPS)
    return path


@pytest.mark.parametrize(
    ("capacity", "unit", "message"),
    [
        (60, 0.01, "capacity 60 is below the largest demand 80.5 (customer 1, 'A')"),
        (59.9, 0.1, "capacity 59.9 is below the largest demand 80.5 (customer 1, 'A')"),
        (-5, 0.01, "capacity -5 is not positive"),
        (1e308, 0.001, "capacity 1e+308 is not a number up to 1e+12"),
        (0.3, 0.5, "the capacity is less than one demand unit (0.5)"),
        (1e11, 0.001, "demand_unit 0.001 is too small: the capacity has "),
    ],
)
def test_refused_capacities(stops: Path, capacity: float, unit: float, message: str) -> None:
    """A capacity that does not do is told as it was given, next to the demand of the file."""
    with pytest.raises(InputError) as refusal:
        read(stops, capacity=capacity, demand_unit=unit)
    assert message in str(refusal.value)


def test_rounding_is_told_where_it_decides() -> None:
    """80.2 carries 80.1, but not in halves: the message says that both were rounded."""
    with pytest.raises(InputError, match=r"capacity 80 is below the largest demand 80.5 .*both rounded .*unit 0.5"):
        Instance.from_arrays(RECTANGLE, [0, 80.1, 1, 1], 80.2, demand_unit=0.5)


@pytest.mark.parametrize(
    ("demand", "message"),
    [
        ([0.25, 1, 1, 1], "the depot has demand 0.25, but it must be 0"),
        ([0, 1, -0.5, 1], r"demand\[2\] is negative \(-0.5\)"),
    ],
)
def test_refused_demands(demand: list[float], message: str) -> None:
    """No demand is told in units that the caller never wrote."""
    with pytest.raises(InputError, match=message):
        Instance.from_arrays(RECTANGLE, demand, 2, demand_unit=0.01)


def test_overloads(stops: Path) -> None:
    """The checker, and with it the reader of solutions, tells loads as the file does."""
    instance = read(stops, capacity=90, demand_unit=0.01)
    assert check(instance, [(1, 2)]).violations == ("route 1 carries 100.5, above the capacity 90",)
    path = stops.with_suffix(".sol")
    path.write_text("Route #1: 1 2\nCost 40\n")
    with pytest.raises(InputError, match=r"route 1 carries 100.5, above the capacity 90"):
        read_solution(path, instance)


def test_amounts() -> None:
    """Three tenths are 0.3, a large whole load keeps all of its digits, and tiny units do not vanish."""
    tenths = Instance.from_arrays(RECTANGLE, [0, 0.1, 0.2, 0.3], 0.3, demand_unit=0.1)
    assert tenths.amount(3) == "0.3"
    assert "capacity 0.3," in repr(tenths)
    assert check(tenths, [(1, 2, 3)]).violations == ("route 1 carries 0.6, above the capacity 0.3",)
    assert Instance.from_arrays(RECTANGLE, [0, 1, 1, 1], 12_345_678).amount(12_345_678) == "12345678"
    assert Instance.from_arrays(RECTANGLE, [0, 2e-10, 0, 0], 2e-10, demand_unit=1e-10).amount(2) == "2e-10"


def test_a_small_negative_demand_is_refused():
    """Rounding up would make it nothing."""
    points = [[0, 0], [1, 0], [0, 1]]
    with pytest.raises(InputError, match=r"demand\[1\] is negative \(-0.3\)"):
        Instance.from_arrays(points, [0, -0.3, 1], 8, demand_unit=0.5)
