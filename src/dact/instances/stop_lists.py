"""Solutions as CSV, a row for each stop: route, stop, name, load, leg, distance.

Routes begin and end with the depot, or with the first node where there is none, so that the legs add up to the cost.
The load is the stop's demand in the units of the file, the distance that from the start of the route; nodes without
names are given by number. Only the columns route and name are read; stop and load may tell that a route begins with the
depot.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from dact.instances.cells import Sheet
from dact.instances.errors import InputError, naming, plural, shown
from dact.instances.instance import Instance
from dact.instances.numerals import positive

COLUMNS = ("route", "stop", "name", "load", "leg", "distance")
OLD_COLUMNS = COLUMNS[:-1]
"""Columns of files from before there were distances."""
METRES = 3
"""Decimals of kilometres."""
DIGITS = 6
"""Least digits of the longest route that are written, where distances have no unit."""
MOST = 9
"""Decimals of any number."""


def stop_rows(instance: Instance, routes: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """Return a row for each stop of all routes, by COLUMNS."""
    rows: list[dict[str, Any]] = []
    for number, route in enumerate((route for route in routes if len(route)), start=1):
        stops = [0, *route, 0] if instance.facts.depot else [*route, *route[:1]]
        stops = stops if instance.facts.returns else stops[:-1]
        legs = [0.0, *instance.lengths(stops[:-1], stops[1:]).tolist()]
        for place, (node, leg, distance) in enumerate(zip(stops, legs, np.cumsum(legs).tolist(), strict=True)):
            load = float(instance.demand[node]) * instance.demand_unit
            rows.append(dict(zip(COLUMNS, (number, place, instance.title(node), load, leg, distance), strict=True)))
    return rows


def stop_list(instance: Instance, routes: Sequence[Sequence[int]], cost: float) -> str:
    """Write the rows of all routes, with distances to the metre, or with six digits or two decimals at least."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
    writer.writeheader()
    rows = stop_rows(instance, routes)
    longest = max((row["distance"] for row in rows), default=0.0)
    places = METRES if instance.kilometres else _decimals(longest)
    for row in rows:
        decimals = {"load": MOST, "leg": places, "distance": places}
        writer.writerow(row | {column: _plain(row[column], most) for column, most in decimals.items()})
    return stream.getvalue()


def _decimals(longest: float) -> int:
    return int(np.clip(DIGITS - 1 - np.floor(np.log10(longest)), 2, MOST)) if longest > 0 else 2


def _plain(number: float, decimals: int) -> str:
    """Write a number without an exponent and without zeros at its end."""
    return f"{number:.{decimals}f}".rstrip("0").rstrip(".")


def parse_stop_list(text: str, instance: Instance) -> list[list[str]]:
    """Read the names of each route's stops, without the depot or the return to the first."""
    sheet = Sheet.parse(text)
    head = [cell.lower() for cell in sheet.cells(0)[1]] if sheet.lines else []
    if "route" not in head or "name" not in head:
        raise InputError("is not a list of stops: its header has no columns route and name")
    route_column, name_column = head.index("route"), head.index("name")
    routes: dict[int, list[str]] = {}
    for place in range(1, len(sheet.lines)):
        number, cells = sheet.cells(place)
        with naming(f"line {number}"):
            if len(cells) <= max(route_column, name_column):
                raise InputError(
                    f"{shown(sheet.delimiter.join(cells))} has only {len(cells)} {plural(len(cells), 'cell')}"
                )
            route = routes.setdefault(positive(cells[route_column], "the route"), [])
            route.append(cells[name_column])
    listed = [route for _, route in sorted(routes.items())]
    customers = {instance.title(node) for node in range(instance.facts.first, instance.size)}
    if len(routes) > 1 or (listed and _is_depot_row(head, sheet.cells(1)[1])):
        customers -= _shared_ends(listed)
    return [_inner(instance, route, customers) for route in listed]


def _is_depot_row(head: list[str], cells: list[str]) -> bool:
    """Is this the depot's row at the begin of a route, as we write it: stop 0, and no load?"""
    row = dict(zip(head, cells, strict=False))
    return row.get("stop") == "0" and row.get("load", "0") == "0"


def _shared_ends(routes: list[list[str]]) -> set[str]:
    """The name that begins and ends every route: the depot's, even if it is a customer's today, where there are several
    routes or the only one begins with a depot's row."""
    ends = {name for route in routes for name in (route[0], route[-1])}
    return ends if len(ends) == 1 and all(len(route) > 1 for route in routes) else set()


def _inner(instance: Instance, route: list[str], customers: set[str]) -> list[str]:
    closed = len(route) > 1 and route[0] == route[-1]
    if instance.facts.depot:
        if closed and route[0] not in customers:  # whatever the depot is called today
            return route[1:-1]
        depot = {instance.title(0), "depot"}
        begin, end = int(route[0] in depot), len(route) - int(len(route) > 1 and route[-1] in depot)
        return route[begin:end]
    return route[:-1] if closed else route
