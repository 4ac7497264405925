"""`dact evaluate`: a set in, its figures out."""

import json
import re
from pathlib import Path
from typing import Any

from dact.bench import Evaluation, evaluate, part
from dact.cli.screen import Bar, note, show_table
from dact.instances import InputError, read_set
from dact.policy.weights import UNTRAINED
from dact.solve import SolveConfig


def evaluate_set(file: Path, config: SolveConfig, *, limit: int | None, shard: str, as_json: bool) -> None:
    """Evaluate and print."""
    instances = part(read_set(file), limit, parse_shard(shard))
    with Bar(f"{instances.name}: {len(instances)} instances") as bar:
        done = evaluate(
            instances, config, progress=lambda fraction, cost: bar.show(fraction, f"mean of these {cost:,.6g}")
        )
    figures = record(file, done)
    if as_json:
        print(json.dumps(figures), flush=True)
    show_table(("figure", "value"), [(name, _text(value)) for name, value in figures.items()])
    if done.weights == UNTRAINED:
        note("note: the policy is untrained (random weights)")


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
        "mean_cost": done.mean_cost,
        "gap": done.gap,
        "seconds": round(done.seconds, 3),
        "instance_steps_per_second": round(done.instance_steps_per_second, 1),
        "steps": done.steps,
        "augment": done.config.augment,
        "seed": done.config.seed,
        "weights": done.weights,
    }


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)
