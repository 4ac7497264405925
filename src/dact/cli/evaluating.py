"""`dact evaluate`: solves a set and reports its figures."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dact.cli.compiling import compile_first
from dact.cli.screen import FAILED, Bar, emit, note, show_table
from dact.cli.targets import check_file
from dact.evaluation import Evaluation, evaluate
from dact.instances import InputError, InstanceSet, read_set
from dact.interrupts import INTERRUPTED, Interrupts
from dact.pipeline import SolveConfig
from dact.policy.weights import UNTRAINED
from dact.team import Team


@dataclass(frozen=True, kw_only=True)
class Work:
    """The set, its blocks, and the file for finished ones."""

    file: Path
    max_nodes: int
    limit: int | None
    shard: str
    rows: int | None
    out: Path | None

    def instances(self) -> InstanceSet:
        """The set, or the first ones of it."""
        if self.limit is not None and self.limit < 1:
            raise InputError(f"limit {self.limit} is below 1")
        return read_set(self.file, max_nodes=self.max_nodes).take(slice(self.limit))


def evaluate_set(work: Work, config: SolveConfig, *, as_json: bool) -> int:
    """Evaluate, print where this is the first process, and return the exit code."""
    if work.out is not None:
        check_file("--out", work.out, (".jsonl",))
    instances, shard = work.instances(), parse_shard(work.shard)
    team = Team.join(config.torch_device().type)
    interrupts = Interrupts(patient=team.connected)
    title = f"{instances.name}: {len(instances)} instances"
    try:
        with interrupts, Bar(title, silent=not team.leads) as bar:

            def progress(fraction: float, cost: float) -> None:
                bar.show(fraction, f"mean of these {cost:,.6g}")
                interrupts.obey()

            compile_first(config, interrupts, silent=not team.leads)
            done = evaluate(instances, config, rows=work.rows, shard=shard, out=work.out, team=team, progress=progress)
    except (KeyboardInterrupt, RuntimeError):
        # A process that waits for others when Ctrl-C ends them gets a connection error.
        if not interrupts.asked:
            raise
        if team.leads:
            note(f"interrupted: {_kept(work.out, len(instances))}")
        return INTERRUPTED
    finally:
        team.leave()
    return _report(record(work.file, done), as_json=as_json) if team.leads else 0


def parse_shard(text: str) -> tuple[int, int]:
    """'2/4' to (2, 4)."""
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
    if match is None:
        raise InputError(f"shard '{text}' is not of the form 1/4")
    return int(match[1]), int(match[2])


def record(file: Path, done: Evaluation) -> dict[str, Any]:
    """The JSON object of an evaluation."""
    return {
        "name": file.stem,
        "problem": done.problem,
        "instances": done.instances,
        "solved_now": done.solved,
        "mean_cost": done.mean_cost,
        "gap": done.gap,
        "seconds": round(done.seconds, 3),
        "instance_steps_per_second": round(done.instance_steps_per_second, 1) if done.solved else None,
        "steps": done.steps,
        "augment": done.config.augment,
        "rows": done.rows,
        "seed": done.config.seed,
        "search": done.config.search,
        "weights": done.weights,
    }


def _report(figures: dict[str, Any], *, as_json: bool) -> int:
    printed = emit(json.dumps(figures)) if as_json else True
    show_table(("figure", "value"), [(name, _text(value)) for name, value in figures.items()])
    if figures["weights"] == UNTRAINED:
        note("note: the policy is untrained (random weights)")
    return 0 if printed else FAILED


def _kept(out: Path | None, wanted: int) -> str:
    """A sentence on what is kept after an interruption."""
    if out is None:
        return "nothing is kept without --out"
    finished = out.read_bytes().count(b"\n") if out.exists() else 0
    if not finished:
        return f"no block was finished, so {out} keeps nothing"
    return f"{out} keeps {finished:,} finished instances of {wanted:,}, and the same command goes on from there"


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
