"""Distance matrices in files of their own: .npy, or tables (CSV, Excel) with or without labels."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dact.instances.archives import load_array
from dact.instances.arrays import FloatArray, bounded
from dact.instances.cells import Sheet
from dact.instances.columns import is_customers
from dact.instances.errors import InputError, caution, naming, plural, shown
from dact.instances.files import read_bytes, read_text
from dact.instances.limits import MAX_NODES, check_nodes
from dact.instances.numerals import real
from dact.instances.workbooks import workbook_text

SUFFIXES = (".csv", ".tsv", ".xlsx", ".npy")
FEWEST = 4
"""Fewest rows of a matrix without a header: smaller ones could be tables of coordinates and demands."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Distances:
    """Distances from row to column, and the names of the nodes, if the file has them."""

    matrix: FloatArray
    names: tuple[str, ...] = ()
    source: str = ""
    """The file, for messages."""

    def in_order_of(self, names: tuple[str, ...], rows: int, place: object = "") -> FloatArray:
        """Return the distances of so many nodes in the order of these names; without names, all as they are.

        Places of the matrix beyond these names are left out, with a warning about `place`.
        """
        matrix = f"the matrix {self.source}".rstrip()
        if not names or not self.names or names == self.names:
            if len(self.matrix) != rows:
                raise InputError(f"has {rows} {plural(rows, 'node')}, but {matrix} has {len(self.matrix)}")
            return self.matrix
        found = {name: index for index, name in enumerate(self.names)}
        if missing := [name for name in names if name not in found]:
            raise InputError(f"{matrix} lacks the name {shown(missing[0])}")
        if len(found) < len(self.names) or len(set(names)) < len(names):
            raise InputError(f"a name is used twice, so that its rows and those of {matrix} cannot be matched")
        if more := [name for name in self.names if name not in set(names)]:
            others = f" and {len(more) - 1} more" if len(more) > 1 else ""
            caution(place or self.source, f"{shown(more[0])}{others} of {matrix} is not in the table, and left out")
        order = np.array([found[name] for name in names])
        return np.asarray(self.matrix[np.ix_(order, order)])


def read_distances(path: str | Path, max_nodes: int = MAX_NODES) -> Distances:
    """Read a matrix; mistakes name the file."""
    path = Path(path)
    with naming(path):
        suffix = path.suffix.lower()
        if suffix not in SUFFIXES:
            raise InputError(f"the extension {shown(suffix)} of a matrix is not one of {', '.join(SUFFIXES)}")
        if suffix == ".npy":
            return replace(parse_npy(read_bytes(path), max_nodes), source=str(path))
        text = workbook_text(read_bytes(path), max_nodes, place=path) if suffix == ".xlsx" else read_text(path)
        return replace(parse_matrix(Sheet.parse(text), max_nodes), source=str(path))


def parse_npy(content: bytes, max_nodes: int = MAX_NODES) -> Distances:
    """Read a square array."""
    values = load_array(content)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise InputError(f"holds an array of shape {values.shape}, not a matrix of distances (N, N)")
    check_nodes(len(values), max_nodes)
    return Distances(matrix=bounded(values, "matrix", 2))


def is_matrix(sheet: Sheet) -> bool:
    """Is a CSV file a matrix, and not a table of customers?"""
    if not sheet.lines:
        return False
    rows, cells = len(sheet.lines), sheet.cells(0)[1]
    if not _is_header(sheet):
        labelled = not sheet.is_number(cells[0])
        square = rows >= FEWEST and rows == len(cells) - labelled
        return square and all(sheet.is_number(cell) for cell in cells[labelled:])
    if is_customers(cells) or rows - 1 not in (len(cells), len(cells) - 1):
        return False
    labels = [sheet.cells(place)[1][0] for place in range(1, rows)]
    if len(cells) == len(labels):
        return all(sheet.is_number(label) for label in labels)
    return not cells[0] or set(labels) == set(cells[1:])


def parse_matrix(sheet: Sheet, max_nodes: int = MAX_NODES) -> Distances:
    """Read rows of distances; a first row or column that is no row of distances holds names. Columns take the order of
    the rows.
    """
    header = _is_header(sheet)
    body = range(int(header), len(sheet.lines))
    size = len(body)
    if not size:
        raise InputError("holds no row of numbers")
    check_nodes(size, max_nodes)
    head = sheet.cells(0)[1]
    starts = [sheet.cells(place)[1][0] for place in body]
    cornered = header and len(head) > size and not set(starts).isdisjoint(head)
    labelled = cornered or not head[0] or not sheet.is_number(starts[0])
    labels = starts if labelled else []
    names = head[max(len(head) - size, 0) * labelled :] if header else labels
    order = _order(names, labels or names)
    sheet = sheet.reading(range(int(labelled), labelled + size), body.start)
    weights = array("d")
    for row, place in enumerate(body):
        number, cells = sheet.cells(place)
        cells = cells[labelled:]
        with naming(f"line {number}"):
            if len(cells) != size:
                raise InputError(f"has {len(cells)} {plural(len(cells), 'distance')}, but the matrix has {size} rows")
            ordered = [cells[each] for each in order] if order else cells
            weights.extend(_distance(sheet, cell, row == column) for column, cell in enumerate(ordered))
    if header and len(names) != size:
        raise InputError(f"names {len(names)} {plural(len(names), 'column')}, but has {size} rows")
    return Distances(matrix=np.array(weights).reshape(size, size), names=tuple(labels or names))


def _is_header(sheet: Sheet) -> bool:
    """Does the first line hold names? They may be numbers, if the rows have the same."""
    if not sheet.lines:
        return False
    cells = sheet.cells(0)[1]
    if sheet.is_header(cells) or not cells[0]:
        return True
    if sheet.is_number(cells[0]) or len(cells) != len(sheet.lines):
        return False
    return sorted(cells[1:]) == sorted(sheet.cells(place)[1][0] for place in range(1, len(sheet.lines)))


def _order(names: list[str], labels: list[str]) -> list[int]:
    """The columns in the order of the rows; none if they are in it."""
    if names == labels:
        return []
    place = {name: index for index, name in enumerate(names)}
    if twice := [name for index, name in enumerate(names) if place[name] != index]:
        raise InputError(f"two columns have the name {shown(twice[0])}")
    if alone := [label for label in labels if label not in place]:
        raise InputError(f"the row {shown(alone[0])} has no column of that name")
    if alone := [name for name in names if name not in set(labels)]:
        raise InputError(f"the column {shown(alone[0])} has no row of that name")
    return [place[label] for label in labels]


def _distance(sheet: Sheet, cell: str, diagonal: bool) -> float:
    if diagonal and not cell:
        return 0.0
    value = real(sheet.plain("a distance", cell), "a distance")
    if value < 0 and not diagonal:
        raise InputError(f"the distance {cell} is negative")
    return value
