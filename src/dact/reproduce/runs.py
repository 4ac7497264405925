"""Searches over sets in blocks that are kept: the same call goes on where an interrupted one ended."""

from collections.abc import Sequence
from dataclasses import dataclass

from dact.evaluation import Evaluation, evaluate
from dact.instances import InstanceSet
from dact.pipeline import SolveConfig
from dact.reproduce.base import Request

FOLDER = "runs"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One search over one set."""

    name: str
    instances: InstanceSet
    config: SolveConfig

    @property
    def work(self) -> float:
        """Roughly proportional to its time: for the progress bar."""
        length = int(self.instances.coordinates.shape[1])
        return float(len(self.instances) * length * self.config.augment * (self.config.steps or 1))


def do(study: str, runs: Sequence[Run], request: Request) -> list[Evaluation]:
    """Evaluate them in order; finished blocks are in `runs/`, in a file for each run."""
    folder = request.out / FOLDER / (f"{study}-quick" if request.quick else study)
    folder.mkdir(parents=True, exist_ok=True)
    total, before, found = sum(run.work for run in runs), 0.0, []
    for run in runs:

        def progress(fraction: float, cost: float, run: Run = run, before: float = before) -> None:
            request.progress((before + fraction * run.work) / total, f"{run.name}: mean cost {cost:,.6g}")

        shard = request.shard if len(run.instances) > 1 else (1, 1)
        out = folder / f"{run.name}.jsonl"
        found.append(evaluate(run.instances, run.config, out=out, shard=shard, progress=progress))
        before += run.work
    return found


def device_of(found: Sequence[Evaluation]) -> str:
    """The kind of device that they ran on."""
    return found[0].config.torch_device().type


def unfinished(found: Sequence[Evaluation], wanted: Sequence[Run]) -> tuple[str, ...]:
    """A sentence for each run whose other shards are not there yet."""
    return tuple(
        f"{run.name}: {each.instances:,} of {len(run.instances):,} instances; other shards are missing"
        for each, run in zip(found, wanted, strict=True)
        if each.instances < len(run.instances)
    )
