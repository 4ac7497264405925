"""Inputs of `dact solve`, `evaluate` and `train`, read before PyTorch, which takes seconds to load, is imported."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from os.path import exists, lexists
from pathlib import Path

from dact import cards, settings
from dact.cli.answers import is_answer
from dact.cli.screen import note
from dact.cli.targets import INPUT, START, Named
from dact.instances import STARTS, InputError, Instance, InstanceSet, Start, read, read_best_known, read_set, read_start
from dact.instances.errors import NoDemandsError, naming, plural
from dact.instances.reading import SET_PARSERS, TABLE_SUFFIXES

IN_FOLDERS = (".tsp", ".vrp", ".csv", ".tsv", ".xlsx", ".npy", ".npz")
"""Extensions that are read from a folder. Others, such as .txt, may be anything."""
PASSED_OVER = (".", "~$")
"""How names of files begin that nobody means by a folder or a pattern: hidden ones, and Excel's locks."""
TOLD = 5
"""Names in a note."""


@dataclass(frozen=True, kw_only=True)
class InputRequest:
    """What to solve."""

    files: tuple[Path, ...]
    start: str = "greedy"
    """One of STARTS, or a file."""
    rounding: str | None = None
    capacity: float | None = None
    demand_unit: float | None = None
    matrix: Path | None = None
    vehicles: int | None = None
    best_known: Path | None = None
    max_nodes: int


@dataclass(kw_only=True)
class Inputs:
    """Instances of all readable files, and errors of the others."""

    instances: list[Instance] = field(default_factory=list)
    start: Start | None = None
    """An earlier solution to start from."""
    faults: list[InputError] = field(default_factory=list)
    sources: list[Named] = field(default_factory=list)
    """Files that must not be overwritten."""


def read_inputs(request: InputRequest) -> Inputs:
    """Read every file. If none can be read, the first error is raised."""
    files = _files(request.files)
    found = _read_each(files, request)
    inputs = Inputs(
        instances=[instance for each in found if not isinstance(each, InputError) for instance in each],
        faults=[each for each in found if isinstance(each, InputError)],
        sources=[(INPUT, file) for file in files] + _beside(request),
    )
    if not inputs.instances:
        raise inputs.faults[0]
    if request.best_known is not None:
        inputs.instances = _compared(inputs.instances, request.best_known)
    inputs.start = _given_start(request.start, inputs.instances)
    return inputs


def _read_each(files: list[Path], request: InputRequest) -> list[list[Instance] | InputError]:
    """The instances of each file, or what is wrong with it.

    Files that take neither a capacity nor a demand unit are read without them, unless no file is a table that does.
    """
    found = [_attempt(file, request) for file in files]
    refused = {place: each for place, each in enumerate(found) if isinstance(each, NoDemandsError)}
    options = {"--capacity": request.capacity, "--demand-unit": request.demand_unit}
    given = [option for option, value in options.items() if value is not None]
    if not refused or not given:
        return found
    # A table that cannot be read may take them.
    if not any(file.suffix.lower() in TABLE_SUFFIXES for place, file in enumerate(files) if place not in refused):
        raise next(iter(refused.values()))
    for place in refused:
        found[place] = _attempt(files[place], replace(request, capacity=None, demand_unit=None))
    if without := [files[place] for place in refused if not isinstance(found[place], InputError)]:
        _say_without(given, without)
    return found


def _attempt(file: Path, request: InputRequest) -> list[Instance] | InputError:
    try:
        return read_instances(file, request)
    except InputError as error:
        return error


def _say_without(options: list[str], files: list[Path]) -> None:
    """Name files that options do not apply to."""
    do, them = ("does", "it") if len(options) == 1 else ("do", "them")
    which = f"which {'is' if len(files) == 1 else 'are'} read without {them}"
    note(f"note: {' and '.join(options)} {do} not apply to {_listed(files)}, {which}")


def _listed(files: Sequence[Path]) -> str:
    """The first files by their paths, and how many more there are."""
    more = len(files) - TOLD
    return ", ".join(map(str, files[:TOLD])) + (f" and {more} {plural(more, 'other')}" if more > 0 else "")


@dataclass(frozen=True, kw_only=True)
class SetRequest:
    """A set to evaluate, or a part of it."""

    file: Path
    max_nodes: int
    limit: int | None
    """Only this many instances."""
    shard: str

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise InputError(f"limit {self.limit} is below 1")
        parse_shard(self.shard)

    def read(self) -> InstanceSet:
        """The set, or the first ones of it."""
        with no_option_for_capacity():
            return read_set(self.file, max_nodes=self.max_nodes).take(slice(self.limit))


@contextmanager
def no_option_for_capacity() -> Iterator[None]:
    """Leave --capacity out of messages: the command does not have it."""
    try:
        yield
    except InputError as error:
        raise InputError(str(error).replace(", or give one (--capacity)", "")) from None


def parse_shard(text: str) -> tuple[int, int]:
    """'2/4' to (2, 4)."""
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    if match is None:
        raise InputError(f"shard '{text}' is not of the form 1/4")
    place, count = int(match[1]), int(match[2])
    if not 1 <= place <= count:
        raise InputError(f"shard {text} is not one of 1/{count or 1} to {count or 1}/{count or 1}")
    return place, count


def read_instances(file: Path, request: InputRequest) -> list[Instance]:
    """The instances of a file, named by its stem, with the rounding asked for."""
    asked = (request.capacity, request.demand_unit, request.matrix)
    if file.suffix.lower() in SET_PARSERS and asked == (None, None, None):
        members = list(read_set(file, max_nodes=request.max_nodes))
    else:  # which refuses what is asked of a set
        members = [
            read(
                file,
                capacity=request.capacity,
                demand_unit=request.demand_unit,
                matrix=request.matrix,
                max_nodes=request.max_nodes,
            )
        ]
    with naming(file):
        if request.rounding is not None:
            members = [member.with_rounding(request.rounding) for member in members]
        if request.vehicles is not None:
            members = [member.with_vehicles(request.vehicles) for member in members]
    return members if len(members) > 1 else [replace(members[0], name=file.stem)]


@dataclass(frozen=True, kw_only=True)
class TrainRequest:
    """Arguments of `dact train`."""

    config: Path | None
    minutes: float | None
    resume: Path | None
    init: str | None
    out: Path | None
    settings: tuple[str, ...]
    tensorboard: bool

    def __post_init__(self) -> None:
        if self.minutes is not None and not self.minutes >= 0:
            raise InputError(f"minutes {self.minutes} is not a number from 0 on")
        if self.resume is not None and (self.out is not None or self.init is not None):
            raise InputError("a run that goes on has its folder and weights already: leave out --out and --init")
        cards.check_early(self.init)
        if self.config is not None:
            settings.check_early(self.config, self.settings)


def _beside(request: InputRequest) -> list[Named]:
    """Files that are read besides the instances."""
    given = {"--matrix": request.matrix, "--best-known": request.best_known}
    start = [] if request.start in STARTS else [(START, Path(request.start))]
    return [(option, path) for option, path in given.items() if path is not None] + start


def _files(given: Iterable[Path]) -> list[Path]:
    """Files as they are named, those of a folder or of a pattern in the order of their names; without answers that
    `dact solve` has left among them."""
    every = [file for path in given for file in _members(path)]
    found = [file for file in every if not is_answer(file)]
    if every and not found:
        raise InputError(f"{every[0]}: is an answer of `dact solve`, not an instance")
    answers = sorted({*every} - {*found})
    if answers:
        note(f"skipped, written by `dact solve` itself: {_listed(answers)}")
    return found


def _members(path: Path) -> Sequence[Path]:
    try:
        if path.is_dir():
            every = (each for each in path.iterdir() if each.suffix.lower() in IN_FOLDERS and each.is_file())
            found = sorted(each for each in every if not each.name.startswith(PASSED_OVER))
            if not found:
                raise InputError(f"{path}: holds no file that ends in {', '.join(IN_FOLDERS)}")
            return found
        if has_magic(str(path)) and not lexists(path):
            every = (Path(each) for each in glob(str(path), recursive=True))
            found = sorted(each for each in every if not each.name.startswith(PASSED_OVER))
            if not found:
                raise InputError(f"{path}: no file has a name like this")
            return found
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
    # Errors are reported when the file is read.
    return [path]


def _compared(instances: list[Instance], path: Path) -> list[Instance]:
    """The instances with the values of the file, by their names."""
    values = read_best_known(path)
    if not any(instance.name.lower() in values for instance in instances):
        raise InputError(f"{path}: has a value for none of the instances, '{instances[0].name}' the first of them")
    return [replace(each, best_known=values.get(each.name.lower(), each.best_known)) for each in instances]


def _given_start(start: str, instances: list[Instance]) -> Start | None:
    """The start from a file, repaired if needed; None for "greedy" and "random"."""
    if start in STARTS:
        return None
    path = Path(start)
    if not path.suffix and not exists(path):
        raise InputError(f"start '{start}' is neither {' nor '.join(STARTS)} nor a solution file")
    if len(instances) > 1:
        raise InputError(f"the start {path} goes with one instance, but {len(instances)} are solved")
    given = read_start(path, instances[0])
    for repair in given.repairs:
        note(f"{path}: {repair}")
    return given
