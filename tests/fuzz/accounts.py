"""A second opinion on answers: costs and loads by code that shares nothing with the solver or its checker."""

import math
from collections.abc import Sequence
from fractions import Fraction

from dact.instances import Instance

TOLERANCE = 1e-9


def assert_solves(instance: Instance, routes: Sequence[Sequence[int]], stated: float) -> None:
    """The routes serve everybody once, overload no vehicle, and cost what was stated."""
    depot = instance.problem == "cvrp"
    served = sorted(node for route in routes for node in route)
    assert served == list(range(1 if depot else 0, instance.size))
    assert depot or len(routes) == 1
    assert len([route for route in routes if route]) <= (instance.vehicles or instance.size)
    for route in routes:
        load = sum(Fraction(int(instance.demand[node])) for node in route)
        assert not depot or load <= Fraction(int(instance.capacity)), f"a route carries {load}"
    legs = [leg for route in routes for leg in _legs([0, *route] if depot else list(route))]
    cost = math.fsum(_length(instance, *leg) for leg in legs)
    assert math.isclose(cost, stated, rel_tol=TOLERANCE, abs_tol=1e-300 + 1e-6 * instance.rule.startswith("great")), (
        f"{cost} is not {stated}"
    )


def _legs(stops: list[int]) -> list[tuple[int, int]]:
    return [(here, stops[(place + 1) % len(stops)]) for place, here in enumerate(stops)]


def _length(instance: Instance, here: int, there: int) -> float:
    if here == there:
        return 0.0
    if instance.matrix is not None:
        return float(instance.matrix[here][there])
    a, b = (complex(*map(float, instance.coordinates[node])) for node in (here, there))
    gap = a - b
    wide, high = abs(gap.real), abs(gap.imag)
    if instance.rule == "geo":
        return _on_the_globe(a, b)
    if instance.rule == "att":
        exact = math.sqrt((wide * wide + high * high) / 10)
        return math.floor(exact + 0.5) + (math.floor(exact + 0.5) < exact)
    plain = {"man": wide + high, "max": max(wide, high)}.get(instance.rule[:3], math.sqrt(wide * wide + high * high))
    if instance.rule.startswith("great_circle"):
        plain = 2 * 6371.0088 * math.asin(min(1.0, math.dist(_in_space(a), _in_space(b)) / 2))
    if instance.rule in ("euc_2d", "man_2d", "max_2d", "great_circle_nearest"):
        return math.floor(plain + 0.5)
    return math.ceil(plain) if "ceil" in instance.rule else plain


def _in_space(place: complex) -> tuple[float, float, float]:
    """Latitude and longitude in degrees to a point of the unit sphere."""
    north, east = math.radians(place.real), math.radians(place.imag)
    return math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north)


def _on_the_globe(a: complex, b: complex) -> float:
    def angle(value: float) -> float:
        minutes = math.modf(value)
        return 3.141592 * (minutes[1] + 5 * minutes[0] / 3) / 180

    (north, east), (north_b, east_b) = ((angle(x.real), angle(x.imag)) for x in (a, b))
    first, second = math.cos(east - east_b), math.cos(north - north_b)
    cosine = ((1 + first) * second - (1 - first) * math.cos(north + north_b)) / 2
    return math.floor(6378.388 * math.acos(min(1, max(-1, cosine))) + 1)
