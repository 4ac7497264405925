"""Strict parsing of numbers: float() would accept '1_000' and 'nan'."""

from __future__ import annotations

import math
import re

from dact.instances.arrays import LARGEST
from dact.instances.errors import InputError, shown

LONGEST = 60
"""Characters of what is looked at for advice."""
_TIME = re.compile(r"\d+:\d\d(:\d\d(\.\d+)?)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}([ \u00a0\u202f\u2019,.']\d{3})+([.,]\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


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
        raise InputError(f"{what} is {shown(token)}, not a number{_advice(token)}")
    if not math.isfinite(value):
        raise InputError(f"{what} is {shown(token)}, not a number up to {LARGEST:g} in size")
    return value


def _advice(token: str) -> str:
    """How to write what people write for numbers."""
    if len(token) > LONGEST:
        return ""
    if _TIME.fullmatch(token):
        return ": write a time as a number, such as its minutes"
    if _THOUSANDS.fullmatch(token):
        return ": write it with nothing between thousands"
    return f": write {token.replace(',', '.')}" if _DECIMAL_COMMA.fullmatch(token) else ""


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
