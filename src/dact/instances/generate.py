"""Uniform random sets as Kool et al. (2019) draw them, from numpy's legacy stream."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dact.instances.errors import InputError
from dact.instances.facts import facts_of
from dact.instances.instance_set import InstanceSet
from dact.instances.limits import MAX_GENERATED, MAX_NODES

CAPACITIES = {10: 20, 20: 30, 50: 40, 100: 50}
"""Customers -> vehicle capacity in the published sets."""
AT_ONCE = 2**20
"""Numbers that are drawn between two reports of progress."""


def capacity_for(customers: int) -> int:
    """Return the capacity for a size: the published one, otherwise interpolated linearly.

    20 below 10 customers; one more for every five above 100 (70 for 200, 230 for 1000). Fractions are rounded up.
    """
    if customers > 100:
        return 50 + math.ceil((customers - 100) / 5)
    return math.ceil(np.interp(customers, list(CAPACITIES), list(CAPACITIES.values())))


def generate_set(
    problem: str, size: int, count: int, seed: int, progress: Callable[[float], None] | None = None
) -> InstanceSet:
    """Draw `count` instances with `size` customers, and a depot where the problem has one.

    The order of the draws is the published one, in float64 and stored as float32, so that the
    same seed gives the same bytes as the sets in the literature. `progress` is called with the part that is drawn.
    """
    facts = facts_of(problem)
    _check_sizes(size, count, seed)
    stream, drawn = np.random.RandomState(seed), 0
    total = count * (2 * facts.first + (3 if facts.capacity else 2) * size)

    def parts(draw: Callable[[tuple[int, ...]], NDArray[Any]], *shape: int) -> NDArray[Any]:
        """Numbers for all instances, drawn for some of them at a time."""
        nonlocal drawn
        numbers, rows = [], max(1, AT_ONCE // math.prod(shape))
        for first in range(0, count, rows):
            numbers.append(draw((min(rows, count - first), *shape)))
            drawn += numbers[-1].size
            if progress is not None:
                progress(drawn / total)
        return np.concatenate(numbers)

    points = [parts(lambda shape: stream.uniform(size=shape), nodes, 2) for nodes in (facts.first, size) if nodes]
    demand = np.zeros((count, facts.first + size), dtype=np.int64)
    if facts.capacity:
        demand[:, facts.first :] = parts(lambda shape: stream.randint(1, 10, shape), size)
    return InstanceSet(
        name=f"{problem}{size}_seed{seed}",
        problem=problem,
        coordinates=np.concatenate(points, axis=1).astype(np.float32).astype(np.float64),
        demand=demand,
        capacity=np.full(count, capacity_for(size) if facts.capacity else 0),
    )


def _check_sizes(size: int, count: int, seed: int) -> None:
    for name, value, least in (("size", size, 1), ("count", count, 1), ("seed", seed, 0)):
        if value < least:
            raise InputError(f"{name} {value} is below {least}")
    if size > MAX_NODES:
        raise InputError(f"size {size} is above {MAX_NODES}")
    if 2 * size * count > MAX_GENERATED:
        raise InputError(f"size {size} times count {count} is above {MAX_GENERATED // 2}")
    if seed >= 2**32:
        raise InputError(f"seed {seed} is not below 2**32")
