"""Learnt kicks against random ones at equal time: rows that `benchmarks/learnt_kick.py` has measured."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from dact.instances import InputError

TABLE = "equal time"
NUMBERS = ("limit", "seconds", "rounds", "network's share %", "gap %", "more than anywhere", "error")
WORDS = ("case", "device", "centres", "date", "commit")
Key = tuple[str, str, float, str]


@dataclass(frozen=True, kw_only=True)
class KickRow:
    """Means over runs with instances and draws of their own. Gaps and differences are percentages."""

    case: str
    device: str
    limit: float
    """Seconds that were asked for."""
    centres: str
    """How the customers that kicks begin at are chosen."""
    runs: int
    seconds: float
    rounds: float
    network_percent: float
    """Share of the time that the network took."""
    gap: float
    against: float
    """By how much gaps exceed those of kicks that begin anywhere, instance by instance."""
    error: float
    """Its standard error."""
    measured: str
    """Dates and commits."""


def read_kicks(path: Path) -> list[KickRow]:
    """Rows at equal time, the runs of one case, device, limit and kind of centres together."""
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            rows = [row for row in csv.DictReader(stream) if row.get("table") == TABLE]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not text'})") from None
    if not rows:
        raise InputError(f"{path}: has no row whose table is '{TABLE}'")
    groups: dict[Key, list[Mapping[str, float]]] = {}
    measured: dict[Key, list[str]] = {}
    for place, row in enumerate(rows, start=1):
        numbers = {name: _number(path, place, name, row.get(name)) for name in NUMBERS}
        words = {name: row.get(name) or "" for name in WORDS}
        key = (words["case"], words["device"], numbers["limit"], words["centres"])
        groups.setdefault(key, []).append(numbers)
        measured.setdefault(key, []).append(f"{words['date']} {words['commit']}")
    return [_together(key, group, sorted(set(measured[key]))) for key, group in groups.items()]


def _number(path: Path, place: int, name: str, text: str | None) -> float:
    try:
        return float(text or "")
    except ValueError:
        raise InputError(f"{path}: row {place} at equal time: {name} '{text or ''}' is not a number") from None


def _together(key: Key, runs: Sequence[Mapping[str, float]], measured: Sequence[str]) -> KickRow:
    mean = {name: fmean(run[name] for run in runs) for name in NUMBERS}
    return KickRow(
        case=key[0],
        device=key[1],
        limit=key[2],
        centres=key[3],
        runs=len(runs),
        seconds=mean["seconds"],
        rounds=mean["rounds"],
        network_percent=mean["network's share %"],
        gap=mean["gap %"],
        against=mean["more than anywhere"],
        # Runs have instances of their own, so their errors are independent.
        error=sum(run["error"] ** 2 for run in runs) ** 0.5 / len(runs),
        measured=", ".join(measured),
    )
