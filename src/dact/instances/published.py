"""Best known values: the shipped table of published ones, and those that a COMMENT states."""

from __future__ import annotations

import csv
import re
from functools import cache
from importlib.resources import files

from dact.instances.arrays import LARGEST
from dact.instances.distances import RULES

_STATED = re.compile(r"\b(?:optimal|best)\s+value\s*:\s*(\d+(?:\.\d+)?)", re.IGNORECASE)


def best_known(name: str, nodes: int, rule: str) -> float | None:
    """Look up a published value by name, nodes (the depot included) and the rule in force."""
    return _table().get((name.lower(), nodes, RULES[rule][1]))


def stated_value(comment: str, rule: str) -> float | None:
    """Find 'Optimal value: 784' in a comment; a fraction cannot come from a rounded rule."""
    match = _STATED.search(comment)
    if match is None or float(match[1]) > LARGEST or (RULES[rule][1] != "none" and not float(match[1]).is_integer()):
        return None
    return float(match[1])


@cache
def _table() -> dict[tuple[str, int, str], float]:
    text = files("dact.instances").joinpath("best_known.csv").read_text(encoding="utf-8")
    return {
        (row["name"].lower(), int(row["nodes"]), row["rounding"]): float(row["value"])
        for row in csv.DictReader(text.splitlines())
    }
