"""Strict parsing of numbers: float() would accept '1_000' and 'nan'."""

from __future__ import annotations

import math

from dact.instances.arrays import LARGEST
from dact.instances.errors import InputError, shown


def real(token: str, what: str) -> float:
    """Read a number of at most LARGEST in size."""
    value = finite(token, what)
    if abs(value) > LARGEST:
        raise InputError(f"{what} is {shown(token)}, not a number up to {LARGEST:g} in size")
    return value


def finite(token: str, what: str) -> float:
    """Read a finite number of any size."""
    try:
        value = float(token)
    except ValueError:
        value = None
    if value is None or "_" in token or not token.isascii():
        raise InputError(f"{what} is {shown(token)}, not a number")
    if not math.isfinite(value):
        raise InputError(f"{what} is {shown(token)}, not a number up to {LARGEST:g} in size")
    return value


def whole(token: str, what: str) -> int:
    """Read a whole number; '7.0' counts as one."""
    value = real(token, what)
    if value != int(value):
        raise InputError(f"{what} is {shown(token)}, not a whole number")
    return int(value)


def positive(token: str, what: str) -> int:
    """Read a whole number above zero."""
    value = whole(token, what)
    if value < 1:
        raise InputError(f"{what} is {value}, but it must be at least 1")
    return value
