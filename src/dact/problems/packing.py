"""Packing customers into a given number of vehicles: from a first guess, by moves and swaps."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from dact.instances import Instance, Routes
from dact.instances.arrays import FloatArray, IntArray
from dact.instances.errors import plural
from dact.instances.insertion import without_overload
from dact.problems.construct import FleetError, first_fit_decreasing


def routes_for_fleet(instance: Instance, deadline: float, seed: int = 0) -> Routes:
    """Routes of at most the instance's vehicles, each through its customers in the order of their angle from the depot.

    The deadline is by `time.perf_counter`. FleetError names the fewest vehicles found.
    """
    demand_C, points, vehicles = instance.demand[1:], instance.points(), instance.vehicles
    offset = points[1:] - points[0]
    angle_C = np.arctan2(offset[:, 1], offset[:, 0])
    rng = np.random.default_rng(seed)
    for guess_C in _guesses(demand_C, angle_C, vehicles, rng):
        vehicle_C = without_overload(demand_C, instance.capacity, guess_C, vehicles, deadline, rng)
        if vehicle_C is not None:
            order = np.argsort(angle_C, kind="stable")
            routes = (tuple((order[vehicle_C[order] == vehicle] + 1).tolist()) for vehicle in range(vehicles))
            return tuple(route for route in routes if route)
        if time.perf_counter() > deadline:
            break
    least = int(first_fit_decreasing(demand_C[None], np.array([instance.capacity])).max()) + 1
    fleet = f"{vehicles} {plural(vehicles, 'vehicle')}"
    raise FleetError(f"no routes for {fleet} were found in the time given; the fewest found are {least}")


def _guesses(demand_C: IntArray, angle_C: FloatArray, vehicles: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """First guesses: sectors around the depot of about equal loads, from random angles."""
    mean = max(1.0, demand_C.sum() / vehicles)
    while True:
        order = np.argsort((angle_C + rng.uniform(0, 2 * np.pi)) % (2 * np.pi), kind="stable")
        middle = np.cumsum(demand_C[order]) - demand_C[order] / 2
        guess_C = np.zeros(len(demand_C), dtype=np.int64)
        guess_C[order] = np.minimum(middle // mean, vehicles - 1)
        yield guess_C
