"""Solutions as CSV, a row for each stop: route, stop, name, load, leg, distance.

Routes begin and end with the depot, or with the first node where there is none, so that the legs add up to the cost.
The load is the stop's demand in the units of the file, the distance that from the start of the route; nodes without
names are given by number. Where nodes share a name, a last column has the number of each.

Only routes, names, stops and, for shared names, numbers are read; stop and load may tell that a route begins with the
depot.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dact.instances.cells import Sheet
from dact.instances.columns import find_columns
from dact.instances.errors import InputError, naming, plural, shown
from dact.instances.instance import Instance
from dact.instances.numerals import positive, whole

COLUMNS = ("route", "stop", "name", "load", "leg", "distance")
OLD_COLUMNS = COLUMNS[:-1]
"""Columns of files from before there were distances."""
NUMBERED_COLUMNS = (*COLUMNS, "number")
"""Columns of lists in which several nodes have one name."""
ROUTES = ("route", "tour", "tournr", "tournummer", "vehicle", "fahrzeug")
"""Headers of the routes' numbers or names, the likelier, the earlier."""
STOPS = ("stop", "stopp", "halt", "reihenfolge", "sequence")
"""Headers of the stops' numbers within a route. A column `stop` may have the names instead, if no other does."""
METRES = 3
"""Decimals of kilometres."""
DIGITS = 6
"""Least digits of the longest route that are written, where distances have no unit."""
MOST = 9
"""Decimals of any number."""
LONGEST = 60
"""Characters of a header that are looked at."""
_FILL = re.compile(r"[\s_.\-]+")


def stop_rows(instance: Instance, routes: Sequence[Sequence[int]]) -> list[dict[str, Any]]:
    """Return a row for each stop of all routes, by NUMBERED_COLUMNS."""
    rows: list[dict[str, Any]] = []
    for route_number, route in enumerate((route for route in routes if len(route)), start=1):
        stops = [0, *route, 0] if instance.facts.depot else [*route, *route[:1]]
        stops = stops if instance.facts.returns else stops[:-1]
        legs = [0.0, *instance.lengths(stops[:-1], stops[1:]).tolist()]
        for place, (node, leg, distance) in enumerate(zip(stops, legs, np.cumsum(legs).tolist(), strict=True)):
            load = float(instance.demand[node]) * instance.demand_unit
            cells = (route_number, place, instance.title(node), load, leg, distance, instance.number(node))
            rows.append(dict(zip(NUMBERED_COLUMNS, cells, strict=True)))
    return rows


def stop_list(instance: Instance, routes: Sequence[Sequence[int]], cost: float) -> str:
    """Write the rows of all routes, with distances to the metre, or with six digits or two decimals at least."""
    stream = io.StringIO()
    columns = NUMBERED_COLUMNS if Titles(instance).any_shared else COLUMNS
    writer = csv.DictWriter(stream, columns, lineterminator="\n", extrasaction="ignore")
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


class Titles:
    """What an instance calls its nodes, and which of them share a name."""

    def __init__(self, instance: Instance) -> None:
        self.usual = instance.facts.suffix
        self.title = {instance.number(node): instance.title(node) for node in range(instance.size)}
        self.count = Counter(self.title.values())

    @property
    def any_shared(self) -> bool:
        """Do several nodes have one name?"""
        return len(self.count) < len(self.title)

    def shared(self, name: str) -> bool:
        """Do several nodes have this name?"""
        return self.count[name] > 1

    def stop(self, name: str, number: int | None) -> int | str:
        """The name, or the number beside it if several nodes have the name. A number that belongs to another name today
        is put to the name, so that no node is found."""
        if number is None or not self.shared(name):
            return name
        return number if self.title.get(number) == name else f"{name} (number {number})"

    def refuse_shared(self, name: str) -> None:
        """InputError if several nodes have this name."""
        if self.shared(name):
            times = "twice" if self.count[name] == 2 else f"{self.count[name]} times"
            advice = f"give the {self.usual} or .json file, which numbers customers"
            raise InputError(f"the name {shown(name)} is used {times}, so that routes by names are not clear: {advice}")


@dataclass(frozen=True, kw_only=True)
class _Row:
    """What a line says of a stop; empty text where it has no such column."""

    line: int
    route: str
    name: str
    stop: str = ""
    number: str = ""
    load: str = "0"

    @property
    def who(self) -> tuple[str, str]:
        """What tells nodes apart."""
        return self.name, self.number


def parse_stop_list(text: str, instance: Instance) -> list[list[int | str]]:
    """Read each route's stops without the depot or the return to the first: names, or numbers for shared names."""
    titles = Titles(instance)
    rows = _rows(Sheet.parse(text), titles)
    rows = [row if titles.shared(row.name) else replace(row, number="") for row in rows]
    listed = _routes(rows)
    customers = {instance.title(node) for node in range(instance.facts.first, instance.size)}
    if len(listed) > 1 or (listed and _is_depot_row(listed[0][0])):
        customers -= _shared_ends(listed)
    return [[_stop(row, titles) for row in _inner(instance, route, customers)] for route in listed]


def _stop(row: _Row, titles: Titles) -> int | str:
    with naming(f"line {row.line}"):
        return titles.stop(row.name, whole(row.number, "the number") if row.number else None)


def _rows(sheet: Sheet, titles: Titles) -> list[_Row]:
    columns = _columns(sheet, titles)
    rows = []
    for place in range(1, len(sheet.lines)):
        line, cells = sheet.cells(place)
        if len(cells) <= max(columns["route"], columns["name"]):
            with naming(f"line {line}"):
                text = shown(sheet.delimiter.join(cells))
                raise InputError(f"{text} has only {len(cells)} {plural(len(cells), 'cell')}")
        found = {column: cells[at] if at < len(cells) else "" for column, at in columns.items()}
        rows.append(_Row(line=line, **found))
    return rows


def _columns(sheet: Sheet, titles: Titles) -> dict[str, int]:
    """Where the columns of a _Row are."""
    headers = sheet.cells(0)[1] if sheet.lines else []
    words = [_FILL.sub("", header[:LONGEST].casefold()) for header in headers]
    routes = [words.index(word) for word in ROUTES if word in words]
    stops = [words.index(word) for word in STOPS if word in words]
    places = [place for place, header in enumerate(headers) if "name" in find_columns([header]).places]
    names = [place for place in places if place not in stops] or places
    if not routes or not names:
        raise InputError("is not a list of stops: its header has no columns route and name")
    name = _name_column(sheet, names, titles)
    columns = {"route": routes[0], "name": name}
    columns |= {"stop": stops[0]} if stops and stops[0] != name else {}
    return columns | {word: words.index(word) for word in ("number", "load") if word in words}


def _name_column(sheet: Sheet, places: Sequence[int], titles: Titles) -> int:
    """Of columns that may be the names, the one called so, else that with most names of today's nodes."""
    headers = sheet.cells(0)[1]
    found = find_columns([headers[place] for place in places])
    likeliest = places[found.places["name"]]
    if not found.read_as or len(places) == 1:
        return likeliest
    rows = [sheet.cells(place)[1] for place in range(1, len(sheet.lines))]
    return max(
        (likeliest, *places), key=lambda place: sum(place < len(row) and row[place] in titles.count for row in rows)
    )


def _routes(rows: Sequence[_Row]) -> list[list[_Row]]:
    """The rows of each route in the order of their stops: by the numbers of routes, or as their names appear."""
    numbered = any(_is_number(row.route) for row in rows)
    routes: dict[int | str, list[_Row]] = {}
    for row in rows:
        with naming(f"line {row.line}"):
            if not numbered and not row.route:
                raise InputError("names no route")
            routes.setdefault(positive(row.route, "the route") if numbered else row.route, []).append(row)
    listed = [routes[key] for key in sorted(routes)] if numbered else list(routes.values())
    return [_in_order(route) for route in listed] if any(_is_number(row.stop) for row in rows) else listed


def _in_order(route: list[_Row]) -> list[_Row]:
    """The rows of a route by the numbers of their stops."""
    stops: dict[int, _Row] = {}
    for row in route:
        with naming(f"line {row.line}"):
            if not row.stop:
                raise InputError("has no number of a stop, which other lines have")
            stop = whole(row.stop, "the stop")
            if stop in stops:
                raise InputError(f"route {row.route} has stop {stop} twice, first in line {stops[stop].line}")
            stops[stop] = row
    return [stops[stop] for stop in sorted(stops)]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_depot_row(row: _Row) -> bool:
    """Is this the depot's row at the begin of a route, as we write it: stop 0, and no load?"""
    return row.stop == "0" and row.load == "0"


def _shared_ends(routes: list[list[_Row]]) -> set[str]:
    """The name that begins and ends every route: the depot's, even if it is a customer's today, where there are several
    routes or the only one begins with a depot's row."""
    ends = {row.who for route in routes for row in (route[0], route[-1])}
    return {name for name, _ in ends} if len(ends) == 1 and all(len(route) > 1 for route in routes) else set()


def _inner(instance: Instance, route: list[_Row], customers: set[str]) -> list[_Row]:
    closed = len(route) > 1 and route[0].who == route[-1].who
    if instance.facts.depot:
        if closed and route[0].name not in customers:  # whatever the depot is called today
            return route[1:-1]
        begin, end = _is_depot(instance, route[0]), len(route) > 1 and _is_depot(instance, route[-1])
        return route[int(begin) : len(route) - int(end)]
    return route[:-1] if closed else route


def _is_depot(instance: Instance, row: _Row) -> bool:
    return row.name in {instance.title(0), "depot"} and row.number in {"", "0"}
