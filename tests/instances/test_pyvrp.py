"""Instances to PyVRP and back, where it is installed."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from instance_cases import RECTANGLE

from dact.instances import InputError, Instance, from_pyvrp, to_pyvrp


def test_without_pyvrp(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyVRP is missing, one sentence says so."""
    monkeypatch.setitem(sys.modules, "pyvrp", None)
    with pytest.raises(ImportError, match="PyVRP is not installed: pip install pyvrp"):
        to_pyvrp(Instance.from_arrays(RECTANGLE))


@pytest.fixture
def installed() -> None:
    """Skips where there is none."""
    pytest.importorskip("pyvrp")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("vehicles", [0, 2])
def test_there_and_back(vehicles: int) -> None:
    """Distances, demands, capacity, names and the limit on vehicles survive."""
    roads = np.array([[0, 2, 9, 4], [3, 0, 5, 6], [8, 7, 0, 1], [2, 5, 3, 0]])
    names = ("Base", "a", "b", "c")
    one = Instance.from_matrix(roads, [0, 1, 2, 1], 2, coordinates=RECTANGLE, names=names, vehicles=vehicles)
    two = from_pyvrp(to_pyvrp(one))
    assert (two.problem, two.capacity, two.vehicles, two.names) == ("cvrp", 2, vehicles, names)
    for name in ("matrix", "demand", "coordinates"):
        assert np.array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.usefixtures("installed")
def test_tours_and_scales() -> None:
    """A tour is one vehicle without a capacity; distances that are not whole need a scale."""
    tour = from_pyvrp(to_pyvrp(Instance.from_arrays(RECTANGLE)))
    assert (tour.problem, tour.distances()[0].tolist()) == ("tsp", [0, 3, 5, 4])
    odd = Instance.from_arrays(RECTANGLE / 2)
    with pytest.raises(InputError, match="scale=1000"):
        to_pyvrp(odd)
    assert from_pyvrp(to_pyvrp(odd, scale=10)).distances()[0].tolist() == [0, 15, 25, 20]


@pytest.mark.usefixtures("installed")
def test_what_we_cannot_keep_to() -> None:
    """Time windows and the like are refused by their name."""
    import pyvrp

    data = to_pyvrp(Instance.from_arrays(RECTANGLE, [0, 1, 1, 1], 2))
    limited = data.replace(vehicle_types=[pyvrp.VehicleType(2, capacity=[2], max_distance=9)])
    with pytest.raises(InputError, match="limits on a route"):
        from_pyvrp(limited)
    two = data.replace(vehicle_types=[pyvrp.VehicleType(2, capacity=[2]), pyvrp.VehicleType(2, capacity=[3])])
    with pytest.raises(InputError, match="several kinds of vehicles"):
        from_pyvrp(two)
