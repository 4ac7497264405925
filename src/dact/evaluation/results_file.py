"""Results on disk: a line of JSON per instance, appended block by block, so that a run can be continued."""

import json
import math
import os
import tempfile
from dataclasses import dataclass, replace
from hashlib import sha256
from io import SEEK_END, FileIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dact.instances import InputError, InstanceSet
from dact.instances.errors import naming
from dact.instances.files import read_bytes
from dact.pipeline import SolveConfig
from dact.policy import Weights
from dact.search import settled_precision


class Solved(NamedTuple):
    """Costs of an instance and its share of its block's time, each at the marks and at the end of the search."""

    costs: tuple[float, ...]
    seconds: tuple[float, ...]
    """NaN in files from before they were kept."""


Results = dict[int, Solved]
"""By the instance's index in the set."""
DRAWS = "a stream for each row"
"""Version of the random numbers: files of another version are not continued."""
BEGINS = b'{"instance": '
"""Start of every line, including truncated ones."""


def fingerprint(
    instances: InstanceSet, weights: Weights | None, config: SolveConfig, rows: int, marks: tuple[int, ...]
) -> str:
    """Hash of everything that decides the results: instances, weights, settings, kind of device, rows at once, and the
    marks."""
    device = config.torch_device()
    precision = settled_precision(config.precision, device)
    settings = replace(config, weights=None, device=device.type)
    digest = sha256(repr((instances.problem, instances.rule, settings, precision, rows, DRAWS, *marks)).encode())
    tensors = [] if weights is None else [x.cpu().numpy() for x in weights.policy.state_dict().values()]
    for array in (instances.coordinates, instances.demand, instances.capacity, *tensors):
        digest.update(repr(array.shape).encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


@dataclass(frozen=True)
class ResultsFile:
    """Blocks are appended by a single write, so that several processes can share a file."""

    path: Path
    run: str
    """The fingerprint that every line carries."""
    marks: tuple[int, ...] = ()

    def read(self) -> Results:
        """The results so far; a truncated line, left by a killed process, is ignored."""
        if not self.path.exists() or (self.path.is_file() and not self.path.stat().st_size):
            return {}
        with naming(self.path):
            lines = read_bytes(self.path).splitlines()
        whole = ((number, line) for number, line in enumerate(lines, start=1) if line and not _cut_short(line))
        return dict(self._parsed(number, line) for number, line in whole)

    def add(self, results: Results, instances: InstanceSet) -> None:
        """Append a block, on a new line if the last one is truncated."""
        block = "".join(
            json.dumps(self._line(place, solved, instances.reference_cost)) + "\n" for place, solved in results.items()
        ).encode()
        fault = _append(self.path, block)
        if fault:
            rescue = Path(tempfile.gettempdir()) / f"dact-rescue-{os.getpid()}.jsonl"
            saved = "its last block is lost" if _append(rescue, block) else f"its last block was saved in {rescue}"
            raise InputError(f"{self.path}: cannot be written ({fault}): {saved}")

    def _line(self, place: int, solved: Solved, known: np.ndarray | None) -> dict[str, object]:
        """No objects inside: the first brace that closes ends the line."""
        *at_marks, (cost, seconds) = zip(*solved, strict=True)
        marks = [[steps, *each] for steps, each in zip(self.marks, at_marks, strict=True)]
        line = {"instance": place, "cost": cost, "reference": _number(known, place), "seconds": seconds}
        return line | ({"marks": marks} if marks else {}) | {"run": self.run}

    def _parsed(self, number: int, line: bytes) -> tuple[int, Solved]:
        try:
            result = json.loads(line)
            place, run = int(result["instance"]), result["run"]
            found = [*result.get("marks", ()), (None, result["cost"], result.get("seconds", math.nan))]
            costs, seconds = (tuple(float(each[item]) for each in found) for item in (1, 2))
            if place < 0 or not all(map(math.isfinite, costs)):
                raise ValueError
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError):
            raise InputError(f"{self.path}: line {number} is not a result of `dact evaluate`") from None
        if run != self.run or len(costs) != len(self.marks) + 1:
            raise InputError(
                f"{self.path}: line {number} is a result for another set, other weights or other settings "
                "(--rows is one): name another file"
            )
        return place, Solved(costs, seconds)


def _cut_short(line: bytes) -> bool:
    """Is the line a truncated line of ours?"""
    return (line.startswith(BEGINS) or BEGINS.startswith(line)) and not line.endswith(b"}")


def _append(path: Path, block: bytes) -> str:
    """Append lines by a single write; returns the error, if any."""
    try:
        with path.open("ab+", buffering=0) as stream:
            if stream.tell() and not _ends_a_line(stream):
                block = b"\n" + block
            written = stream.write(block)
    except OSError as error:
        return error.strerror or type(error).__name__
    return "" if written == len(block) else f"only {written} of {len(block)} bytes were taken"


def _ends_a_line(stream: FileIO) -> bool:
    stream.seek(-1, SEEK_END)
    return stream.read(1) == b"\n"


def _number(costs: np.ndarray | None, place: int) -> float | None:
    """The reference cost, where there is one: JSON has no NaN."""
    return None if costs is None or np.isnan(costs[place]) else float(costs[place])
