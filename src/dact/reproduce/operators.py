"""2-opt, insert and swap: what they do to a small tour (Figure 2), and how well policies search with each."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from dact.evaluation import Evaluation
from dact.instances.arrays import FloatArray
from dact.operators import OPERATORS
from dact.pipeline import SolveConfig
from dact.plotting.operators import plot_operator
from dact.plotting.panels import new_figure
from dact.reproduce import paper
from dact.reproduce.base import NOTHING_DRAWN, Cell, Outcome, Picture, Request, Study, Table
from dact.reproduce.models import OPERATOR_MODELS, extent, needed, training_minutes
from dact.reproduce.published_sets import SEED as SET_SEED
from dact.reproduce.published_sets import published_set
from dact.reproduce.runs import SetSearch, device_of, do
from dact.reproduce.trained import compared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"two_opt": "2-opt", "insert": "insert", "swap": "swap"}
NODES = 8
MOVE = (2, 6)
SEED = 1
COLUMNS = {
    **dict.fromkeys(("operator", "instances", "T")),
    **{"mean cost": 4, "gap to references, %": 3, "gap to the published mean, %": 2},
}


@dataclass(frozen=True, kw_only=True)
class OperatorsConfig:
    """The size of the comparison."""

    size: int = 20
    count: int = 10_000
    steps: int = 1000


FULL, QUICK = OperatorsConfig(), OperatorsConfig(size=10, count=64, steps=50)


def make(request: Request) -> Outcome:
    """The picture, and a table of the operators whose models have been trained."""
    config, models = QUICK if request.quick else FULL, list(OPERATOR_MODELS.values())
    there = compared(models, "operators", request)
    weights = {name: there[model.name] for name, model in OPERATOR_MODELS.items() if model.name in there}
    done = do("operators", [_run(*each, config, request) for each in weights.items()], request) if weights else []
    trained = extent(models[0].smaller() if request.quick else models[0])
    searched = f"; {config.count:,} of TSP{config.size}, numpy's legacy generator, seed {SET_SEED}" if done else ""
    return Outcome(
        outputs=(
            Picture(name="moves", title="Three operators on a small tour", figure=_figure()),
            *([_table(list(weights), done, config)] if done else []),
        ),
        instances=f"{NODES} nodes on a ring for the picture{searched}",
        seeds=f"training 1, search {SEED}" if done else NOTHING_DRAWN,
        notes=(
            "The paper gives no numbers here: in its first experiments 2-opt was best, and insert better than swap, "
            f"for both problems. The table needs a policy for each operator, trained alike: {trained}.",
        ),
        smaller=f"policies for TSP10 with {trained} instead of {extent(models[0])} for TSP20, {config.count} instances "
        f"instead of {FULL.count:,}, T = {config.steps} instead of {FULL.steps:,}",
        missing=() if request.quick else needed(models, request.models, "operators"),
        device=device_of(done) if done else "cpu",
    )


def _run(operator: str, weights: Path, config: OperatorsConfig, request: Request) -> SetSearch:
    instances = published_set("tsp", config.size, config.count, request.data)
    settings = SolveConfig.flat(
        weights=str(weights), operator=operator, steps=config.steps, seed=SEED, device=request.device
    )
    return SetSearch(name=operator, instances=instances, config=settings)


def ring(nodes: int) -> FloatArray:
    """Points on a slightly uneven ring, clockwise from the top."""
    angle_N = math.pi / 2 - 2 * math.pi * np.arange(nodes) / nodes
    radius_N = np.where(np.arange(nodes) % 2, 0.88, 1.0)
    return np.stack((radius_N * np.cos(angle_N), radius_N * np.sin(angle_N)), axis=1)


def moved(operator: str, move: tuple[int, int]) -> list[int]:
    """The tour 0, 1, 2, ... after a move."""
    after_1N = OPERATORS[operator](torch.arange(NODES).unsqueeze(0), torch.tensor([move]))
    return [int(node) for node in after_1N[0]]


def _figure() -> "Figure":
    figure, points = new_figure(10, 3.3), ring(NODES)
    before = list(range(NODES))
    panels = zip(figure.subplots(1, 1 + len(OPERATORS)), (None, *OPERATORS), strict=True)
    for ax, operator in panels:
        after = before if operator is None else moved(operator, MOVE)
        title = "a tour" if operator is None else TITLES[operator]
        plot_operator(points, before, after, MOVE, f"{title}, i = {MOVE[0]}, j = {MOVE[1]}", ax)
    return figure


def _table(operators: list[str], done: list[Evaluation], config: OperatorsConfig) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for operator, found in zip(operators, done, strict=True):
        above = paper.above_published("tsp", config.size, found.mean_cost)
        rows.append((TITLES[operator], found.instances, found.steps, found.mean_cost, found.gap, above))
    title = f"TSP{config.size} with a policy trained for each operator"
    return Table(name="costs", title=title, columns=COLUMNS, rows=rows)


STUDY = Study(
    name="operators",
    what="2-opt, insert and swap on a small tour, and policies trained for each of them.",
    where="Figure 2, and section 5",
    make=make,
    needs="for the table: " + ", ".join(model.name for model in OPERATOR_MODELS.values()),
    gpu_minutes=0.5,
    training_minutes=training_minutes(list(OPERATOR_MODELS.values())),
    quick=f"the table: TSP10 policies trained for seconds, {QUICK.count} instances, T = {QUICK.steps}",
)
