"""Where answers go, settled before the search so that none is lost after it, and no input is overwritten."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile

from dact.instances import InputError, Instance
from dact.instances.errors import shown
from dact.instances.solutions import suffixes_for
from dact.plotting import FORMATS, MOVING_FORMATS, check_moving

Named = tuple[str, Path]
"""A file, and what it is: an option, or "the input"."""
INPUT, START = "the input", "--start"
MAY_REPLACE = ("--out", START)
"""An answer may replace the solution that it improves: that was read before, and the new one is written at once."""


def check_apart(outputs: Iterable[Named], inputs: Iterable[Named]) -> None:
    """Refuse outputs that would overwrite an input, and two outputs that are one file."""
    read: dict[object, list[Named]] = {}
    for what, path in inputs:
        read.setdefault(_identity(path), []).append((what, path))
    written: dict[object, Named] = {}
    for option, path in outputs:
        identity = _identity(path)
        for what, given in read.get(identity, ()):
            if (option, what) != MAY_REPLACE:
                raise InputError(f"{option} {path} would overwrite {what} {given}: name another file")
        if identity in written:
            other, given = written[identity]
            raise InputError(f"{option} {path} and {other} {given} are one file: name two")
        written[identity] = option, path


def _identity(path: Path) -> object:
    """The same for all names of a file, through links, and whether it is there yet or not."""
    try:
        about = path.stat()
        return about.st_dev, about.st_ino
    except OSError:
        return os.path.realpath(path)
    except ValueError:
        # No file has such a name, in this system's encoding or at all.
        return path


def solution_targets(path: Path | None, instances: Sequence[Instance], out_format: str = "") -> list[Path] | None:
    """A solution file for each instance: the one named, or one of its own in the folder named, in this format."""
    if out_format and (path is None or (path.suffix and not path.is_dir())):
        given = "" if path is None else f", not with {path}"
        raise InputError(f"--out-format {shown(out_format)} goes with a folder as --out{given}")
    if path is None:
        return None
    own = [_suffix(instance, out_format) if out_format else instance.facts.suffix for instance in instances]
    return _targets("--out", path, instances, own, suffixes_for(instances[0]))


def _suffix(instance: Instance, out_format: str) -> str:
    known = suffixes_for(instance)
    suffix = "." + out_format.lower().lstrip(".")
    if suffix not in known:
        names = " or ".join(each[1:] for each in known)
        raise InputError(
            f"--out-format {shown(out_format)} does not hold answers of {shown(instance.name)}: {names} do"
        )
    return suffix


def plot_targets(path: Path | None, instances: Sequence[Instance]) -> list[Path] | None:
    """A picture for each instance, likewise."""
    return None if path is None else _targets("--plot", path, instances, [".png"] * len(instances), FORMATS)


def film_targets(path: Path | None, instances: Sequence[Instance]) -> list[Path] | None:
    """A moving picture for each instance, likewise."""
    if path is None:
        return None
    targets = _targets("--animate", path, instances, [".gif"] * len(instances), MOVING_FORMATS)
    check_moving(targets[0])
    return targets


def check_file(option: str, path: Path, suffixes: Sequence[str]) -> None:
    """Refuse a file that could not be written later, and create its folder."""
    _check_name(option, path)
    if path.is_dir():
        raise InputError(f"{option} {path} is a folder, not a file")
    if path.suffix.lower() not in suffixes:
        raise InputError(f"{option} {path} does not end in {' or '.join(suffixes)}")
    check_folder(option, path.parent)


def _targets(
    option: str, path: Path, instances: Sequence[Instance], own_suffixes: Sequence[str], suffixes: Sequence[str]
) -> list[Path]:
    _check_name(option, path)
    if path.suffix and not path.is_dir():
        if len(instances) > 1:
            raise InputError(f"{option} {path} is one file, but {len(instances)} instances are solved: name a folder")
        check_file(option, path, suffixes)
        return [path]
    check_folder(option, path)
    names = [f"{instance.name}{suffix}" for instance, suffix in zip(instances, own_suffixes, strict=True)]
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise InputError(f"{option} {path} would get {times} files named {name}: solve them apart")
    for name in names:
        _check_name(option, path / name)
        if (path / name).is_dir():
            raise InputError(f"{option} {path / name} is a folder, not a file")
    return [path / name for name in names]


def _check_name(option: str, path: Path) -> None:
    """Names may be too long, or not in the encoding of this system. A dash would be meant for stdout."""
    if str(path) == "-":
        raise InputError(f"{option} - would be a file called '-', not stdout: name another")
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise InputError(f"{option}: {shown(str(path))} is no name for a file ({error.strerror})") from None
    except UnicodeEncodeError:
        raise InputError(f"{option}: {shown(str(path))} is not in the encoding of this system") from None


def check_folder(option: str, folder: Path) -> None:
    """Refuse a folder in which nothing can be written, and create it."""
    _check_name(option, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except (FileExistsError, NotADirectoryError):
        file = next((each for each in (folder, *folder.parents) if each.exists()), folder)
        raise InputError(f"{option}: nothing can be written in {file}, which is a file, not a folder") from None
    except OSError as error:
        raise InputError(f"{option}: nothing can be written in {folder} ({error.strerror})") from None
