"""`dact bench peers`."""

import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from dact.bench.peers import (
    COLUMNS,
    Contest,
    LeftOut,
    PeerRow,
    Report,
    RowsFile,
    Scale,
    Solver,
    all_solvers,
    cells,
    cores_here,
    measure,
    merged,
    points,
    read_rows,
)
from dact.cli.inputs import InputRequest, read_inputs
from dact.cli.options import MAX_NODES
from dact.cli.screen import FAILED, Bar, emit, note, show_table
from dact.cli.targets import check_folder
from dact.instances import InputError, read_set, with_references
from dact.instances.errors import shown
from dact.interrupts import INTERRUPTED, Interrupts

SET_SECONDS, FILE_SECONDS = "1,3,10,30,100", "1,10,60"


@dataclass(frozen=True, kw_only=True)
class PeersRequest:
    """What to compare, and where it goes."""

    instances: Path | None
    """A set."""
    files: Path | None
    """A folder or a pattern."""
    seconds: str | None
    limit: int | None
    every: int | None
    """Every so many files."""
    cores: int | None
    only: tuple[str, ...]
    references: Path | None
    best_known: Path | None
    count_as: int | None
    cores_as: int | None
    cpu_time: bool
    elsewhere: tuple[str, ...]
    out: Path
    device: str

    def __post_init__(self) -> None:
        if (self.instances is None) == (self.files is None):
            raise InputError("name either a set or --files, a folder of instances")
        for option in ("limit", "every", "cores", "count_as", "cores_as"):
            value = getattr(self, option)
            if value is not None and value < 1:
                raise InputError(f"{option.replace('_', '-')} {value} is below 1")
        if self.files is not None and (self.count_as or self.cores_as):
            raise InputError("--count-as and --cores-as are for sets: every file has a time of its own")
        if self.files is None and self.every:
            raise InputError("--every is for --files: a set takes --limit")
        if self.files is None and self.best_known is not None:
            raise InputError("--best-known is for --files: reference costs of a set are in its file, or --references")
        if self.files is not None and self.references is not None:
            raise InputError("--references is for a set: best known values of files are --best-known")

    @property
    def times(self) -> list[float]:
        """The seconds, each once, in order."""
        text = self.seconds or (SET_SECONDS if self.files is None else FILE_SECONDS)
        return sorted({_seconds(each) for each in text.split(",")})

    def contest(self) -> Contest:
        """The instances, read."""
        cores = self.cores or cores_here()
        if cores > cores_here():
            raise InputError(f"cores {cores} is above the {cores_here()} that there are")
        if self.instances is not None:
            whole = read_set(self.instances, max_nodes=MAX_NODES)
            whole = whole if self.references is None else with_references(whole, self.references)
            return Contest.of_set(whole.take(slice(self.limit)), cores)
        assert self.files is not None
        wishes = InputRequest(files=(self.files,), start="greedy", best_known=self.best_known, max_nodes=MAX_NODES)
        inputs = read_inputs(wishes)
        for fault in inputs.faults:
            note(f"left out: {fault}")
        folder = self.files if self.files.is_dir() else self.files.parent
        name = folder.resolve().name or "files"
        name += f"-every-{self.every}" if self.every else ""
        return Contest.of_files(name, inputs.instances[:: self.every or 1][: self.limit], cores)

    def solvers(self, contest: Contest) -> list[Solver]:
        """Those asked for."""
        known = all_solvers(contest.cores, self.device)
        for name in self.only:
            if name not in known:
                raise InputError(f"only '{name}' is not one of {', '.join(known)}")
        return [known[name] for name in self.only or known]

    def rows_elsewhere(self, contest: Contest) -> list[PeerRow]:
        """Those of other files that belong to these instances."""
        files, found = [part.name for part in contest.rounds if part.name], []
        for text in self.elsewhere:
            solver, _, path = text.rpartition("=")
            rows = merged(read_rows(Path(path), solver), contest.name, files)
            if not rows:
                raise InputError(f"{path}: has no row for {contest.name}")
            found += rows
        return found

    def command(self, *, everybody: bool = False) -> str:
        """What was called, without the folders of this machine; with `everybody`, for all solvers."""
        target = [self.instances.name] if self.instances else ["--files", self.files.name if self.files else ""]
        words = ["dact", "bench", "peers", *target, "--seconds", ",".join(f"{each:g}" for each in self.times)]
        numbers = {"limit": self.limit, "every": self.every, "cores": self.cores}
        numbers |= {"count-as": self.count_as, "cores-as": self.cores_as}
        words += [word for name, value in numbers.items() if value for word in (f"--{name}", str(value))]
        words += ["--cpu-time"] if self.cpu_time else []
        named = {"references": self.references, "best-known": self.best_known}
        words += [word for name, path in named.items() if path for word in (f"--{name}", path.name)]
        words += [word for name in (() if everybody else self.only) for word in ("--only", name)]
        words += [word for text in self.elsewhere for word in ("--with", _plain(text))]
        return shlex.join(words)


def bench_peers(request: PeersRequest, *, as_json: bool) -> int:
    """Measure what is not measured yet, write page and pictures, print, and return the exit code."""
    times, contest = request.times, request.contest()
    solvers, elsewhere = request.solvers(contest), request.rows_elsewhere(contest)
    check_folder("--out", request.out)
    file = RowsFile(request.out / f"{contest.name}.csv")
    desk = _Desk(rows=_kept(file, contest), left_out=[], as_json=as_json)
    whole = _measured(contest, solvers, times, desk, file)
    seen = {row.key for row in desk.rows}
    rows = desk.rows + [row for row in elsewhere if row.key not in seen]
    scale = Scale(instances=request.count_as, cores=request.cores_as, cpu_time=request.cpu_time)
    found, hidden = points(contest, rows, scale)
    # Rows of earlier calls are shown too: a command for some solvers would not make this page.
    others = {row.solver for row in desk.rows} - {solver.name for solver in solvers}
    report = Report(
        contest=contest,
        solvers=list(all_solvers(contest.cores, request.device).values()),
        points=found,
        scale=scale,
        left_out=[*map(str, desk.left_out), *hidden],
        command=request.command(everybody=bool(others)),
    )
    _tell(report, request.out)
    return INTERRUPTED if not whole else FAILED if desk.failed or not found else 0


def _measured(
    contest: Contest, solvers: Sequence[Solver], times: Sequence[float], desk: "_Desk", file: RowsFile
) -> bool:
    """Fill the desk; False where that was interrupted."""
    interrupts = Interrupts()
    try:
        with interrupts, Bar(contest.name) as bar:

            def show(fraction: float, solver: str, detail: str) -> None:
                bar.show(fraction, detail, title=solver)
                interrupts.obey()

            for found in measure(contest, solvers, times, list(desk.rows), show):
                desk.take(found, file)
    except KeyboardInterrupt:
        note(f"interrupted: {len(desk.rows)} rows are in {file.path}, and the same command goes on from there")
        return False
    return True


@dataclass
class _Desk:
    """Takes rows as they are measured."""

    rows: list[PeerRow]
    left_out: list[LeftOut]
    as_json: bool
    failed: bool = False

    def __post_init__(self) -> None:
        for row in self.rows:
            self._emit(asdict(row))

    def take(self, found: PeerRow | LeftOut, file: RowsFile) -> None:
        """Keep it at once."""
        if isinstance(found, LeftOut):
            note(f"left out: {found}")
            self.left_out.append(found)
            self._emit({"solver": found.solver, "asked_s": found.asked_s, "left_out": found.reason})
            return
        file.add(found)
        self.rows.append(found)
        self._emit(asdict(found))

    def _emit(self, record: dict[str, object]) -> None:
        if self.as_json and not emit(json.dumps(record)):
            self.failed = True


def _kept(file: RowsFile, contest: Contest) -> list[PeerRow]:
    """Rows of an earlier call; those of other instances would be mixed up with these."""
    rows = file.read()
    prints = {part.name: part.fingerprint for part in contest.rounds}
    for row in rows:
        if prints.get(row.instance, row.fingerprint) != row.fingerprint or (contest.of_one_set and row.instance):
            raise InputError(f"{file.path}: holds rows of other instances (--limit is one reason): name another --out")
    return [row for row in rows if row.instance in prints]


def _tell(report: Report, out: Path) -> None:
    paths = report.write(out)
    show_table(COLUMNS, [cells(point) for point in report.points], texts=3)
    for text in report.notes()[1:]:
        note(text.replace("**", ""))
    note(f"wrote {', '.join(str(path) for path in paths)}")


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"seconds holds {shown(text)}, not a positive number")
    return value


def _plain(text: str) -> str:
    """NAME=FILE without the folders of this machine."""
    solver, _, path = text.rpartition("=")
    return f"{solver}={Path(path).name}" if solver else Path(path).name
