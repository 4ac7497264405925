"""Directions of routes on asymmetric distances."""

from __future__ import annotations

from dact.instances.checker import Routes
from dact.instances.instance import Instance


def better_directions(instance: Instance, routes: Routes) -> Routes:
    """With asymmetric distances, reverse every route that is shorter in the other direction."""
    if instance.symmetric or not instance.facts.returns:
        return routes
    return tuple(min(route, _turned(instance, route), key=lambda way: _length(instance, way)) for route in routes)


def _turned(instance: Instance, route: tuple[int, ...]) -> tuple[int, ...]:
    """The route reversed; a tour without a depot keeps its first node."""
    return route[::-1] if instance.facts.depot else (*route[:1], *route[:0:-1])


def _length(instance: Instance, route: tuple[int, ...]) -> float:
    stops = [0, *route] if instance.facts.depot else list(route)
    return float(instance.distances()[stops, stops[1:] + stops[:1]].sum())
