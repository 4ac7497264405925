"""Packing customers into a given number of vehicles: from a first guess, by moves and swaps (tabu search)."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from dact.instances import Instance, Routes
from dact.instances.arrays import FloatArray, IntArray
from dact.instances.errors import plural
from dact.problems.construct import FleetError, first_fit_decreasing

PATIENCE = 300
"""Changes without a smaller overload before a restart from another guess."""
FORBIDDEN = 7
"""Changes for which a moved customer may not be moved again."""


def routes_for_fleet(instance: Instance, deadline: float, seed: int = 0) -> Routes:
    """Routes of at most the instance's vehicles, each through its customers in the order of their angle from the depot.

    The deadline is by `time.perf_counter`. FleetError names the fewest vehicles found.
    """
    demand_C, points, vehicles = instance.demand[1:], instance.points(), instance.vehicles
    offset = points[1:] - points[0]
    angle_C = np.arctan2(offset[:, 1], offset[:, 0])
    rng = np.random.default_rng(seed)
    for guess_C in _guesses(demand_C, angle_C, vehicles, rng):
        vehicle_C = _without_overload(demand_C, instance.capacity, guess_C, vehicles, deadline, rng)
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


def _without_overload(
    demand_C: IntArray, capacity: int, vehicle_C: IntArray, vehicles: int, deadline: float, rng: np.random.Generator
) -> IntArray | None:
    """Change the guess until every load fits, always by the best change that is not forbidden; None if it is too long.

    A change moves a customer of an overloaded vehicle to another vehicle, or swaps it with a customer of that.
    """
    vehicle_C, customers = vehicle_C.copy(), len(demand_C)
    load_V = np.bincount(vehicle_C, weights=demand_C, minlength=vehicles).astype(np.int64)
    free_C = np.zeros(customers, dtype=np.int64)
    least, stalled, change = load_V.sum(), 0, 0
    while (over := int(np.maximum(load_V - capacity, 0).sum())) > 0:
        least, stalled, change = (over, 0, change + 1) if over < least else (least, stalled + 1, change + 1)
        if stalled > PATIENCE or time.perf_counter() > deadline:
            return None
        giver = int(rng.choice(np.flatnonzero(load_V > capacity)))
        own_G = np.flatnonzero((vehicle_C == giver) & (free_C <= change))
        if not len(own_G):
            continue
        # Partners are all customers of other vehicles, and for plain moves the vehicles themselves.
        other_P = np.flatnonzero((vehicle_C != giver) & (free_C <= change))
        taker_Q = np.concatenate((vehicle_C[other_P], np.delete(np.arange(vehicles), giver)))
        given_Q = np.concatenate((demand_C[other_P], np.zeros(vehicles - 1, dtype=np.int64)))
        shift_GQ = demand_C[own_G][:, None] - given_Q
        giver_GQ, taker_GQ = load_V[giver] - shift_GQ - capacity, load_V[taker_Q] + shift_GQ - capacity
        after_GQ = np.maximum(giver_GQ, 0) + np.maximum(taker_GQ, 0)
        before_Q = max(0, load_V[giver] - capacity) + np.maximum(load_V[taker_Q] - capacity, 0)
        gain_GQ = (before_Q - after_GQ) + rng.random(after_GQ.shape) / 2
        best, partner = np.unravel_index(int(gain_GQ.argmax()), gain_GQ.shape)
        taker, moved = int(taker_Q[partner]), int(shift_GQ[best, partner])
        vehicle_C[own_G[best]] = taker
        free_C[own_G[best]] = change + FORBIDDEN
        if partner < len(other_P):
            vehicle_C[other_P[partner]] = giver
            free_C[other_P[partner]] = change + FORBIDDEN
        load_V[giver] -= moved
        load_V[taker] += moved
    return vehicle_C
