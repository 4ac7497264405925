"""Distance matrices in TSPLIB files: the nine formats of an EDGE_WEIGHT_SECTION. Only the full matrix can be
asymmetric."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import numpy as np

from dact.instances.arrays import FloatArray, IntArray
from dact.instances.errors import InputError, naming, plural, shown
from dact.instances.keywords import Document
from dact.instances.numerals import real

Indices = tuple[IntArray, IntArray]

# Triangles are symmetric matrices: a triangle by columns is the other triangle by rows.
_TRIANGLES: dict[str, Callable[[int], Indices]] = {
    "UPPER_ROW": lambda size: np.triu_indices(size, 1),
    "LOWER_ROW": lambda size: np.tril_indices(size, -1),
    "UPPER_DIAG_ROW": lambda size: np.triu_indices(size),
    "LOWER_DIAG_ROW": lambda size: np.tril_indices(size),
    "UPPER_COL": lambda size: np.tril_indices(size, -1),
    "LOWER_COL": lambda size: np.triu_indices(size, 1),
    "UPPER_DIAG_COL": lambda size: np.tril_indices(size),
    "LOWER_DIAG_COL": lambda size: np.triu_indices(size),
}


def explicit_matrix(document: Document, size: int) -> FloatArray:
    """Build the (N, N) matrix from weights that may be wrapped over lines in any way."""
    form = document.need("EDGE_WEIGHT_FORMAT").upper()
    if form != "FULL_MATRIX" and form not in _TRIANGLES:
        known = ", ".join(("FULL_MATRIX", *_TRIANGLES))
        raise InputError(f"EDGE_WEIGHT_FORMAT {shown(form)} is not one of {known}")
    weights = _weights(document)
    expected = _count(form, size)
    if len(weights) != expected:
        found = f"the EDGE_WEIGHT_SECTION has {len(weights)} {plural(len(weights), 'weight')}"
        raise InputError(f"{found}, but {form} of {size} {plural(size, 'node')} needs {expected}")
    if form == "FULL_MATRIX":
        return weights.reshape(size, size)
    matrix = np.zeros((size, size))
    matrix[_TRIANGLES[form](size)] = weights
    return np.asarray(np.maximum(matrix, matrix.T))


def _weights(document: Document) -> FloatArray:
    weights = array("d")
    for number, line in document.rows("EDGE_WEIGHT_SECTION"):
        with naming(f"line {number}"):
            row = [real(token, "a weight") for token in line.split()]
            if min(row) < 0:
                raise InputError(f"the weight {min(row):g} is negative")
        weights.extend(row)
    return np.array(weights)


def _count(form: str, size: int) -> int:
    if form == "FULL_MATRIX":
        return size * size
    return size * (size + 1 if "DIAG" in form else size - 1) // 2
