"""Inputs of `dact solve`: files, folders and patterns, and best known values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from os.path import lexists
from pathlib import Path

from dact.instances import InputError, Instance, read, read_best_known, read_set
from dact.instances.errors import naming
from dact.instances.reading import SET_PARSERS

IN_FOLDERS = (".tsp", ".vrp", ".csv", ".npy", ".npz")
"""Extensions that are read from a folder. Others, such as .txt, may be anything."""


@dataclass(frozen=True, kw_only=True)
class InputRequest:
    """What to solve."""

    files: tuple[Path, ...]
    start: str
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
    faults: list[InputError] = field(default_factory=list)


def read_inputs(request: InputRequest) -> Inputs:
    """Read every file. If none can be read, the first error is raised."""
    inputs = Inputs()
    for file in _files(request.files):
        try:
            inputs.instances += read_instances(file, request)
        except InputError as error:
            inputs.faults.append(error)
    if not inputs.instances:
        raise inputs.faults[0]
    if request.best_known is not None:
        inputs.instances = _compared(inputs.instances, request.best_known)
    return inputs


def read_instances(file: Path, request: InputRequest) -> list[Instance]:
    """The instances of a file, named by its stem, with the rounding asked for."""
    if file.suffix.lower() in SET_PARSERS:
        members = list(read_set(file, capacity=request.capacity, max_nodes=request.max_nodes))
    else:
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


def _files(given: Iterable[Path]) -> list[Path]:
    """Files as they are named; those of a folder or of a pattern in the order of their names."""
    return [file for path in given for file in _members(path)]


def _members(path: Path) -> Sequence[Path]:
    try:
        if path.is_dir():
            found = sorted(each for each in path.iterdir() if each.suffix.lower() in IN_FOLDERS and each.is_file())
            if not found:
                raise InputError(f"{path}: holds no file that ends in {', '.join(IN_FOLDERS)}")
            return found
        if has_magic(str(path)) and not lexists(path):
            found = sorted(Path(each) for each in glob(str(path), recursive=True))
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
