"""Loads, lengths and directions of routes; loads and lengths are in the units of the file."""

from __future__ import annotations

from collections.abc import Sequence

from dact.instances.checker import Routes
from dact.instances.instance import Instance


def route_load(instance: Instance, nodes: Sequence[int]) -> float:
    """Return the total demand of some nodes."""
    return round(float(instance.demand[list(nodes)].sum()) * instance.demand_unit, 9)


def route_length(instance: Instance, route: Sequence[int]) -> float:
    """Return the length of a route including the legs from and to the depot, or of a closed tour."""
    stops = [0, *route] if instance.facts.depot else list(route)
    onward = stops[1:] + (stops[:1] if instance.facts.returns else [])
    return float(instance.lengths(stops[: len(onward)], onward).sum())


def vehicle_load(instance: Instance) -> float:
    """Return the capacity of a vehicle."""
    return round(instance.capacity * instance.demand_unit, 9)


def better_directions(instance: Instance, routes: Routes) -> Routes:
    """With asymmetric distances, reverse every route that is shorter in the other direction."""
    if instance.symmetric or not instance.facts.returns:
        return routes
    return tuple(min(route, _turned(instance, route), key=lambda way: route_length(instance, way)) for route in routes)


def _turned(instance: Instance, route: tuple[int, ...]) -> tuple[int, ...]:
    """The route reversed; a tour without a depot keeps its first node."""
    return route[::-1] if instance.facts.depot else (*route[:1], *route[:0:-1])
