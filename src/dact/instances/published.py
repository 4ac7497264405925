"""Best known values: from the shipped table, from COMMENT lines, and from a user's file."""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib.resources import files
from pathlib import Path

from dact.instances.arrays import LARGEST
from dact.instances.cells import Sheet
from dact.instances.distances import RULES
from dact.instances.errors import InputError, naming, plural, shown
from dact.instances.files import read_text
from dact.instances.numerals import real

VALUES = ("value", "cost", "best_known", "bks", "optimum")
"""Headers of the column with the values."""

_STATED = re.compile(r"\b(?:optimal|best)\s+value\s*:\s*(\d+(?:\.\d+)?)", re.IGNORECASE)


def best_known(name: str, nodes: int, rule: str) -> float | None:
    """Look up a published value by name, nodes (the depot included) and the rule in force."""
    return _table().get((name.lower(), nodes, RULES[rule][1]))


def stated_value(comment: str, rule: str) -> float | None:
    """Find 'Optimal value: 784' in a comment. With a rounded rule, a fraction is not accepted."""
    match = _STATED.search(comment)
    if match is None or float(match[1]) > LARGEST or (RULES[rule][1] != "none" and not float(match[1]).is_integer()):
        return None
    return float(match[1])


def read_best_known(path: str | Path) -> dict[str, float]:
    """Read a CSV file of instances and values, by their names in small letters.

    With a header, the columns `name` and `value` (or another of VALUES); without one, the first two columns.
    """
    path = Path(path)
    with naming(path):
        sheet = Sheet.parse(read_text(path))
        if not sheet.lines:
            raise InputError("holds no row of a name and a value")
        head = [cell.lower() for cell in sheet.cells(0)[1]]
        header = sheet.is_header(head)
        columns = _value_columns(head) if header else (0, 1)
        sheet = sheet.reading(columns[1:], int(header))
        return dict(_value_row(sheet, place, columns) for place in range(int(header), len(sheet.lines)))


def _value_columns(head: list[str]) -> tuple[int, int]:
    values = [head.index(name) for name in VALUES if name in head]
    if "name" not in head or not values:
        raise InputError(f"the header {shown(','.join(head))} has no columns name and value")
    return head.index("name"), values[0]


def _value_row(sheet: Sheet, place: int, columns: tuple[int, int]) -> tuple[str, float]:
    number, cells = sheet.cells(place)
    with naming(f"line {number}"):
        if len(cells) <= max(columns):
            raise InputError(f"{shown(sheet.delimiter.join(cells))} has only {len(cells)} {plural(len(cells), 'cell')}")
        value = real(sheet.plain("the value", cells[columns[1]]), "the value")
        if value < 0:
            raise InputError(f"the value {value:g} is negative")
        return cells[columns[0]].lower(), value


@cache
def _table() -> dict[tuple[str, int, str], float]:
    text = files("dact.instances").joinpath("best_known.csv").read_text(encoding="utf-8")
    return {
        (row["name"].lower(), int(row["nodes"]), row["rounding"]): float(row["value"])
        for row in csv.DictReader(text.splitlines())
    }
