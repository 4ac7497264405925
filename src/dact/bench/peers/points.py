"""Rows as points of lines: means over files, and times scaled to another machine and another number of instances."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dact.bench.peers.contest import Contest
from dact.bench.peers.rows import PeerRow


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Times are shown as they would be for so many instances on so many cores. None: as measured."""

    instances: int | None = None
    cores: int | None = None
    cpu_time: bool = False
    """Times on cores are what the solver got of them: nearly what a quiet machine takes, on one that others use."""

    def fits(self, row: PeerRow) -> bool:
        """A GPU is no number of cores, and half as many instances do not take half its time."""
        return row.cores is not None or self.instances in (None, row.instances)

    def seconds(self, row: PeerRow) -> float:
        """The row's time, scaled. A GPU's is left as it is."""
        if row.cores is None:
            return row.seconds
        share = row.busy if self.cpu_time and row.busy else 1.0
        return (
            row.seconds
            * share
            * (self.instances or row.instances)
            / row.instances
            * row.cores
            / (self.cores or row.cores)
        )

    def place(self, row: PeerRow) -> str:
        """What it ran on, and what it was scaled to."""
        if row.cores is None:
            return row.device or "measured elsewhere"
        here = f"{row.cores} core{'s' if row.cores > 1 else ''}"
        if self.cores not in (None, row.cores):
            return f"{here} scaled to {self.cores}"
        return f"{here}, scaled" if self.instances not in (None, row.instances) else here


@dataclass(frozen=True, kw_only=True)
class Point:
    """A solver with a time: a row, or the mean over the rows of all files."""

    solver: str
    version: str
    place: str
    asked_s: float
    measured_s: float
    seconds: float
    """Scaled, where that was asked for."""
    count: int
    """Instances or files."""
    gap: float
    error: float | None
    worst: float | None
    """The largest gap of a file."""
    busy: float | None
    load: float | None
    limit: str
    device: str


def points(contest: Contest, rows: Sequence[PeerRow], scale: Scale) -> tuple[list[Point], list[str]]:
    """A point for each solver, machine and time, by solvers; and what is not shown, with the reason."""
    groups: dict[tuple[object, ...], list[PeerRow]] = defaultdict(list)
    for row in rows:
        groups[row.solver, row.version, row.cores, row.device, row.asked_s].append(row)
    shown, hidden = [], []
    for group in groups.values():
        names = {row.instance for row in group}
        wanted = {part.name for part in contest.rounds}
        if not all(scale.fits(row) for row in group):
            hidden.append(
                f"{group[0].solver} on {group[0].device or 'another machine'}: {group[0].instances:,} instances, "
                f"not {scale.instances:,}"
            )
        elif wanted - names:
            done = f"{len(wanted & names)} of {len(wanted)} files"
            hidden.append(f"{group[0].solver} in {group[0].asked_s:g} s: {done}")
        else:
            shown.append(_point([row for row in group if row.instance in wanted], scale))
    order = list(dict.fromkeys((point.solver, point.place) for point in shown))
    return sorted(shown, key=lambda point: (order.index((point.solver, point.place)), point.seconds)), hidden


def _point(group: list[PeerRow], scale: Scale) -> Point:
    first, alone = group[0], len(group) == 1
    gaps = np.array([row.gap for row in group])
    busy = [row.busy for row in group if row.busy is not None]
    loads = [row.load for row in group if row.load is not None]
    return Point(
        solver=first.solver,
        version=first.version,
        place=scale.place(first),
        asked_s=first.asked_s,
        measured_s=float(np.mean([row.seconds for row in group])),
        seconds=float(np.mean([scale.seconds(row) for row in group])),
        count=first.instances if alone else len(group),
        gap=float(gaps.mean()),
        error=first.error if alone else float(gaps.std(ddof=1) / np.sqrt(len(gaps))),
        worst=None if alone else float(gaps.max()),
        busy=float(np.mean(busy)) if busy else None,
        load=float(np.mean(loads)) if loads else None,
        limit=first.limit,
        device=first.device,
    )
