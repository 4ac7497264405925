"""Searches over sets. Finished blocks are kept, so that the same call continues an interrupted one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dact.evaluation import EmptyShardError, Evaluation, evaluate
from dact.evaluation.evaluate import SHARED_ROWS
from dact.instances import InstanceSet
from dact.pipeline import SolveConfig
from dact.reproduce.base import Request, ShardDone

FOLDER = "runs"
TIMES = (
    "Seconds are those of all blocks, from their starts to the checked costs, added up; kernels were compiled before. "
    "Rows of a smaller T are the same search until then: what it had found after so many steps, and the time it took."
)
"""How `Evaluation.work_seconds` is measured, for notes."""


@dataclass(frozen=True, kw_only=True)
class SetSearch:
    """One search over one set."""

    name: str
    """Of its file, without the extension."""
    instances: InstanceSet
    config: SolveConfig
    marks: tuple[int, ...] = ()
    """Smaller numbers of steps for which the answers are wanted too."""

    @property
    def work(self) -> float:
        """Roughly proportional to its duration, for the progress bar."""
        length = int(self.instances.coordinates.shape[1])
        return float(len(self.instances) * length * self.config.augment * (self.config.steps or 1))


def do(study: str, runs: Sequence[SetSearch], request: Request, *, timed: bool = False) -> list[Evaluation]:
    """Evaluate the searches in order; finished blocks are kept in `runs/`, in a file per search.

    With `timed`, kernels are compiled before the first search that needs them, so that no search's time has it.
    Raises ShardDone where the request is for a shard.
    """
    folder = runs_folder(study, request)
    folder.mkdir(parents=True, exist_ok=True)
    total, before, done = sum(run.work for run in runs), 0.0, []
    warm: set[tuple[object, ...]] = set()
    for place, run in enumerate(runs):
        file, first = folder / f"{run.name}.jsonl", replace(run.config, steps=1, augment=1)
        key = (run.instances.name, first)
        if timed and key not in warm and _lines(file) < len(run.instances):
            request.progress(before / total, f"{run.name}: compiling")
            evaluate(run.instances.take(slice(SHARED_ROWS)), first)
            warm.add(key)
        done += _do_one(
            run, file, replace(request, shard=turned(request.shard, place)), (before / total, run.work / total)
        )
        before += run.work
    if request.shard != (1, 1):
        raise ShardDone(request.shard)
    return done


def turned(shard: tuple[int, int], place: int) -> tuple[int, int]:
    """The shard of the search at this place, for which another process begins than for the one before: most searches of
    some studies have a single block. From one round of the processes to the next they move on by one more, since
    searches of one kind may be at every second place."""
    number, shards = shard
    return (number - 1 + place + place // shards) % shards + 1, shards


def runs_folder(study: str, request: Request) -> Path:
    """Where the finished blocks of a reproduction are kept."""
    parts = [study, "quick" if request.quick else ""]
    parts += [f"instances{request.instances}" if request.instances else ""]
    parts += [f"seeds{request.seeds}" if request.seeds else ""]
    return request.out / FOLDER / "-".join(part for part in parts if part)


def _do_one(run: SetSearch, file: Path, request: Request, share: tuple[float, float]) -> list[Evaluation]:
    """The search's evaluation; nothing if no block of it belongs to the shard."""
    before, part = share

    def progress(fraction: float, cost: float) -> None:
        request.progress(before + fraction * part, f"{run.name}: mean cost {cost:,.6g}")

    try:
        return [evaluate(run.instances, run.config, out=file, shard=request.shard, marks=run.marks, progress=progress)]
    except EmptyShardError:
        return []


def _lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def device_of(done: Sequence[Evaluation]) -> str:
    """Kind of device of the searches."""
    return done[0].config.torch_device().type
