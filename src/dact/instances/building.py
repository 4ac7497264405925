"""Instances from tables and arrays: which problem it is, its distances, and demands in whole units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from dact.instances.arrays import LARGEST, IntArray, bounded
from dact.instances.errors import InputError, NoDemandsError, shown
from dact.instances.facts import facts_of, usual_problem
from dact.instances.instance import Instance
from dact.instances.plane import checked_degrees, plane_from_degrees

NEARLY = 1e-9
"""Relative error up to which a quotient counts as whole: 0.3 / 0.1 is not exactly 3."""


def build(
    name: str,
    *,
    coordinates: ArrayLike | None = None,
    degrees: bool = False,
    matrix: ArrayLike | None = None,
    demand: ArrayLike | None = None,
    capacity: float | None = None,
    demand_unit: float | None = None,
    vehicles: int = 0,
    problem: str | None = None,
    names: Sequence[str] = (),
    source: Path | None = None,
) -> Instance:
    """Make an instance: unless a problem is named, with demands a CVRP whose first node is the depot, otherwise a TSP.

    `degrees`: coordinates are latitudes and longitudes, and distances are great circles in kilometres. With a matrix,
    coordinates are used for pictures only. With a `demand_unit`, demands and the capacity are counted in this unit;
    demands are rounded up and the capacity down, so that no vehicle is overloaded.
    """
    _check_given(demand, capacity, demand_unit)
    points = None if coordinates is None else bounded(coordinates, "coordinates", 2)
    rule = "explicit" if matrix is not None else "great_circle" if degrees else "euclidean"
    if points is not None and degrees and matrix is not None:
        points = plane_from_degrees(checked_degrees(points))
    unit = 1.0 if demand_unit is None else demand_unit
    problem = usual_problem(capacity=demand is not None) if problem is None else problem
    if demand is None and facts_of(problem).capacity:
        raise InputError(f"a {facts_of(problem).title} needs a demand column")
    return Instance(
        name=name,
        problem=problem,
        rule=rule,
        coordinates=points,
        matrix=None if matrix is None else bounded(matrix, "matrix", 2),
        demand=np.zeros(0, dtype=np.int64) if demand is None else _units(demand, demand_unit),
        capacity=0 if capacity is None else in_units(capacity, demand_unit),
        names=tuple(names) if any(names) else (),
        vehicles=vehicles,
        demand_unit=unit,
        source=source,
    )


def in_units(capacity: float, unit: float | None) -> int:
    """Return how many whole units fit a capacity; without a unit it must be whole itself."""
    if unit is not None and not isinstance(capacity, bool):
        return math.floor(capacity / unit * (1 + NEARLY))
    # The instance refuses numbers that are not whole.
    return int(capacity) if isinstance(capacity, float) and capacity.is_integer() else capacity  # type: ignore[return-value]


def _units(demand: ArrayLike, unit: float | None) -> IntArray:
    loads = bounded(demand, "demand", 1)
    if unit is None:
        return loads  # type: ignore[return-value]
    if loads.min(initial=0) < 0:
        place = int(loads.argmin())
        raise InputError(f"demand[{place}] is negative ({loads[place]:g})")
    counted = np.ceil(loads / unit * (1 - NEARLY))
    if counted.max(initial=0) > LARGEST:
        raise InputError(f"demand_unit {unit:g} is too small: the demand {loads.max():g} has {counted.max():g} of them")
    return counted.astype(np.int64)


def _check_given(demand: ArrayLike | None, capacity: float | None, unit: float | None) -> None:
    if demand is None and capacity is not None:
        raise NoDemandsError("a capacity is given, but there is no demand column")
    if demand is None and unit is not None:
        raise NoDemandsError("a demand_unit is given, but there is no demand column")
    if demand is not None and capacity is None:
        raise InputError("demands are given, but no capacity: pass one, such as capacity=50")
    if capacity is not None and not (isinstance(capacity, int | float | np.number) and math.isfinite(capacity)):
        raise InputError(f"capacity {shown(capacity)} is not a number")
    if unit is not None and not (isinstance(unit, int | float) and 0 < unit <= LARGEST):
        raise InputError(f"demand_unit {shown(unit)} is not a positive number")
    if unit is not None and capacity is not None and not 0 < capacity <= LARGEST:
        # Here, since counting in units would round it.
        fault = "not positive" if capacity <= 0 else f"not a number up to {LARGEST:g}"
        raise InputError(f"capacity {capacity:g} is {fault}")
