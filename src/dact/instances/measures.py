"""Load and length of a route, in the units of its file."""

from __future__ import annotations

from collections.abc import Sequence

from dact.instances.instance import Instance


def route_load(instance: Instance, nodes: Sequence[int]) -> float:
    """Return the total demand of some nodes."""
    return round(float(instance.demand[list(nodes)].sum()) * instance.demand_unit, 9)


def route_length(instance: Instance, route: Sequence[int]) -> float:
    """Return the length of a route including the legs from and to the depot, or of a closed tour."""
    stops = [0, *route] if instance.facts.depot else list(route)
    onward = stops[1:] + (stops[:1] if instance.facts.returns else [])
    return float(instance.distances()[stops[: len(onward)], onward].sum())


def vehicle_load(instance: Instance) -> float:
    """Return the capacity of a vehicle."""
    return round(instance.capacity * instance.demand_unit, 9)
