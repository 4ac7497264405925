"""Many instances of one size as stacked arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from dact.instances.arrays import FloatArray, IntArray, bounded, floats, frozen, integers
from dact.instances.distances import RULES
from dact.instances.errors import InputError, plural, shown
from dact.instances.facts import Facts, facts_of, usual_problem
from dact.instances.files import write_atomically
from dact.instances.instance import Instance
from dact.instances.limits import FREE_NUMBERS


@dataclass(frozen=True, kw_only=True, eq=False)
class InstanceSet:
    """M instances of N nodes; a depot is node 0 of each.

    `numbers` are the places of the instances in the file they came from, for their names.
    """

    name: str
    problem: str
    coordinates: FloatArray
    demand: IntArray
    capacity: IntArray
    reference_cost: FloatArray | None = None
    rule: str = "euclidean"
    source: Path | None = None
    numbers: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        """Freeze the arrays and check them against each other."""
        facts = facts_of(self.problem)
        if self.rule not in RULES or self.rule == "explicit":
            raise InputError(f"a set cannot have the distance rule {shown(self.rule)}")
        arrays: dict[str, FloatArray | IntArray] = {
            "coordinates": bounded(self.coordinates, "coordinates", 3),
            "demand": integers(self.demand, "demand", 2),
            "capacity": integers(self.capacity, "capacity", 1),
        }
        if self.reference_cost is not None:
            arrays["reference_cost"] = _checked_costs(self.reference_cost)
        count = len(arrays["coordinates"])
        if count < 1:
            raise InputError("a set needs at least one instance")
        arrays["numbers"] = integers(self.numbers if len(self.numbers) else np.arange(count), "numbers", 1)
        for name, array in arrays.items():
            object.__setattr__(self, name, array)
            if len(array) != count:
                raise InputError(f"{name} holds {len(array)} instances and coordinates {count}")
        _check_shapes(self.coordinates, self.demand)
        _check_demand(facts, self.demand, self.capacity)

    def __repr__(self) -> str:
        """Tell name, problem and sizes, without the arrays."""
        instances = f"{len(self)} {plural(len(self), 'instance')}"
        return f"InstanceSet({shown(self.name)}, {self.problem}, {instances} of size {self.customers})"

    @property
    def customers(self) -> int:
        """Return the number of nodes of an instance without the depot."""
        return facts_of(self.problem).customers(self.coordinates.shape[1])

    def __len__(self) -> int:
        """Return the number of instances."""
        return len(self.coordinates)

    def __iter__(self) -> Iterator[Instance]:
        """Yield the instances in order."""
        return (self[index] for index in range(len(self)))

    def __getitem__(self, index: int) -> Instance:
        """Return one instance; its best known value is its reference cost where there is one."""
        cost = np.nan if self.reference_cost is None else self.reference_cost[index]
        number = int(self.numbers[index])
        alone = len(self) == 1 and number == 0
        return Instance(
            name=self.name if alone else f"{self.name}[{number}]",
            problem=self.problem,
            rule=self.rule,
            coordinates=self.coordinates[index],
            demand=self.demand[index],
            capacity=int(self.capacity[index]),
            best_known=None if np.isnan(cost) else float(cost),
            source=self.source,
        )

    def take(self, rows: slice) -> InstanceSet:
        """Return some of the instances, which keep their names."""
        return replace(
            self,
            coordinates=self.coordinates[rows],
            demand=self.demand[rows],
            capacity=self.capacity[rows],
            reference_cost=None if self.reference_cost is None else self.reference_cost[rows],
            numbers=self.numbers[rows],
        )

    def save_npz(self, path: str | Path) -> None:
        """Write an .npz file with the keys coords, or depot, locs, demand, capacity; and reference_cost.

        A distance rule other than `euclidean`, and a problem that the keys do not tell, are keys of their own.
        """
        arrays = self._stored()

        def write(stream: IO[bytes]) -> None:
            # Large sets are not compressed: readers refuse high compression ratios (`limits.check_unpacked`).
            small = sum(np.size(array) for array in arrays.values()) <= FREE_NUMBERS
            (np.savez_compressed if small else np.savez)(stream, **arrays)

        write_atomically(Path(path), write)

    def _stored(self) -> dict[str, Any]:
        facts = facts_of(self.problem)
        single = self.coordinates.astype(np.float32)
        points = single if np.array_equal(single, self.coordinates) else self.coordinates
        arrays: dict[str, Any] = {"coords": points}
        if facts.depot:
            small = int(self.demand.max()) <= np.iinfo(np.uint8).max
            shared = bool((self.capacity == self.capacity[0]).all())
            arrays = {
                "depot": points[:, 0],
                "locs": points[:, 1:],
                "demand": self.demand[:, 1:].astype(np.uint8 if small else np.int64),
                "capacity": self.capacity[0] if shared else self.capacity,
            }
        if self.reference_cost is not None:
            arrays["reference_cost"] = self.reference_cost
        if self.rule != "euclidean":
            arrays["rule"] = np.array(self.rule)
        if self.problem != usual_problem(capacity=facts.depot):
            arrays["problem"] = np.array(self.problem)
        return arrays


def _checked_costs(values: FloatArray) -> FloatArray:
    costs = floats(values, "reference_cost", 1)
    if np.isinf(costs).any() or (costs < 0).any():
        bad = costs[np.isinf(costs) | (costs < 0)][0]
        raise InputError(f"reference_cost holds {bad}, which is not the cost of a solution")
    return frozen(costs)


def _check_shapes(coordinates: FloatArray, demand: IntArray) -> None:
    if coordinates.shape[1] < 1 or coordinates.shape[2] != 2:
        raise InputError(f"coordinates have shape {coordinates.shape}, not (M, N, 2)")
    if demand.shape != coordinates.shape[:2]:
        raise InputError(f"demand has shape {demand.shape} for coordinates of shape {coordinates.shape}")


def _check_demand(facts: Facts, demand: IntArray, capacity: IntArray) -> None:
    if facts.depot and demand.shape[1] < 2:
        raise InputError(f"a {facts.title} needs a depot and at least one customer")
    if not facts.capacity:
        if demand.any() or capacity.any():
            raise InputError(f"a {facts.title} has neither demand nor capacity")
        return
    if capacity.min() < 1:
        raise InputError(f"capacity {capacity.min()} of instance {np.argmin(capacity)} is not positive")
    if demand[:, 0].any():
        raise InputError(f"the depot of instance {np.argmax(demand[:, 0] != 0)} has a demand")
    for wrong, reason in ((demand < 0, "negative"), (demand > capacity[:, None], "above the capacity")):
        if wrong.any():
            row, customer = np.argwhere(wrong)[0]
            place = f"customer {customer} of instance {row}"
            raise InputError(f"demand {demand[row, customer]} of {place} is {reason}")
