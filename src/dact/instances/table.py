"""CSV files: rows of x, y and, for a CVRP, demand.

Two columns are a TSP; three are a CVRP whose first row is the depot. A first row that is not
numeric is a header and must read `x,y` or `x,y,demand`. Lines that begin with `#` are comments;
`# capacity: 50` sets the capacity, which the caller's own value overrides. Distances are unrounded.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from dact.instances.errors import InputError, naming, shown
from dact.instances.files import numbered_lines
from dact.instances.instance import Instance
from dact.instances.limits import MAX_NODES, check_nodes
from dact.instances.numerals import positive, real, whole

COLUMNS = ("x", "y", "demand")
_CAPACITY = re.compile(r"#+\s*capacity\s*[:=]\s*(.*)", re.IGNORECASE)


def parse_table(text: str, path: Path, capacity: int | None = None, max_nodes: int = MAX_NODES) -> Instance:
    """Read the text of a CSV file; a capacity given here wins over the file's comment."""
    lines = list(numbered_lines(text))
    rows = [(number, _cells(line)) for number, line in lines if not line.startswith("#")]
    width = len(rows[0][1]) if rows else 0
    if rows and not _is_number(rows[0][1][0]):
        _check_header(*rows.pop(0))
    if not rows:
        raise InputError("holds no row of numbers")
    check_nodes(len(rows), max_nodes)
    values = [_values(number, cells, width) for number, cells in rows]
    coordinates = np.array([row[:2] for row in values])
    if width == 2:
        if capacity is not None:
            raise InputError("a capacity is given, but there is no demand column")
        return Instance(name=path.stem, problem="tsp", rule="euclidean", coordinates=coordinates, source=path)
    return Instance(
        name=path.stem,
        problem="cvrp",
        rule="euclidean",
        coordinates=coordinates,
        demand=np.array([int(row[2]) for row in values]),
        capacity=_stated_capacity(lines) if capacity is None else capacity,
        source=path,
    )


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split(",")]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _check_header(number: int, cells: list[str]) -> None:
    names = tuple(cell.lower() for cell in cells)
    if names not in (COLUMNS[:2], COLUMNS):
        raise InputError(f"line {number}: the header {shown(','.join(cells))} is not x,y or x,y,demand")


def _values(number: int, cells: list[str], width: int) -> list[float]:
    with naming(f"line {number}"):
        if len(cells) != width or width not in (2, 3):
            raise InputError(f"{shown(','.join(cells))} has {len(cells)} cells, not {min(max(width, 2), 3)}")
        values: list[float] = [real(cells[0], "x"), real(cells[1], "y")]
        if width == 3:
            values.append(whole(cells[2], "demand"))
            if values[2] < 0:
                raise InputError(f"demand {cells[2]} is negative")
        return values


def _stated_capacity(lines: list[tuple[int, str]]) -> int:
    stated = [(number, match[1]) for number, line in lines if (match := _CAPACITY.fullmatch(line))]
    if not stated:
        raise InputError("has a demand column but no capacity: add the line '# capacity: 50' or pass one")
    if len(stated) > 1:
        raise InputError(f"line {stated[1][0]}: the capacity is given twice")
    with naming(f"line {stated[0][0]}"):
        return positive(stated[0][1], "the capacity")
