"""The independent checker: edge by edge in plain Python, sharing no code with the search.

The rules of `distances.py` are written here a second time on purpose, so that a mistake in one of them shows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import index

from dact.instances.errors import plural
from dact.instances.instance import Instance

Routes = tuple[tuple[int, ...], ...]
"""Routes of instance indices: the customers of each, or the one tour where there is no depot."""

Length = Callable[[float, float, float, float], float]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Result of the checker; the cost is NaN if a route has a node that does not exist."""

    feasible: bool
    cost: float
    violations: tuple[str, ...]


def check(instance: Instance, routes: Sequence[Sequence[int]]) -> Verdict:
    """Recompute the cost of the routes and list all violations."""
    plain = _plain(instance, routes)
    violations = [*_wrong_visits(instance, plain), *_overloads(instance, plain), *_too_many(instance, plain)]
    known = all(0 <= node < instance.size for route in plain for node in route)
    cost = math.fsum(_lengths(instance, plain)) if known else math.nan
    return Verdict(feasible=not violations, cost=cost, violations=tuple(violations))


def _plain(instance: object, routes: object) -> list[list[int]]:
    """The routes as lists of whole numbers; anything else is refused."""
    if not isinstance(instance, Instance):
        raise TypeError(f"instance is {instance!r:.60}, not an Instance")
    if not isinstance(routes, Iterable):
        raise TypeError(f"routes is {routes!r:.60}, not a list of routes")
    plain = []
    for place, route in enumerate(routes):
        try:
            plain.append([index(node) for node in route])
        except TypeError:
            raise TypeError(f"routes[{place}] is {route!r:.60}, not a route: a list of indices") from None
    return plain


def simplest_routes(instance: Instance) -> Routes:
    """Trivial routes: one vehicle per customer, or all nodes in their order."""
    customers = range(instance.facts.first, instance.size)
    return tuple((customer,) for customer in customers) if instance.facts.depot else (tuple(customers),)


def _wrong_visits(instance: Instance, routes: list[list[int]]) -> Iterator[str]:
    first = instance.facts.first
    if not instance.facts.depot and len(routes) != 1:
        yield f"a {instance.facts.title} solution is one tour, not {len(routes)}"
    visits = Counter(node for route in routes for node in route)
    for node in sorted(visits):
        if not 0 <= node < instance.size:
            yield f"node index {node} does not exist"
        elif node < first:
            yield "the depot is named inside a route"
        elif visits[node] > 1:
            times = "twice" if visits[node] == 2 else f"{visits[node]} times"
            yield f"{instance.label(node)} is visited {times}"
    for node in range(first, instance.size):
        if node not in visits:
            yield f"{instance.label(node)} is not visited"


def _overloads(instance: Instance, routes: list[list[int]]) -> Iterator[str]:
    if not instance.facts.capacity:
        return
    for number, route in enumerate(routes, start=1):
        load = sum(int(instance.demand[node]) for node in route if 0 <= node < instance.size)
        if load > instance.capacity:
            room = instance.amount(instance.capacity)
            yield f"route {number} carries {instance.amount(load)}, above the capacity {room}"


def _too_many(instance: Instance, routes: list[list[int]]) -> Iterator[str]:
    driven = sum(1 for route in routes if route)
    if instance.vehicles and driven > instance.vehicles:
        yield f"{driven} routes are more than the {instance.vehicles} {plural(instance.vehicles, 'vehicle')}"


def _lengths(instance: Instance, routes: list[list[int]]) -> Iterator[float]:
    for route in routes:
        stops = [0, *route] if instance.facts.depot else route
        onward = stops[1:] + stops[:1] if instance.facts.returns else stops[1:]
        for here, there in zip(stops, onward, strict=False):
            yield 0.0 if here == there else _edge(instance, here, there)


def _edge(instance: Instance, here: int, there: int) -> float:
    if instance.rule == "explicit":
        assert instance.matrix is not None
        return float(instance.matrix[here, there])
    assert instance.coordinates is not None
    (x1, y1), (x2, y2) = instance.coordinates[here], instance.coordinates[there]
    return LENGTHS[instance.rule](float(x1), float(y1), float(x2), float(y2))


def _nint(length: float) -> float:
    return float(math.floor(length + 0.5))


def _euclidean(x1: float, y1: float, x2: float, y2: float) -> float:
    return math.sqrt((x1 - x2) * (x1 - x2) + (y1 - y2) * (y1 - y2))


def _manhattan(x1: float, y1: float, x2: float, y2: float) -> float:
    return abs(x1 - x2) + abs(y1 - y2)


def _maximum(x1: float, y1: float, x2: float, y2: float) -> float:
    return max(abs(x1 - x2), abs(y1 - y2))


def _att(x1: float, y1: float, x2: float, y2: float) -> float:
    exact = math.sqrt(((x1 - x2) * (x1 - x2) + (y1 - y2) * (y1 - y2)) / 10.0)
    whole = _nint(exact)
    return whole + 1.0 if whole < exact else whole


def _radians(degrees: float) -> float:
    whole = int(degrees)
    return 3.141592 * (whole + 5.0 * (degrees - whole) / 3.0) / 180.0


def _geo(x1: float, y1: float, x2: float, y2: float) -> float:
    latitude1, longitude1 = _radians(x1), _radians(y1)
    latitude2, longitude2 = _radians(x2), _radians(y2)
    q1 = math.cos(longitude1 - longitude2)
    q2 = math.cos(latitude1 - latitude2)
    q3 = math.cos(latitude1 + latitude2)
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    return float(int(6378.388 * math.acos(max(-1.0, min(1.0, cosine))) + 1.0))


def _great_circle(x1: float, y1: float, x2: float, y2: float) -> float:
    latitude1, latitude2 = math.radians(x1), math.radians(x2)
    north, east = math.sin((latitude1 - latitude2) / 2), math.sin(math.radians(y1 - y2) / 2)
    chord = north * north + math.cos(latitude1) * math.cos(latitude2) * east * east
    return 2 * 6371.0088 * math.asin(math.sqrt(min(1.0, chord)))


def _rounded(length: Length, rounding: Callable[[float], float]) -> Length:
    return lambda x1, y1, x2, y2: float(rounding(length(x1, y1, x2, y2)))


LENGTHS: dict[str, Length] = {
    "euclidean": _euclidean,
    "euc_2d": _rounded(_euclidean, _nint),
    "ceil_2d": _rounded(_euclidean, math.ceil),
    "man_2d_none": _manhattan,
    "man_2d": _rounded(_manhattan, _nint),
    "man_2d_ceil": _rounded(_manhattan, math.ceil),
    "max_2d_none": _maximum,
    "max_2d": _rounded(_maximum, _nint),
    "max_2d_ceil": _rounded(_maximum, math.ceil),
    "att": _att,
    "geo": _geo,
    "great_circle": _great_circle,
    "great_circle_nearest": _rounded(_great_circle, _nint),
    "great_circle_ceil": _rounded(_great_circle, math.ceil),
}
