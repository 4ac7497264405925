"""The comparison itself: every solver, every time, every round, a row for each."""

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from dact.bench.peers.contest import Attempt, Contest, Round, Run, Solver
from dact.bench.peers.rows import PeerRow
from dact.peers import PeerError
from dact.provenance import commit

Progress = Callable[[float, str, str], None]
"""Called with the fraction of all work that is done, the solver and the time it has. May raise KeyboardInterrupt."""


@dataclass(frozen=True)
class LeftOut:
    """A solver that has no row for a time, or none at all, and why."""

    solver: str
    reason: str
    asked_s: float | None = None

    def __str__(self) -> str:
        when = "" if self.asked_s is None else f" in {self.asked_s:g} s"
        return f"{self.solver}{when} {self.reason}"


def measure(
    contest: Contest, solvers: Sequence[Solver], seconds: Sequence[float], known: Collection[PeerRow], show: Progress
) -> Iterator[PeerRow | LeftOut]:
    """Run every solver with each time limit, short ones first; known rows are not measured again.

    A solver that is missing, crashes or returns an infeasible answer is left out; the others continue.
    """
    there = []
    for solver in solvers:
        if solver.missing:
            if not {(solver.name, asked) for asked in seconds} <= {(row.solver, row.asked_s) for row in known}:
                yield LeftOut(solver.name, solver.missing)
        elif all(solver.takes(member) for part in contest.rounds for member in part.members):
            there.append(solver)
    keys = {row.key for row in known}
    total, before = sum(seconds) * len(there) * len(contest.rounds), 0.0
    for asked in sorted(seconds):
        for solver in there:
            open_rounds = [part for part in contest.rounds if _key(part, solver, asked) not in keys]
            share = asked * len(contest.rounds) / total
            yield from _measure(contest, solver, asked, open_rounds, _Share(show, before, share))
            before += share


@dataclass(frozen=True)
class _Share:
    """A part of the progress bar."""

    show: Progress
    before: float
    size: float

    def __call__(self, fraction: float, solver: str, detail: str) -> None:
        self.show(min(1.0, self.before + fraction * self.size), solver, detail)


def _measure(
    contest: Contest, solver: Solver, asked: float, rounds: Sequence[Round], show: Progress
) -> Iterator[PeerRow | LeftOut]:
    """One solver with one time on each round, until it fails."""
    if not rounds:
        return
    show(0.0, solver.name, "is starting")
    try:
        with solver.start(contest) as run:
            for number, part in enumerate(rounds):
                yield _attempt(contest, solver, asked, part, run, _Part(show, solver, asked, number, len(rounds)))
    except PeerError as error:
        yield LeftOut(solver.name, str(error), asked)


@dataclass(frozen=True)
class _Part:
    """One round's share of a solver's progress."""

    show: Progress
    solver: Solver
    asked: float
    number: int
    rounds: int

    def __call__(self, fraction: float) -> None:
        self.show((self.number + fraction) / self.rounds, self.solver.name, f"{self.asked:g} s")


def _attempt(
    contest: Contest, solver: Solver, asked: float, part: Round, run: Run, progress: Callable[[float], None]
) -> PeerRow:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return _row(contest, solver, asked, part, run(part, asked, progress), load)


def _row(contest: Contest, solver: Solver, asked: float, part: Round, attempt: Attempt, load: float | None) -> PeerRow:
    known = part.references > 0
    gaps = 100 * (attempt.costs[known] / part.references[known] - 1)
    cores, device = solver.place
    return PeerRow(
        date=date.today().isoformat(),
        set=contest.name,
        instance=part.name,
        instances=len(part.members),
        referenced=int(known.sum()),
        fingerprint=part.fingerprint,
        solver=solver.name,
        version=solver.version,
        limit=attempt.limit,
        asked_s=asked,
        seconds=float(f"{attempt.seconds:.4g}"),
        cores=cores,
        device=device,
        busy=None if attempt.busy is None else round(attempt.busy, 3),
        load=None if load is None else round(load, 2),
        mean_cost=float(attempt.costs.mean()),
        gap=float(gaps.mean()),
        error=float(gaps.std(ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else None,
        commit=commit(),
    )


def _key(part: Round, solver: Solver, asked: float) -> tuple[object, ...]:
    """As `PeerRow.key`."""
    return part.name, part.fingerprint, solver.name, solver.version, asked, *solver.place
