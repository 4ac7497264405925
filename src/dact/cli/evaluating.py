"""`dact evaluate`: solves a set and reports its figures."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dact.cards import UNTRAINED
from dact.cli.compiling import compile_first
from dact.cli.screen import FAILED, Bar, emit, note, show_table
from dact.evaluation import Evaluation, evaluate
from dact.instances import InstanceSet
from dact.instances.errors import plural
from dact.interrupts import INTERRUPTED, Interrupts
from dact.pipeline import SolveConfig
from dact.team import Team


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """How a set is divided into blocks, and the file for finished ones."""

    shard: tuple[int, int]
    rows: int | None
    out: Path | None


def evaluate_set(file: Path, instances: InstanceSet, blocks: Blocks, config: SolveConfig, *, as_json: bool) -> int:
    """Evaluate, print where this is the first process, and return the exit code."""
    team = Team.join(config.torch_device().type)
    interrupts = Interrupts(patient=team.connected)
    title = f"{instances.name}: {len(instances)} {plural(len(instances), 'instance')}"
    try:
        with interrupts, Bar(title, silent=not team.leads) as bar:

            def progress(fraction: float, cost: float) -> None:
                bar.show(fraction, f"mean of these {cost:,.6g}")
                interrupts.obey()

            compile_first(config, interrupts, silent=not team.leads)
            done = evaluate(
                instances, config, rows=blocks.rows, shard=blocks.shard, out=blocks.out, team=team, progress=progress
            )
    except (KeyboardInterrupt, RuntimeError):
        # A process that waits for others when Ctrl-C ends them gets a connection error.
        if not interrupts.asked:
            raise
        if team.leads:
            note(f"interrupted: {_kept(blocks.out, len(instances))}")
        return INTERRUPTED
    finally:
        team.leave()
    return _report(record(file, done), as_json=as_json) if team.leads else 0


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
    kept = f"{finished:,} finished {plural(finished, 'instance')} of {wanted:,}"
    return f"{out} keeps {kept}, and the same command goes on from there"


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
