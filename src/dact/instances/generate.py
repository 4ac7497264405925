"""Uniform random sets as Kool et al. (2019) draw them, from numpy's legacy stream."""

from __future__ import annotations

import math

import numpy as np

from dact.instances.errors import InputError
from dact.instances.facts import facts_of
from dact.instances.instance_set import InstanceSet
from dact.instances.limits import MAX_GENERATED, MAX_NODES

CAPACITIES = {10: 20, 20: 30, 50: 40, 100: 50}
"""Customers -> vehicle capacity in the published sets."""


def capacity_for(customers: int) -> int:
    """Return the capacity for a size: the published one, otherwise interpolated linearly.

    20 below 10 customers; one more for every five above 100 (70 for 200, 230 for 1000). Fractions are rounded up.
    """
    if customers > 100:
        return 50 + math.ceil((customers - 100) / 5)
    return math.ceil(np.interp(customers, list(CAPACITIES), list(CAPACITIES.values())))


def generate_set(problem: str, size: int, count: int, seed: int) -> InstanceSet:
    """Draw `count` instances with `size` customers, and a depot where the problem has one.

    The order of the draws is the published one, in float64 and stored as float32, so that the
    same seed gives the same bytes as the sets in the literature.
    """
    facts = facts_of(problem)
    for name, value, least in (("size", size, 1), ("count", count, 1), ("seed", seed, 0)):
        if value < least:
            raise InputError(f"{name} {value} is below {least}")
    if size > MAX_NODES:
        raise InputError(f"size {size} is above {MAX_NODES}")
    if 2 * size * count > MAX_GENERATED:
        raise InputError(f"size {size} times count {count} is above {MAX_GENERATED // 2}")
    if seed >= 2**32:
        raise InputError(f"seed {seed} is not below 2**32")
    stream = np.random.RandomState(seed)
    points = [stream.uniform(size=(count, 1, 2))] if facts.depot else []
    points.append(stream.uniform(size=(count, size, 2)))
    demand = np.zeros((count, facts.first + size), dtype=np.int64)
    if facts.capacity:
        demand[:, facts.first :] = stream.randint(1, 10, (count, size))
    return InstanceSet(
        name=f"{problem}{size}_seed{seed}",
        problem=problem,
        coordinates=np.concatenate(points, axis=1).astype(np.float32).astype(np.float64),
        demand=demand,
        capacity=np.full(count, capacity_for(size) if facts.capacity else 0),
    )
