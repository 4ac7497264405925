"""Earlier solutions as starts, repaired where customers were added, removed or changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from dact.instances.checker import Routes, check
from dact.instances.errors import InputError, naming, plural, shown
from dact.instances.insertion import Draft
from dact.instances.instance import Instance
from dact.instances.solutions import read_stops
from dact.instances.stop_lists import Titles

STARTS = ("greedy", "random")
"""Starts that need no earlier solution."""
TOLD = 5
"""Names listed in a sentence."""

Stop = int | str
"""A node by its index, its number or its name."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """Feasible routes, and the repairs that were made; None if no repair fits the vehicles, which `repairs` tells."""

    routes: Routes | None
    repairs: tuple[str, ...] = ()


def read_start(path: str | Path, instance: Instance) -> Start:
    """Read an earlier solution (.sol, .tour, .json, .csv, .xlsx) and repair it.

    Nodes are matched by name if both the file and the instance have names, otherwise by number.
    """
    path = Path(path)
    with naming(path):
        return repaired(instance, read_stops(path, instance), numbered=True)


def repaired(instance: Instance, stops: Sequence[Sequence[Stop]], *, numbered: bool = False) -> Start:
    """Repair routes of names or instance indices (or, if `numbered`, of numbers as in files) for this instance.

    Unknown nodes are dropped, overloaded routes split, and missing nodes inserted where that is cheapest. Routes beyond
    the limit on vehicles are dissolved, or all packed anew. InputError if the routes cannot be repaired.
    """
    by_number: dict[Stop, int] = {instance.number(node) if numbered else node: node for node in range(instance.size)}
    routes, gone = _known(instance, stops, by_number)
    if check(instance, routes).feasible and not gone:
        return Start(routes=tuple(tuple(route) for route in routes if route))
    draft = Draft(instance, routes)
    repairs = [_sentence(len(gone), "that is gone was dropped", "that are gone were dropped", gone)] if gone else []
    repairs += draft.split_overloads()
    there = {node for route in draft.routes for node in route}
    new = [node for node in range(instance.facts.first, instance.size) if node not in there]
    if new:
        titles = [instance.title(node) for node in new]
        repairs.append(_sentence(len(new), "that is new was inserted", "that are new were inserted", titles))
    draft.insert(new)
    spared = draft.spare_vehicles()
    if spared is None:
        fleet = f"{instance.vehicles} {plural(instance.vehicles, 'vehicle')}"
        return Start(routes=None, repairs=(f"the start does not fit into {fleet}; the search begins without it",))
    repairs += spared
    repaired_routes = tuple(tuple(route) for route in draft.routes if route)
    fault = check(instance, repaired_routes).violations
    if fault:
        raise InputError(f"cannot be repaired for {shown(instance.name)}: {fault[0]}")
    return Start(routes=repaired_routes, repairs=tuple(repairs))


def _known(
    instance: Instance, stops: Sequence[Sequence[Stop]], by_number: dict[Stop, int]
) -> tuple[list[list[int]], list[str]]:
    """Routes of instance indices, and the stops that the instance does not have. A node visited twice is refused."""
    by_name = _by_name(instance, {stop for route in stops for stop in route if isinstance(stop, str)})
    seen: dict[int, int] = {}
    routes: list[list[int]] = []
    gone: list[str] = []
    for number, route in enumerate(stops, start=1):
        known: list[int] = []
        for stop in route:
            node = by_name.get(stop) if isinstance(stop, str) else by_number.get(stop)
            if node is None and not isinstance(stop, str) and stop < 0:
                raise InputError(f"route {number} visits {stop}, which is no number of a node")
            if node is None:
                gone.append(str(stop))
            elif instance.facts.depot and node == 0:
                raise InputError(f"route {number} visits the depot on its way")
            elif node in seen:
                first = seen[node]
                where = _twice(instance, stop, route) if first == number else f"as route {first} does"
                raise InputError(f"route {number} visits {instance.label(node)} {where}")
            else:
                seen[node] = number
                known.append(node)
        routes.append(known)
    if not instance.facts.depot and len(routes) > 1:
        raise InputError(f"has {len(routes)} routes, but a {instance.facts.title} is one tour")
    return routes, gone


def _twice(instance: Instance, stop: Stop, route: Sequence[Stop]) -> str:
    """How a route visits a customer twice, and what to change if it was the depot of another day."""
    ends = instance.facts.depot and route[0] == stop == route[-1] and list(route).count(stop) == 2
    return "twice, first and last: if that was the depot, leave it out there" if ends else "twice"


def _by_name(instance: Instance, names: set[str]) -> dict[Stop, int]:
    """The nodes by their names; InputError if several have one of the names that are looked for."""
    titles = Titles(instance)
    for name in sorted(names):
        titles.refuse_shared(name)
    return {instance.title(node): node for node in range(instance.size)} if names else {}


def _sentence(count: int, one: str, many: str, names: Iterable[str]) -> str:
    listed = list(names)
    others = f" and {len(listed) - TOLD} others" if len(listed) > TOLD else ""
    what = f"1 customer {one}" if count == 1 else f"{count} customers {many}"
    return f"{what}: {', '.join(listed[:TOLD])}{others}"
