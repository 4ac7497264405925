"""One routing instance in original units, checked when it is made and never changed after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dact.instances.arrays import (
    FloatArray,
    IntArray,
    bounded,
    check_loads,
    frozen,
    in_units_of_file,
    integers,
    square,
    unit_hint,
)
from dact.instances.distances import RULES, lengths, pairwise, rounded_rule
from dact.instances.errors import InputError, plural, shown
from dact.instances.facts import Facts, facts_of
from dact.instances.plane import checked_degrees, plane_from_degrees, plane_from_matrix, whole_degrees
from dact.instances.published import best_known


@dataclass(frozen=True, kw_only=True, eq=False)
class Instance:
    """An instance of a problem in FACTS; a depot is index 0, and its customers are 1..n.

    `node_ids` left empty become 1..N; `demand` left empty becomes zeros where there is no capacity. Distances of a
    matrix are from the row's node to the column's, and need not be the same in both directions.
    """

    name: str
    problem: str
    rule: str
    coordinates: FloatArray | None = None
    matrix: FloatArray | None = None
    node_ids: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    demand: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    capacity: int = 0
    best_known: float | None = None
    source: Path | None = None
    names: tuple[str, ...] = ()
    """Of all nodes, the depot's first; empty if they have none."""
    vehicles: int = 0
    """The most routes that a solution may have; 0: any number."""
    demand_unit: float = 1.0
    """What a demand of 1 stands for: files may have counted in kilograms, or halves of pallets."""

    def __post_init__(self) -> None:
        """Freeze the arrays and refuse an instance that has no meaning."""
        if self.rule not in RULES:
            raise InputError(f"distance rule {shown(self.rule)} is not one of {', '.join(RULES)}")
        if self.coordinates is not None:
            self._set(coordinates=_checked_coordinates(self.coordinates, degrees=RULES[self.rule][0] == "great_circle"))
        if self.matrix is not None:
            self._set(matrix=square(self.matrix))
        self._check_rule()
        if len(self.node_ids) == 0:
            self._set(node_ids=np.arange(1, self.size + 1))
        if len(self.demand) == 0 and not self.facts.capacity:
            self._set(demand=np.zeros(self.size))
        self._set(node_ids=integers(self.node_ids, "node_ids", 1))
        self._set(demand=integers(self.demand, "demand", 1, unit_hint(self.demand_unit)))
        self._check_lengths()
        if self.names:
            self._set(names=tuple(" ".join(str(name).split()) for name in self.names))
        if self.facts.depot and self.size < 2:
            raise InputError(f"a {self.facts.title} needs a depot and at least one customer")
        if self.facts.capacity:
            check_loads(self.demand, self.capacity, self.names, self.demand_unit)
        elif self.capacity or self.demand.any():
            raise InputError(f"a {self.facts.title} has neither demand nor capacity")
        self._check_vehicles()

    @classmethod
    def from_arrays(
        cls,
        coordinates: ArrayLike,
        demand: ArrayLike | None = None,
        capacity: float | None = None,
        *,
        latlon: bool = False,
        name: str = "instance",
        **more: Any,  # noqa: ANN401
    ) -> Instance:
        """Make a TSP of (N, 2) coordinates, or with demands and a capacity a CVRP whose first node is the depot.

        `latlon`: latitudes and longitudes in degrees, distances in kilometres. More: names, vehicles, demand_unit,
        and the name of another problem.
        """
        from dact.instances.building import build

        return build(name, coordinates=coordinates, degrees=latlon, demand=demand, capacity=capacity, **more)

    @classmethod
    def from_matrix(
        cls,
        matrix: ArrayLike,
        demand: ArrayLike | None = None,
        capacity: float | None = None,
        *,
        name: str = "instance",
        **more: Any,  # noqa: ANN401
    ) -> Instance:
        """Make a TSP or a CVRP of distances from rows to columns, an array or a DataFrame.

        More: coordinates for pictures, names, vehicles, demand_unit, problem.
        """
        from dact.instances.frames import from_matrix

        return from_matrix(matrix, name=name, demand=demand, capacity=capacity, **more)

    @classmethod
    def from_frame(
        cls,
        frame: Any,  # noqa: ANN401
        capacity: float | None = None,
        *,
        matrix: ArrayLike | None = None,
        name: str = "instance",
        **more: Any,  # noqa: ANN401
    ) -> Instance:
        """Make an instance of a DataFrame with the columns of CSV files: name, x and y or lat and lon, demand.

        More: vehicles, demand_unit, problem.
        """
        from dact.instances.frames import from_frame

        return from_frame(frame, name=name, capacity=capacity, matrix=matrix, **more)

    def __repr__(self) -> str:
        """Tell name, problem and size, without the arrays."""
        capacity = f"capacity {self.amount(self.capacity)}, " if self.facts.capacity else ""
        return f"Instance({self.sizes}, {capacity}{self.rule})"

    @property
    def sizes(self) -> str:
        """Return name, problem and size in words."""
        what = plural(self.customers, "customer" if self.facts.depot else "node")
        return f"{shown(self.name)}, {self.problem}, {self.customers} {what}"

    @property
    def size(self) -> int:
        """Return the number of nodes, the depot included."""
        given = self.matrix if self.coordinates is None else self.coordinates
        return 0 if given is None else len(given)

    @property
    def facts(self) -> Facts:
        """Return what kind of problem it is."""
        return facts_of(self.problem)

    @property
    def customers(self) -> int:
        """Return the number of nodes without the depot."""
        return self.facts.customers(self.size)

    def distances(self) -> FloatArray:
        """Return the (N, N) distances by the instance's own rule, computed once and read-only."""
        return self._distances

    def lengths(self, start: ArrayLike, end: ArrayLike) -> FloatArray:
        """Return distances from nodes to nodes, whose indices are broadcast, without those of all other pairs."""
        first, last = np.asarray(start, dtype=np.int64), np.asarray(end, dtype=np.int64)
        if self.matrix is not None and self.rule == "explicit":
            return np.asarray(self.matrix[first, last])
        assert self.coordinates is not None
        return np.where(first == last, 0.0, lengths(self.rule, self.coordinates[first], self.coordinates[last]))

    def points(self) -> FloatArray:
        """Return (N, 2) points: the coordinates, a map of degrees, or a plane that reflects the matrix."""
        return self._points

    @property
    def kilometres(self) -> bool:
        """Are distances kilometres on the globe?"""
        return RULES[self.rule][0] in ("geo", "great_circle")

    @cached_property
    def symmetric(self) -> bool:
        """Are all distances the same in both directions?"""
        return self.matrix is None or bool(np.array_equal(self.matrix, self.matrix.T))

    def gap(self, cost: float) -> float | None:
        """Return the percent by which a cost exceeds the best known value; None without one."""
        return 100 * (cost - self.best_known) / self.best_known if self.best_known else None

    def with_rounding(self, rounding: str) -> Instance:
        """Return the instance with lengths rounded to "nearest", "ceil" or "none".

        A best known value belongs to its rule, so another rule has only a published one of its own.
        """
        rule = rounded_rule(self.rule, rounding)
        if rule == self.rule:
            return self
        return replace(self, rule=rule, best_known=best_known(self.name, self.size, rule))

    def with_vehicles(self, vehicles: int) -> Instance:
        """Return the instance with a limit on the number of routes."""
        return replace(self, vehicles=vehicles)

    def amount(self, count: int) -> str:
        """Show a load or a capacity in the units of the file."""
        return in_units_of_file(count, self.demand_unit)

    def label(self, index: int) -> str:
        """Name a node as its files do: "node 7" by its id, "customer 7 ('Rome')" by its number, "the depot"."""
        if self.facts.depot and index == 0:
            return "the depot"
        name = f" ({shown(self.names[index])})" if self.names and self.names[index] else ""
        return f"{'node' if self.facts.by_id else 'customer'} {self.number(index)}{name}"

    def title(self, index: int) -> str:
        """Return what lists and pictures call a node: its name, else its number."""
        if self.names and self.names[index]:
            return self.names[index]
        return "depot" if self.facts.depot and index == 0 else str(self.number(index))

    def titles(self, routes: Sequence[Sequence[int]]) -> list[list[str]]:
        """Return routes with every node by its title."""
        return [[self.title(index) for index in route] for route in routes]

    def number(self, index: int) -> int:
        """Return what solutions call a node: its id, or the customer's number."""
        return int(self.node_ids[index]) if self.facts.by_id else int(index)

    @cached_property
    def _distances(self) -> FloatArray:
        if self.matrix is not None and self.rule == "explicit":
            return self.matrix
        assert self.coordinates is not None
        return frozen(pairwise(self.rule, self.coordinates))

    @cached_property
    def _points(self) -> FloatArray:
        if self.coordinates is None:
            return frozen(plane_from_matrix(self._distances))
        if self.kilometres:
            degrees = whole_degrees(self.coordinates) if RULES[self.rule][0] == "geo" else self.coordinates
            return frozen(plane_from_degrees(degrees))
        return self.coordinates

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check_vehicles(self) -> None:
        if isinstance(self.vehicles, bool) or not isinstance(self.vehicles, int | np.integer) or self.vehicles < 0:
            raise InputError(f"vehicles {shown(self.vehicles)} is not a positive whole number")
        if self.vehicles and not self.facts.depot:
            raise InputError(f"a {self.facts.title} is one tour, so that vehicles cannot be limited")
        if self.vehicles and self.facts.capacity and self.vehicles < (needed := least_vehicles(self)):
            raise InputError(f"vehicles {self.vehicles} is below {needed}, which the loads need at least")

    def _check_rule(self) -> None:
        if (self.rule == "explicit") != (self.matrix is not None):
            raise InputError("a distance matrix and the rule explicit go together")
        if self.matrix is None and self.coordinates is None:
            raise InputError(f"the distance rule {self.rule} needs coordinates")
        if self.matrix is not None and len(self.matrix) != self.size:
            raise InputError(f"{self.size} coordinates do not fit a matrix of {len(self.matrix)} nodes")

    def _check_lengths(self) -> None:
        for name in ("node_ids", "demand", "names"):
            entries = len(getattr(self, name))
            if entries != self.size and (name != "names" or self.names):
                nodes = f"{self.size} {plural(self.size, 'node')}"
                raise InputError(f"{name} has {entries} {plural(entries, 'entry')} for {nodes}")
        if self.node_ids.min() < 0:
            raise InputError(f"node id {self.node_ids.min()} is negative")
        ids, counts = np.unique(self.node_ids, return_counts=True)
        if len(ids) < self.size:
            raise InputError(f"node id {ids[counts > 1][0]} is used twice")


def least_vehicles(instance: Instance) -> int:
    """Return a lower bound: all loads together, and loads of which no two share a vehicle."""
    total = -(-int(instance.demand.sum()) // instance.capacity)
    return max(1, total, int((2 * instance.demand > instance.capacity).sum()))


def _checked_coordinates(values: FloatArray, *, degrees: bool) -> FloatArray:
    coordinates = bounded(values, "coordinates", 2)
    if coordinates.shape[0] < 1 or coordinates.shape[1] != 2:
        raise InputError(f"coordinates have shape {coordinates.shape}, not (N, 2) with N of at least 1")
    return checked_degrees(coordinates) if degrees else coordinates
