"""Finished answers of a run into a folder, kept in a file there, so that an interrupted run can be continued."""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from dact.instances import InputError, Instance
from dact.instances.files import read_text

NAME = "dact-unfinished.jsonl"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is printed for a finished answer."""

    record: dict[str, Any]
    row: tuple[str, ...]
    summary: dict[str, Any]


class Kept:
    """A file with a line per finished instance, keyed by instance and settings. Deleted when the run is complete."""

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / NAME

    def entries(self, keys: Iterable[str]) -> dict[int, Entry]:
        """Entries of an earlier run, by the index of their key."""
        try:
            lines = read_text(self._path).splitlines() if self._path else []
        except InputError:
            return {}
        known = dict(found for line in lines if (found := _parsed(line)))
        return {place: known[key] for place, key in enumerate(keys) if key in known}

    def add(self, key: str, entry: Entry) -> None:
        """Add an entry. Errors are ignored: the instance would be solved again."""
        if self._path is not None:
            with suppress(OSError), self._path.open("a", encoding="utf-8") as stream:
                # The last line may be truncated by a kill; start a new one.
                stream.write("\n" + json.dumps({"key": key, **vars(entry)}) + "\n")

    def finish(self) -> None:
        """Delete the file: the run is complete."""
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def key_of(instance: Instance, settings: str) -> str:
    """Hash of an instance and its settings."""
    digest = sha256(
        f"{instance.name}|{instance.problem}|{instance.rule}|{instance.names}|{settings}".encode(errors="replace")
    )
    digest.update(f"|{instance.capacity}|{instance.vehicles}|{instance.best_known}|{instance.demand_unit}".encode())
    for array in (instance.coordinates, instance.matrix, instance.node_ids, instance.demand):
        digest.update(b"-" if array is None else array.tobytes())
    return digest.hexdigest()


def _parsed(line: str) -> tuple[str, Entry] | None:
    try:
        content = json.loads(line)
        row, parts = content["row"], (content["record"], content["summary"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not isinstance(row, list) or not all(isinstance(part, dict) for part in parts):
        return None
    return str(content["key"]), Entry(record=parts[0], row=tuple(str(cell) for cell in row), summary=parts[1])
