"""Instances from arrays and tables in memory, and lists of stops as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dact.instances.arrays import FloatArray, bounded
from dact.instances.building import build
from dact.instances.errors import InputError, shown
from dact.instances.instance import Instance
from dact.instances.matrix_files import Distances
from dact.instances.table import KNOWN

Frame = Any
"""A DataFrame of pandas, or anything with its `columns`, `index` and `to_numpy`."""


def from_matrix(matrix: ArrayLike | Frame, *, name: str, names: Sequence[str] = (), **more: Any) -> Instance:  # noqa: ANN401
    """Make an instance of a distance matrix, which may be a DataFrame with names."""
    distances = distances_of(matrix)
    return build(name, matrix=distances.matrix, names=names or distances.names, **more)


def from_frame(
    frame: Frame,
    *,
    name: str,
    capacity: float | None,
    matrix: ArrayLike | Frame | None,
    **more: Any,  # noqa: ANN401
) -> Instance:
    """Make an instance of a table with the columns that CSV files have."""
    if not hasattr(frame, "columns"):
        raise InputError(f"frame is {shown(frame)}, not a DataFrame")
    columns = _columns(frame)
    pair = next((pair for pair in (("x", "y"), ("lat", "lon")) if set(pair) <= columns.keys()), None)
    if pair is None and matrix is None:
        raise InputError(f"the frame has neither the columns x, y nor lat, lon, but {shown(list(frame.columns))}")
    names = tuple(str(each) for each in frame[columns["name"]]) if "name" in columns else ()
    distances = None if matrix is None else distances_of(matrix)
    return build(
        name,
        coordinates=None if pair is None else np.column_stack([_numbers(frame, columns[axis]) for axis in pair]),
        degrees=pair == ("lat", "lon"),
        matrix=None if distances is None else distances.in_order_of(names, len(names) or len(distances.matrix)),
        demand=_numbers(frame, columns["demand"]) if "demand" in columns else None,
        capacity=capacity,
        names=names or (distances.names if distances else ()),
        **more,
    )


def distances_of(matrix: Frame) -> Distances:
    """Take a matrix as it is, or a DataFrame whose rows and columns have the same labels."""
    if not hasattr(matrix, "columns"):
        return Distances(matrix=bounded(matrix, "matrix", 2))
    values = bounded(matrix.to_numpy(), "matrix", 2)
    rows, columns = _labels(matrix.index), _labels(matrix.columns)
    if rows and columns and rows != columns:
        raise InputError("names its rows and columns differently")
    return Distances(matrix=values, names=rows or columns)


def _labels(labels: Iterable[object]) -> tuple[str, ...]:
    """Labels as names; none if they are just 0, 1, 2, and so on."""
    listed = list(labels)
    return () if listed == list(range(len(listed))) else tuple(str(label) for label in listed)


def _columns(frame: Frame) -> dict[str, object]:
    columns: dict[str, object] = {}
    for column in frame.columns:
        meaning = KNOWN.get(str(column).strip().lower())
        if meaning in columns:
            raise InputError(f"the frame has the column {meaning} twice")
        if meaning is not None:
            columns[meaning] = column
    return columns


def _numbers(frame: Frame, column: object) -> FloatArray:
    return bounded(np.asarray(frame[column]), str(column), 1)
