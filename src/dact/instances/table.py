"""CSV files: a row for each node, with the columns name, x, y (or lat, lon) and demand.

A first row without any number is a header; its columns may come in any order, and others are ignored with a warning.
Without a header the columns are x, y and maybe demand, with maybe a name before them. A semicolon may stand for the
comma. Demands make a CVRP, whose first row is the depot. Lines that begin with `#` are comments; `# capacity: 50` sets
the capacity, which the caller's own value overrides, and `# vehicles: 4` the most routes; `# problem: cvrp` names the
problem. Distances are unrounded: straight lines, or great circles in kilometres, or those of a matrix file. A file may
be a matrix itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from dact.instances.building import build
from dact.instances.cells import Sheet
from dact.instances.errors import InputError, caution, naming, shown
from dact.instances.facts import facts_of
from dact.instances.instance import Instance
from dact.instances.limits import MAX_NODES, check_nodes
from dact.instances.matrix_files import Distances, is_matrix, parse_matrix
from dact.instances.numerals import positive, real

Value = TypeVar("Value")
KNOWN = {
    "name": "name",
    "x": "x",
    "y": "y",
    "lat": "lat",
    "latitude": "lat",
    "lon": "lon",
    "lng": "lon",
    "longitude": "lon",
    "demand": "demand",
}
"""Headers of columns, and what they mean."""
PLAIN = ("x", "y", "demand")
_COMMENT = re.compile(r"(capacity|vehicles|problem)\s*[:=]\s*(.*)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """Options of the caller for reading a table."""

    capacity: float | None = None
    demand_unit: float | None = None
    distances: Distances | None = None


def parse_table(text: str, path: Path, wishes: Wishes | None = None, max_nodes: int = MAX_NODES) -> Instance:
    """Read the text of a CSV file."""
    wishes = wishes or Wishes()
    sheet = Sheet.parse(text)
    if wishes.distances is None and is_matrix(sheet):
        return instance_of(parse_matrix(sheet, max_nodes), path, wishes)
    check_nodes(len(sheet.lines) - 1, max_nodes)
    columns, first = _columns(sheet, path, matrix=wishes.distances is not None)
    rows = [_values(sheet, place, columns, wishes) for place in range(first, len(sheet.lines))]
    if not rows:
        raise InputError("holds no row of numbers")
    check_nodes(len(rows), max_nodes)
    pair = next((pair for pair in (("x", "y"), ("lat", "lon")) if pair[0] in columns), None)
    names = tuple(str(row.get("name", "")) for row in rows)
    named, distances = names if any(names) else (), wishes.distances
    return build(
        path.stem,
        coordinates=None if pair is None else [[row[axis] for axis in pair] for row in rows],
        degrees=pair == ("lat", "lon"),
        matrix=None if distances is None else distances.in_order_of(named, len(rows)),
        demand=[row["demand"] for row in rows] if "demand" in columns else None,
        capacity=_capacity(sheet, wishes) if "demand" in columns else wishes.capacity,
        demand_unit=wishes.demand_unit,
        vehicles=_stated(sheet, "vehicles", positive) or 0,
        problem=_stated(sheet, "problem", lambda text, _: facts_of(text.lower()).name),
        names=names if named or distances is None else distances.names,
        source=path,
    )


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


def _columns(sheet: Sheet, path: Path, *, matrix: bool) -> tuple[dict[str, int], int]:
    """Where each column is, and the place of the first row after the header."""
    if not sheet.lines:
        raise InputError("holds no row of numbers")
    number, cells = sheet.cells(0)
    with naming(f"line {number}"):
        if sheet.is_header(cells):
            columns = _headed(cells, path)
            if len({"x", "y"} & columns.keys()) == 2 or len({"lat", "lon"} & columns.keys()) == 2:
                return columns, 1
            if matrix and not {"x", "y", "lat", "lon"} & columns.keys() and columns:
                return columns, 1
            raise InputError(f"the header {shown(sheet.delimiter.join(cells))} has neither x,y nor lat,lon")
        named = not sheet.is_number(cells[0])
        width = len(cells) - named
        if width not in (2, 3):
            raise InputError(f"{shown(sheet.delimiter.join(cells))} has {width} cells, not {min(max(width, 2), 3)}")
    columns = {name: place + named for place, name in enumerate(PLAIN[:width])}
    return {**columns, "name": 0} if named else columns, 0


def _headed(cells: list[str], path: Path) -> dict[str, int]:
    columns: dict[str, int] = {}
    others = []
    for place, cell in enumerate(cells):
        meaning = KNOWN.get(cell.lower())
        if meaning in columns:
            raise InputError(f"the header names the column {meaning} twice")
        if meaning is not None:
            columns[meaning] = place
        elif cell:
            others.append(cell)
    if others and columns:
        caution(path, f"of the columns, {', '.join(shown(other) for other in others[:5])} is not used")
    return columns


def _values(sheet: Sheet, place: int, columns: dict[str, int], wishes: Wishes) -> dict[str, float | str]:
    number, cells = sheet.cells(place)
    with naming(f"line {number}"):
        width = max(columns.values()) + 1
        if len(cells) < width or (len(cells) > width and len(cells) != sheet.width):
            raise InputError(f"{shown(sheet.delimiter.join(cells))} has {len(cells)} cells, not {width}")
        values: dict[str, float | str] = {}
        for name, column in columns.items():
            values[name] = cells[column] if name == "name" else _number(sheet, name, cells[column], wishes)
        return values


def _number(sheet: Sheet, column: str, cell: str, wishes: Wishes) -> float:
    value = real(sheet.decimal(cell), column)
    if column == "demand" and value < 0:
        raise InputError(f"demand {cell} is negative")
    if column == "demand" and wishes.demand_unit is None and value != int(value):
        raise InputError(f"demand is {shown(cell)}, not a whole number: give a demand unit, such as 0.5")
    most = {"lat": 90.0, "lon": 180.0}.get(column)
    if most is not None and abs(value) > most:
        raise InputError(f"{column} is {cell}, not between -{most:g} and {most:g}")
    return value


def _capacity(sheet: Sheet, wishes: Wishes) -> float | None:
    """The caller's capacity, or that of a comment."""
    if wishes.capacity is not None:
        return wishes.capacity
    return _stated(sheet, "capacity", positive if wishes.demand_unit is None else real)


def _stated(sheet: Sheet, word: str, parse: Callable[[str, str], Value]) -> Value | None:
    """The value after a word in a comment; None without one."""
    found = [
        (number, match[2])
        for number, text in sheet.comments
        if (match := _COMMENT.fullmatch(text)) and match[1].lower() == word
    ]
    if len(found) > 1:
        raise InputError(f"line {found[1][0]}: the {word} is given twice")
    for number, text in found:
        with naming(f"line {number}"):
            return parse(sheet.decimal(text), f"the {word}")
    return None
