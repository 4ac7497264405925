"""Rows of a comparison in a CSV file, which survives an interruption, and rows measured elsewhere."""

import csv
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path
from typing import get_type_hints

from dact.bench.measurements import append_rows, check_columns
from dact.instances import InputError
from dact.instances.errors import naming, shown
from dact.instances.files import read_text

ELSEWHERE = {"set": "case", "asked_s": "limit", "mean_cost": "cost"}
OF_VARIANTS = {
    "set": "instances",
    "instances": "count",
    "mean_cost": "cost",
    "limit": "settings",
    "seconds": "call_seconds",
}
"""Columns of our other benchmarks that mean the same; the second are those of `dact bench hybrid`."""
NEEDED = ("seconds", "gap")


@dataclass(frozen=True, kw_only=True)
class PeerRow:
    """A solver on a whole set, or on one file of several, in a given time."""

    date: str
    set: str
    """The set, or the folder of files."""
    instance: str
    """The file; empty for a whole set."""
    instances: int
    referenced: int
    """Instances with a reference cost: the gap is over these."""
    fingerprint: str
    """Of the instances."""
    solver: str
    version: str
    limit: str
    """Its kind of limit, and how much of it."""
    asked_s: float
    """Time limit for all instances of the row, wall-clock."""
    seconds: float
    """Wall-clock time taken."""
    cores: int | None
    """None on a GPU."""
    device: str
    busy: float | None
    """CPU time over wall-clock time and cores: below 1 if others used the cores, or the solver did not use all."""
    load: float | None
    """Load average of the minute before."""
    mean_cost: float
    gap: float
    """Percent above the reference cost, mean over instances."""
    error: float | None
    """Standard error of the gap over instances; None for one instance."""
    commit: str

    @property
    def key(self) -> tuple[object, ...]:
        """What is not measured again if it is there."""
        return self.instance, self.fingerprint, self.solver, self.version, self.asked_s, self.cores, self.device


@dataclass(frozen=True)
class RowsFile:
    """The CSV file of a comparison."""

    path: Path

    def read(self) -> list[PeerRow]:
        """What has been measured; nothing if there is no file yet."""
        check_columns(self.path, PeerRow)
        return read_rows(self.path) if self.path.is_file() else []

    def add(self, row: PeerRow) -> None:
        """At once, so that an interruption loses nothing."""
        append_rows(self.path, [row])


def read_rows(path: Path, solver: str = "") -> list[PeerRow]:
    """Rows of a comparison, of `dact bench hybrid`, or of a table with the columns `case`, `seconds` and `gap`.

    `solver` is the name of rows that have none; without it they take the file's.
    """
    with naming(path):
        lines = list(csv.DictReader(StringIO(read_text(path))))
        columns = set(lines[0]) if lines else set()
        for name in NEEDED:
            if name not in columns:
                raise InputError(f"has no column {name}, so that its rows cannot be shown")
        return [_parsed(number, line, solver or path.stem) for number, line in enumerate(lines, start=2)]


def merged(rows: Sequence[PeerRow], name: str, files: Sequence[str]) -> list[PeerRow]:
    """Rows measured elsewhere that belong to a set ("tsp100" belongs to "tsp100_seed4321") or to these files."""
    if not files:
        return [row for row in rows if not row.instance and row.set in (name, name.partition("_")[0])]
    known = set(files)
    of_files = [row for row in rows if (row.instance or row.set) in known]
    return [_as_file(row) for row in of_files]


def _as_file(row: PeerRow) -> PeerRow:
    return row if row.instance else PeerRow(**{**vars(row), "instance": row.set})


def _parsed(number: int, line: dict[str, str], solver: str) -> PeerRow:
    values: dict[str, object] = {}
    kinds = get_type_hints(PeerRow)
    if "variant" in line:
        line = line | {name: line.get(theirs) or line.get(name, "") for name, theirs in OF_VARIANTS.items()}
        line["asked_s"] = line["seconds"]
    for each in fields(PeerRow):
        text = line.get(each.name) or line.get(ELSEWHERE.get(each.name, ""), "") or ""
        values[each.name] = _value(text, kinds[each.name], f"line {number}: {each.name}")
    variant = line.get("variant", "")
    values["solver"] = values["solver"] or (f"{solver} {variant}" if variant not in ("", "usual") else solver)
    values["instances"] = values["instances"] or 1
    values["asked_s"] = values["asked_s"] or values["seconds"]
    return PeerRow(**values)  # type: ignore[arg-type]


def _value(text: str, kind: object, where: str) -> object:
    if kind is str:
        return text
    if not text:
        return None if kind in (int | None, float | None) else 0
    try:
        number = float(text)
        if not math.isfinite(number):
            raise ValueError
        return int(number) if kind in (int, int | None) else number
    except ValueError:
        raise InputError(f"{where} holds {shown(text)}, not a number") from None
