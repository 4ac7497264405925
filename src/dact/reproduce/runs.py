"""Searches over sets. Finished blocks are kept, so that the same call continues an interrupted one."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dact.evaluation import Evaluation, evaluate
from dact.evaluation.evaluate import SHARED_ROWS
from dact.instances import InstanceSet
from dact.pipeline import SolveConfig
from dact.reproduce.base import Request

FOLDER = "runs"


@dataclass(frozen=True, kw_only=True)
class SetSearch:
    """One search over one set."""

    name: str
    """Of its file, without the extension."""
    instances: InstanceSet
    config: SolveConfig

    @property
    def work(self) -> float:
        """Roughly proportional to its duration, for the progress bar."""
        length = int(self.instances.coordinates.shape[1])
        return float(len(self.instances) * length * self.config.augment * (self.config.steps or 1))


@dataclass(frozen=True)
class Done:
    """Result of a search, and the total duration of the calls that worked on it."""

    run: SetSearch
    found: Evaluation
    seconds: float | None
    """None if unknown: a process was killed, or several shared the work."""

    @property
    def complete(self) -> bool:
        """Are all instances solved?"""
        return self.found.instances == len(self.run.instances)


def do(study: str, runs: Sequence[SetSearch], request: Request, *, timed: bool = False) -> list[Done]:
    """Evaluate the searches in order; finished blocks are kept in `runs/`, in a file per search.

    With `timed`, kernels are compiled before the first search that needs them, so that no search's time has it.
    """
    folder = runs_folder(study, request)
    folder.mkdir(parents=True, exist_ok=True)
    total, before, done = sum(run.work for run in runs), 0.0, []
    warm: set[tuple[object, ...]] = set()
    for run in runs:
        key = run.instances.name, run.config.search, run.config.weights
        if timed and key not in warm and _lines(folder / f"{run.name}.jsonl") < len(run.instances):
            request.progress(before / total, f"{run.name}: compiling")
            evaluate(run.instances.take(slice(SHARED_ROWS)), replace(run.config, steps=1, augment=1))
            warm.add(key)
        done.append(_do_one(run, folder, request, (before / total, run.work / total)))
        before += run.work
    return done


def runs_folder(study: str, request: Request) -> Path:
    """Where the finished blocks of a reproduction are kept."""
    parts = [study, "quick" if request.quick else ""]
    parts += [f"instances{request.instances}" if request.instances else ""]
    parts += [f"seeds{request.seeds}" if request.seeds else ""]
    return request.out / FOLDER / "-".join(part for part in parts if part)


def _do_one(run: SetSearch, folder: Path, request: Request, share: tuple[float, float]) -> Done:
    file, times = folder / f"{run.name}.jsonl", folder / f"{run.name}.times"
    kept, started, (before, part) = _lines(file), time.perf_counter(), share

    def progress(fraction: float, cost: float) -> None:
        request.progress(before + fraction * part, f"{run.name}: mean cost {cost:,.6g}")

    try:
        found = evaluate(run.instances, run.config, out=file, shard=request.shard, progress=progress)
    finally:
        if solved := _lines(file) - kept:
            with times.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({"solved": solved, "seconds": time.perf_counter() - started}) + "\n")
    return Done(run, found, _seconds(times, found.instances))


def _seconds(times: Path, instances: int) -> float | None:
    """Total duration of all calls; None if they do not account for all instances."""
    calls = [json.loads(line) for line in times.read_text(encoding="utf-8").splitlines()] if times.exists() else []
    return sum(call["seconds"] for call in calls) if sum(call["solved"] for call in calls) == instances else None


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def device_of(done: Sequence[Done]) -> str:
    """Kind of device of the searches."""
    return done[0].found.config.torch_device().type


def unfinished(done: Sequence[Done]) -> tuple[str, ...]:
    """A sentence for each search of which other shards are still missing."""
    return tuple(
        f"{each.run.name}: {each.found.instances:,} of {len(each.run.instances):,} instances; other shards are missing"
        for each in done
        if not each.complete
    )
