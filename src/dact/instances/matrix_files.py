"""Distance matrices in files of their own: .npy, or CSV with or without labels."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dact.instances.archives import load_array
from dact.instances.arrays import FloatArray, bounded
from dact.instances.cells import Sheet
from dact.instances.errors import InputError, naming, shown
from dact.instances.files import read_bytes, read_text
from dact.instances.limits import MAX_NODES, check_nodes
from dact.instances.numerals import real

SUFFIXES = (".csv", ".npy")
FEWEST = 4
"""Fewest rows of a matrix without a header: smaller ones could be tables of coordinates and demands."""
TABLE_COLUMNS = frozenset(("x", "y", "lat", "latitude", "lon", "lng", "longitude", "demand"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Distances:
    """Distances from row to column, and the names of the nodes, if the file has them."""

    matrix: FloatArray
    names: tuple[str, ...] = ()
    source: str = ""
    """The file, for messages."""

    def in_order_of(self, names: tuple[str, ...], rows: int) -> FloatArray:
        """Return the matrix of so many nodes in the order of these names; without names, as it is."""
        matrix = f"the matrix {self.source}".rstrip()
        if not names or not self.names or names == self.names:
            if len(self.matrix) != rows:
                raise InputError(f"has {rows} nodes, but {matrix} has {len(self.matrix)}")
            return self.matrix
        place = {name: index for index, name in enumerate(self.names)}
        sides = ((names, self.names, f"{matrix} lacks"), (self.names, names, f"lacks, unlike {matrix},"))
        for one, other, text in sides:
            missing = [name for name in one if name not in set(other)]
            if missing:
                raise InputError(f"{text} the name {shown(missing[0])}")
        if len(place) < len(self.names) or len(set(names)) < len(names):
            raise InputError(f"a name is used twice, so that its rows and those of {matrix} cannot be matched")
        order = np.array([place[name] for name in names])
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
        return replace(parse_matrix(Sheet.parse(read_text(path)), max_nodes), source=str(path))


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
    if sheet.is_header(cells) or not cells[0]:
        return not TABLE_COLUMNS & {cell.lower() for cell in cells} and rows - 1 in (len(cells), len(cells) - 1)
    labelled = not sheet.is_number(cells[0])
    return rows >= FEWEST and rows == len(cells) - labelled and all(sheet.is_number(cell) for cell in cells[labelled:])


def parse_matrix(sheet: Sheet, max_nodes: int = MAX_NODES) -> Distances:
    """Read rows of distances; a non-numeric first row or column holds names."""
    if not sheet.lines:
        raise InputError("holds no row of numbers")
    head = sheet.cells(0)[1]
    header = sheet.is_header(head) or not head[0]
    body = range(int(header), len(sheet.lines))
    size = len(body)
    if not size:
        raise InputError("holds no row of numbers")
    check_nodes(size, max_nodes)
    labelled = not head[0] or not sheet.is_number(sheet.cells(body[0])[1][0])
    weights, labels = array("d"), []
    for row, place in enumerate(body):
        number, cells = sheet.cells(place)
        labels += cells[:1] if labelled else []
        cells = cells[labelled:]
        with naming(f"line {number}"):
            if len(cells) != size:
                raise InputError(f"has {len(cells)} distances, but the matrix has {size} rows")
            weights.extend(_distance(sheet, cell, row == column) for column, cell in enumerate(cells))
    names = head[len(head) - size :] if header else labels
    if header and (len(names) < size or (labelled and names != labels)):
        raise InputError("names its rows and columns differently")
    return Distances(matrix=np.array(weights).reshape(size, size), names=tuple(names))


def _distance(sheet: Sheet, cell: str, diagonal: bool) -> float:
    if diagonal and not cell:
        return 0.0
    return real(sheet.decimal(cell), "a distance")
