"""Instances from arrays and tables in memory, and lists of stops as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dact.instances.arrays import FloatArray, bounded
from dact.instances.building import build
from dact.instances.columns import find_columns
from dact.instances.errors import InputError, naming, shown
from dact.instances.instance import Instance
from dact.instances.matrix_files import Distances

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
    with naming("the frame"):
        columns = find_columns(
            [str(column) for column in frame.columns],
            lambda place: len({*map(str, frame[frame.columns[place]])}) == len(frame.index),
        )
        pair = columns.pair
    if pair is None and matrix is None:
        raise InputError(f"the frame has neither the columns x, y nor lat, lon, but {shown(list(frame.columns))}")
    if columns.read_as or "demand" not in columns.places:
        columns.tell("the frame")
    column = {meaning: frame.columns[place] for meaning, place in columns.places.items()}
    names = tuple(str(each) for each in frame[column["name"]]) if "name" in column else _titles(frame.index)
    distances = None if matrix is None else distances_of(matrix)
    return build(
        name,
        coordinates=None if pair is None else np.column_stack([_numbers(frame, column[axis]) for axis in pair]),
        degrees=pair == ("lat", "lon"),
        matrix=None if distances is None else distances.in_order_of(names, len(frame.index), "the frame"),
        demand=_numbers(frame, column["demand"]) if "demand" in column else None,
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


def _titles(labels: Iterable[object]) -> tuple[str, ...]:
    """Labels of rows as names, if all are text."""
    listed = list(labels)
    texts = tuple(label for label in listed if isinstance(label, str))
    return texts if len(texts) == len(listed) else ()


def _numbers(frame: Frame, column: object) -> FloatArray:
    values = np.asarray(frame[column])
    if values.dtype == object:
        for row, value in zip(frame.index, values, strict=True):
            if isinstance(value, bool) or not isinstance(value, Real):
                raise InputError(f"the frame: {column} is {shown(value)} in row {shown(row)}, not a number")
        values = values.astype(float)
    return bounded(values, str(column), 1)
