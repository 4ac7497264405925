"""Array types and the checks that every array of an instance passes, its loads among them."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dact.instances.errors import InputError, shown

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)

LARGEST = 1e12
"""Bound on every number read: sums of squares stay finite and rounded costs stay exact in float64."""


def floats(values: ArrayLike, what: str, ndim: int) -> FloatArray:
    """Copy real numbers into a read-only float64 array of `ndim` axes."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{what} is {shown(values)}, whose parts differ in length") from None
    if array.dtype.kind not in "fiu" or array.ndim != ndim:
        given = shown(values) if isinstance(values, Sequence | Real) else f"{array.dtype} in {array.ndim}"
        raise InputError(f"{what} must be real numbers in {ndim} {'axis' if ndim == 1 else 'axes'}, not {given}")
    return frozen(array.astype(np.float64))


def bounded(values: ArrayLike, what: str, ndim: int) -> FloatArray:
    """Like `floats`, and refuse NaN, infinity and numbers beyond LARGEST."""
    array = floats(values, what, ndim)
    # NaN is neither.
    if array.size and not (array.min() >= -LARGEST and array.max() <= LARGEST):
        where = tuple(int(axis) for axis in np.argwhere(~(np.abs(array) <= LARGEST))[0])
        raise InputError(f"{what}{list(where)} is {array[where]}, not a number up to {LARGEST:g} in size")
    return array


def integers(values: ArrayLike, what: str, ndim: int, hint: str = "") -> IntArray:
    """Copy whole numbers (7 or 7.0) into a read-only int64 array of `ndim` axes; `hint` is what to do about others."""
    array = bounded(values, what, ndim)
    fractional = np.argwhere(array != np.floor(array))
    if len(fractional):
        where = tuple(int(axis) for axis in fractional[0])
        raise InputError(f"{what}{list(where)} is {array[where]}, not a whole number{hint}")
    return frozen(array.astype(np.int64))


def square(values: FloatArray) -> FloatArray:
    """Check a matrix of distances and clear its diagonal, which some files fill with 9999."""
    matrix = bounded(values, "matrix", 2).copy()
    if matrix.shape[0] < 1 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the distance matrix has shape {matrix.shape}, not (N, N)")
    np.fill_diagonal(matrix, 0.0)
    if matrix.min() < 0:
        row, column = np.argwhere(matrix < 0)[0]
        raise InputError(f"the distance {matrix[row, column]:g} of row {row + 1}, column {column + 1} is negative")
    return frozen(matrix)


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Make an array that we own read-only."""
    array.setflags(write=False)
    return array


def check_loads(demand: IntArray, capacity: int, names: Sequence[str] = (), unit: float = 1.0) -> None:
    """Refuse demands (the depot's first) that no vehicle can carry; they are counted in demand units of the file."""
    _check_capacity(capacity, unit)
    if demand[0] != 0:
        raise InputError(f"the depot has demand {in_units_of_file(demand[0], unit)}, but it must be 0")
    if demand.min() < 0:
        # Counting in units has rounded it.
        value = f"demand {demand.min()}" if unit == 1 else "the demand"
        raise InputError(f"{value} is negative (customer {demand.argmin()})")
    if demand.max() > capacity:
        largest = int(demand.argmax())
        name = f", {shown(names[largest])}" if names and names[largest] else ""
        room, load = (in_units_of_file(count, unit) for count in (capacity, demand.max()))
        # Counting rounds demands up and the capacity down: the file may have said less.
        hint = f", both rounded to the demand unit {unit:g}" if unit != 1 and demand.max() == capacity + 1 else ""
        raise InputError(f"capacity {room} is below the largest demand {load} (customer {largest}{name}){hint}")


def in_units_of_file(count: int, unit: float) -> str:
    """Show a number of demand units as the file counts; 15 digits hide that 3 * 0.1 is not exactly 0.3."""
    return str(count) if unit == 1 else f"{count * unit:.15g}"


def unit_hint(unit: float) -> str:
    """Return what to do about decimal loads, unless it was done."""
    return ": give a demand_unit, such as 0.5" if unit == 1 else ""


def _check_capacity(capacity: int, unit: float) -> None:
    if isinstance(capacity, bool) or not isinstance(capacity, int | np.integer):
        hint = unit_hint(unit) if isinstance(capacity, float) else ""
        raise InputError(f"capacity {shown(capacity)} is not a whole number{hint}")
    if capacity < 1:
        small = f"capacity {shown(capacity)} is not positive"
        raise InputError(small if unit == 1 else f"the capacity is less than one demand unit ({unit:g})")
    if capacity > LARGEST:
        large = f"capacity {shown(capacity)} is not a number up to {LARGEST:g}"
        few = f"demand_unit {unit:g} is too small: the capacity has {shown(capacity)} of them"
        raise InputError(large if unit == 1 else few)
