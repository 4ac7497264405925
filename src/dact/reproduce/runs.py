"""Searches over sets in blocks that are kept: the same call goes on where an interrupted one ended."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dact.evaluation import Evaluation, evaluate
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
        """Roughly proportional to its time: for the progress bar."""
        length = int(self.instances.coordinates.shape[1])
        return float(len(self.instances) * length * self.config.augment * (self.config.steps or 1))


@dataclass(frozen=True)
class Done:
    """What a run found, and the seconds of all calls that worked on it."""

    run: SetSearch
    found: Evaluation
    seconds: float | None
    """None where it is not known, as after a process was killed or where several shared the work."""

    @property
    def complete(self) -> bool:
        """Are all instances solved?"""
        return self.found.instances == len(self.run.instances)


def do(study: str, runs: Sequence[SetSearch], request: Request) -> list[Done]:
    """Evaluate them in order; finished blocks are in `runs/`, in a file for each run."""
    folder = runs_folder(study, request)
    folder.mkdir(parents=True, exist_ok=True)
    total, before, done = sum(run.work for run in runs), 0.0, []
    for run in runs:
        done.append(_do_one(run, folder, request, (before / total, run.work / total)))
        before += run.work
    return done


def runs_folder(study: str, request: Request) -> Path:
    """Where the finished blocks of a reproduction are kept."""
    return request.out / FOLDER / (f"{study}-quick" if request.quick else study)


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
    """The time of all calls, if they account for all instances."""
    calls = [json.loads(line) for line in times.read_text(encoding="utf-8").splitlines()] if times.exists() else []
    return sum(call["seconds"] for call in calls) if sum(call["solved"] for call in calls) == instances else None


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def device_of(done: Sequence[Done]) -> str:
    """The kind of device that they ran on."""
    return done[0].found.config.torch_device().type


def unfinished(done: Sequence[Done]) -> tuple[str, ...]:
    """A sentence for each run whose other shards are not there yet."""
    return tuple(
        f"{each.run.name}: {each.found.instances:,} of {len(each.run.instances):,} instances; other shards are missing"
        for each in done
        if not each.complete
    )
