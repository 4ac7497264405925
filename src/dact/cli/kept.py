"""Finished answers of a run that may be interrupted, in a file of its folder, so that the same command goes on."""

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
    """What is shown of an answer that is in its file already."""

    record: dict[str, Any]
    row: tuple[str, ...]
    summary: dict[str, Any]


class Kept:
    """A line for each finished instance, known by what was solved and how. The file goes when the run is complete."""

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / NAME

    def entries(self, keys: Iterable[str]) -> dict[int, Entry]:
        """Those of an earlier run, by the places of their keys."""
        try:
            lines = read_text(self._path).splitlines() if self._path else []
        except InputError:
            return {}
        known = dict(found for line in lines if (found := _parsed(line)))
        return {place: known[key] for place, key in enumerate(keys) if key in known}

    def add(self, key: str, entry: Entry) -> None:
        """Where it cannot be written, the instance is solved again."""
        if self._path is not None:
            with suppress(OSError), self._path.open("a", encoding="utf-8") as stream:
                # A line that a kill has cut short must not take this one with it.
                stream.write("\n" + json.dumps({"key": key, **vars(entry)}) + "\n")

    def finish(self) -> None:
        """The run is complete."""
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)


def key_of(instance: Instance, settings: str) -> str:
    """What was solved and how."""
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
