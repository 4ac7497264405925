"""CSV files: a row for each node, with the columns name, x, y (or lat, lon) and demand.

A first row without any number is a header; its columns may come in any order, under other names too (`columns.py`),
and others are ignored with a warning. Without a header the columns are x, y and maybe demand, with maybe a name before
them. Semicolons, tabs or bars may stand for the commas. Demands make a CVRP, whose first row is the depot. Lines
above the header that begin with `#` are comments, and below it those that are neither as wide as it nor have numbers
behind their first cell, as names may begin so. Comments may state the capacity and other things (`stated.py`); the
caller's own values win. Distances are unrounded: straight lines, or great circles in kilometres, or those of a matrix
file. A file may be a matrix itself.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from dact.instances.building import build
from dact.instances.cells import Sheet
from dact.instances.columns import Columns, find_columns, is_customers
from dact.instances.errors import InputError, caution, naming, plural, shown
from dact.instances.facts import facts_of
from dact.instances.instance import Instance
from dact.instances.limits import MAX_NODES, check_nodes
from dact.instances.matrix_files import Distances, is_matrix, parse_matrix
from dact.instances.numerals import positive, real
from dact.instances.odd_places import warn_of_degrees, warn_of_odd_places
from dact.instances.stated import Stated

PLAIN = ("x", "y", "demand")
"""Columns of a file without a header."""
_TOTAL = re.compile(r"\b(sum|summe|gesamt\w*|totals?|totale|totaal|suma|somme|razem)\b|\w+summe\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """Options of the caller for reading a table."""

    capacity: float | None = None
    demand_unit: float | None = None
    distances: Distances | None = None


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a line says of a node."""

    line: int
    name: str
    demand: float
    point: tuple[float, ...]


def parse_table(text: str, path: Path, wishes: Wishes | None = None, max_nodes: int = MAX_NODES) -> Instance:
    """Read the text of a CSV file."""
    wishes = wishes or Wishes()
    sheet = _untitled(Sheet.parse(text), path)
    if wishes.distances is None and is_matrix(sheet):
        return instance_of(parse_matrix(sheet, max_nodes), path, wishes)
    check_nodes(len(sheet.lines) - 1, max_nodes)
    columns, first = _columns(sheet, path, matrix=wishes.distances is not None)
    sheet = sheet.reading([place for column, place in columns.places.items() if column != "name"], first)
    rows = [_row(sheet, place, columns, wishes, depot=place == first) for place in range(first, len(sheet.lines))]
    if not rows:
        raise InputError("holds no row of numbers")
    check_nodes(len(rows), max_nodes)
    stated, loaded, distances = Stated.parse(sheet, path), "demand" in columns.places, wishes.distances
    capacity = stated.parsed("capacity", positive if wishes.demand_unit is None else real)
    capacity = capacity if wishes.capacity is None else wishes.capacity
    _check_names(rows, path)
    if columns.pair == ("lat", "lon"):
        warn_of_odd_places(path, [row.line for row in rows], [row.point for row in rows])
    elif columns.pair and distances is None:
        warn_of_degrees(path, [row.point for row in rows])
    if loaded:
        _check_depot(rows)
        if capacity is None:
            missing = "has a demand column but no capacity"
            raise InputError(f"{missing}: add the line '# capacity: 50', or give one (--capacity)")
    names = tuple(row.name for row in rows) if any(row.name for row in rows) else ()
    return build(
        path.stem,
        coordinates=[row.point for row in rows] if columns.pair else None,
        degrees=columns.pair == ("lat", "lon"),
        matrix=None if distances is None else distances.in_order_of(names, len(rows), path),
        demand=[row.demand for row in rows] if loaded else None,
        capacity=capacity,
        demand_unit=wishes.demand_unit,
        vehicles=stated.parsed("vehicles", positive) or 0,
        problem=stated.parsed("problem", lambda text, _: facts_of(text.lower()).name),
        names=names if names or distances is None else distances.names,
        source=path,
    )


def is_table(text: str) -> bool:
    """Does a text begin with the header of a table of customers?"""
    sheet = Sheet.parse(text)
    return bool(sheet.lines) and is_customers(sheet.cells(0)[1])


def instance_of(distances: Distances, path: Path, wishes: Wishes) -> Instance:
    """Make an instance of a matrix alone."""
    return build(
        path.stem,
        matrix=distances.matrix,
        capacity=wishes.capacity,
        demand_unit=wishes.demand_unit,
        names=distances.names,
        source=path,
    )


def _untitled(sheet: Sheet, path: Path) -> Sheet:
    """The sheet without a title above its header: rows of one text, and otherwise empty cells."""
    lines, place = sheet.lines, 0
    while place < len(lines) - 1:
        cells = [cell for cell in sheet.cells(place)[1] if cell]
        if len(cells) > 1 or sheet.width < 2 or sheet.is_number(cells[0]):
            break
        caution(path, f"line {lines[place][0]}: {shown(cells[0])} is taken for a title")
        place += 1
    return replace(sheet, lines=lines[place:]) if place else sheet


def _columns(sheet: Sheet, path: Path, *, matrix: bool) -> tuple[Columns, int]:
    """Where each column is, and the place of the first row after the header."""
    if not sheet.lines:
        raise InputError("holds no row of numbers")
    number, cells = sheet.cells(0)
    with naming(f"line {number}"):
        if sheet.is_header(cells):
            columns = find_columns(cells, lambda column: _are_distinct(sheet, column))
            if columns.pair is None and not (matrix and columns.places):
                lacks = "neither name nor demand" if matrix else "neither x,y nor lat,lon, and no matrix is given"
                raise InputError(f"the header {shown(sheet.delimiter.join(cells))} has {lacks}")
            columns.tell(path)
            return columns, 1
        named = not sheet.is_number(cells[0])
        width = len(cells) - named
        if width not in (2, 3):
            raise InputError(
                f"{shown(sheet.delimiter.join(cells))} has {width} {plural(width, 'cell')}, not {min(max(width, 2), 3)}"
            )
    places = {name: place + named for place, name in enumerate(PLAIN[:width])}
    return Columns(places={**places, "name": 0} if named else places, read_as={}, unused=[]), 0


def _are_distinct(sheet: Sheet, column: int) -> bool:
    """Are all values of a column there, and different?"""
    values: set[str] = set()
    for place in range(1, len(sheet.lines)):
        with suppress(InputError):  # told when the row is read
            cells = sheet.cells(place)[1]
            if not any(cells[column : column + 1]) or cells[column] in values:
                return False
            values.add(cells[column])
    return True


def _row(sheet: Sheet, place: int, columns: Columns, wishes: Wishes, *, depot: bool) -> Row:
    number, cells = sheet.cells(place)
    places = columns.places
    with naming(f"line {number}"):
        width = max(places.values()) + 1
        if len(cells) < width or (len(cells) > width and len(cells) != sheet.width):
            raise InputError(
                f"{shown(sheet.delimiter.join(cells))} has {len(cells)} {plural(len(cells), 'cell')}, not {width}"
            )
        if columns.pair and not any(cells[places[axis]] for axis in columns.pair) and _is_total(cells):
            raise InputError(f"{columns.pair[0]} is '', not a number: is this a row of totals?")
        load = cells[places["demand"]] if "demand" in places else "0"
        return Row(
            line=number,
            name=cells[places["name"]] if "name" in places else "",
            point=tuple(_number(sheet, axis, cells[places[axis]]) for axis in columns.pair or ()),
            demand=0.0 if depot and not load else _demand(sheet, load, wishes),
        )


def _is_total(cells: list[str]) -> bool:
    """Has a row a word such as "Total", or only numbers?"""
    filled = [cell for cell in cells if cell]
    return any(_TOTAL.search(cell) for cell in filled) or (bool(filled) and all(cell[-1].isdigit() for cell in filled))


def _number(sheet: Sheet, column: str, cell: str) -> float:
    most = {"lat": 90.0, "lon": 180.0}.get(column)
    value = real(sheet.plain(column, cell, thousands=most is None), column)
    if most is not None and abs(value) > most:
        hint = ": are lat and lon exchanged?" if column == "lat" and abs(value) <= 180 else ""
        raise InputError(f"{column} is {cell}, not between -{most:g} and {most:g}{hint}")
    return value


def _demand(sheet: Sheet, cell: str, wishes: Wishes) -> float:
    value = real(sheet.plain("demand", cell), "demand")
    if value < 0:
        raise InputError(f"demand {cell} is negative")
    if wishes.demand_unit is None and value != int(value):
        raise InputError(f"demand is {shown(cell)}, not a whole number: give a demand unit, such as 0.5")
    return value


def _check_names(rows: list[Row], path: Path) -> None:
    twice = next((name for name, count in Counter(row.name for row in rows).items() if name and count > 1), None)
    if twice is not None:
        lines = [row.line for row in rows if row.name == twice][:2]
        caution(path, f"the name {shown(twice)} is used twice, in lines {lines[0]} and {lines[1]}")


def _check_depot(rows: list[Row]) -> None:
    depot = rows[0]
    if depot.demand:
        others = [row.line for row in rows if not row.demand]
        hint = f"; line {others[0]} has none" if len(others) == 1 else ""
        raise InputError(
            f"line {depot.line}: the first row is the depot, so that its demand must be 0, not {depot.demand:g}{hint}"
        )
