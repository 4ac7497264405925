"""Requests of the page, and their limits."""

import base64
import binascii
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from dact.instances import InputError, InputWarning, Instance, Start, read, read_start
from dact.instances.errors import naming, shown
from dact.pipeline import SolveConfig
from dact.plotting import whole_costs
from dact.plotting.routes import NO_MAP, map_points

MAX_BODY = 8 * 2**20
"""Largest request, in bytes."""
MAX_FILE = MAX_BODY * 3 // 4 - 2**10
"""Largest file, in bytes: base64 adds a third."""
MAX_NODES = 2000
MAX_SECONDS = 600
MAX_WALKS = 64
MAX_NAME = 100
"""Characters of a file's name."""
_CATCHING = Lock()
"""Catching warnings is not thread-safe, so files are read one at a time."""


class Content(BaseModel):
    """The name of a file and what is in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1, max_length=MAX_NAME)
    data: str
    """In base64."""

    def write(self, folder: Path) -> Path:
        """Write the file into a folder."""
        name = Path(self.name.replace("\\", "/")).name
        if not name.isprintable() or name.startswith("."):
            raise InputError(f"{shown(self.name)} is no name for a file")
        try:
            content = base64.b64decode(self.data, validate=True)
        except (binascii.Error, ValueError):
            raise InputError("data is not in base64") from None
        folder.mkdir()
        path = folder / name
        try:
            path.write_bytes(content)
        except (OSError, ValueError):
            # Too long in bytes, or a folder.
            raise InputError(f"{shown(self.name)} is no name for a file") from None
        return path


@dataclass(frozen=True)
class SolveTask:
    """What a request asks to be solved."""

    instance: Instance
    start: Start | None
    """An earlier solution to start from, repaired where needed."""
    notes: tuple[str, ...]
    """Warnings about the files, and repairs of the start."""


class File(Content):
    """A file dropped onto the page. Clicked nodes are sent as a CSV file."""

    capacity: float | None = None
    """For CSV files that state none."""
    demand_unit: float | None = None
    """For CSV files with decimal demands."""
    vehicles: int | None = Field(default=None, ge=1, le=MAX_NODES)
    """The most routes; None: as the file says."""
    matrix: Content | None = None
    """Distances between the nodes of a CSV file."""
    start: Content | None = None
    """An earlier solution to start from."""

    def read(self) -> SolveTask:
        """The files as `dact solve` reads them; InputError names the file."""
        with TemporaryDirectory(prefix="dact-page-") as folder:
            try:
                return self._read(Path(folder))
            except InputError as error:
                raise InputError(_for_page(str(error), folder)) from None

    def _read(self, folder: Path) -> SolveTask:
        path = self.write(folder / "instance")
        matrix = None if self.matrix is None else self.matrix.write(folder / "matrix")
        instance, notes = _read(path, capacity=self.capacity, demand_unit=self.demand_unit, matrix=matrix)
        with naming(path):
            instance = instance if self.vehicles is None else instance.with_vehicles(self.vehicles)
        start = None
        if self.start is not None:
            path = self.start.write(folder / "start")
            start = read_start(path, instance)
            notes += [f"{path}: {repair}." for repair in start.repairs]
        return SolveTask(instance, start, tuple(_for_page(note, str(folder)) for note in notes))

    @classmethod
    def parse(cls, body: bytes) -> Self:
        """From the JSON of a request; ValueError describes the first mistake."""
        try:
            return cls.model_validate_json(body)
        except ValidationError as error:
            raise InputError(_mistake(error)) from None


class Order(File):
    """A file to solve, and how."""

    search: Literal["hybrid", "policy"] = "hybrid"
    seconds: float = Field(default=10.0, gt=0, le=MAX_SECONDS)
    walks: int = Field(default=0, ge=0, le=MAX_WALKS)
    """Walks of the hybrid search (0: as many as fill the device), or augmentations of the policy search."""
    seed: int = Field(default=0, ge=0, lt=2**31)

    def config(self) -> SolveConfig:
        """The settings of the search."""
        side_by_side = {"augment": max(1, self.walks)} if self.search == "policy" else {"walks": self.walks}
        return SolveConfig.flat(search=self.search, time_limit=self.seconds, seed=self.seed, **side_by_side)


def _read(
    path: Path, *, capacity: float | None, demand_unit: float | None, matrix: Path | None
) -> tuple[Instance, list[str]]:
    with _CATCHING, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        instance = read(path, capacity=capacity, demand_unit=demand_unit, matrix=matrix, max_nodes=MAX_NODES)
    return instance, [str(each.message) for each in caught if issubclass(each.category, InputWarning)]


def _mistake(error: ValidationError) -> str:
    """The first mistake in a request: its field and, where it is a number or a word, its value."""
    first = error.errors()[0]
    place, given = ".".join(map(str, first["loc"])) or "the request", first["input"]
    if first["type"] == "extra_forbidden":
        return f"there is no field {shown(place)} in this request"
    told = bool(first["loc"]) and isinstance(given, str | int | float)
    return f"{place} is {shown(given)}: {first['msg']}" if told else f"{place}: {first['msg']}"


def _for_page(text: str, folder: str) -> str:
    """A message without folders of the server and without settings that the page does not have."""
    text = re.sub(rf"{re.escape(folder)}/\w+/", "", text).replace(" (max_nodes allows more)", "")
    return text.replace("give one (--capacity)", "fill in the field Capacity")


def limits() -> dict[str, int]:
    """Limits that the page checks before it sends a request."""
    return {"bytes": MAX_FILE, "nodes": MAX_NODES, "seconds": MAX_SECONDS, "walks": MAX_WALKS}


def described(instance: Instance, notes: Sequence[str] = ()) -> dict[str, Any]:
    """The instance as JSON for the page."""
    return {
        "notes": [*notes, *([f"{instance.name}: {NO_MAP}."] if instance.coordinates is None else [])],
        "name": instance.name,
        "title": instance.facts.title,
        "points": map_points(instance).tolist(),
        "labels": [instance.label(index) for index in range(instance.size)],
        "titles": [instance.title(index) for index in range(instance.size)],
        "depot": instance.facts.depot,
        "returns": instance.facts.returns,
        "demand": np.round(instance.demand * instance.demand_unit, 9).tolist(),
        "capacity": round(instance.capacity * instance.demand_unit, 9) if instance.facts.capacity else None,
        "vehicles": instance.vehicles,
        "whole": whole_costs(instance),
        "kilometres": instance.kilometres,
        "best_known": instance.best_known,
        "suffix": instance.facts.suffix,
    }
