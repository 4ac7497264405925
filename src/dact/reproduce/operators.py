"""2-opt, insert and swap: what they do to a small tour (Figure 2), and how well policies search with each."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from dact.instances import generate_set
from dact.instances.arrays import FloatArray
from dact.operators import OPERATORS
from dact.pipeline import SolveConfig
from dact.plotting.operators import plot_operator
from dact.plotting.panels import new_figure
from dact.reproduce.base import NOTHING_DRAWN, Outcome, Picture, Request, Study, Table
from dact.reproduce.models import OPERATOR_MODELS
from dact.reproduce.runs import Done, Run, device_of, do

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"two_opt": "2-opt", "insert": "insert", "swap": "swap"}
NODES = 8
MOVE = (2, 6)
SET_SEED, SEED = 1234, 1


@dataclass(frozen=True, kw_only=True)
class OperatorsConfig:
    """The size of the comparison."""

    size: int = 20
    count: int = 10_000
    steps: int = 1000


FULL, QUICK = OperatorsConfig(), OperatorsConfig(count=8, steps=50)


def make(request: Request) -> Outcome:
    """The picture, and the table of those operators whose models are there."""
    config = QUICK if request.quick else FULL
    there = [name for name, model in OPERATOR_MODELS.items() if model.exists(request.models)]
    found = do("operators", _runs(there, config, request), request) if there else []
    searched = f"; {config.count:,} of TSP{config.size}, seed {SET_SEED}" if found else ""
    return Outcome(
        outputs=(
            Picture(name="moves", title="Three operators on a small tour", figure=_figure()),
            *([_table(there, found, config)] if found else []),
        ),
        instances=f"{NODES} nodes on a ring for the picture{searched}",
        seeds=f"search {SEED}" if found else NOTHING_DRAWN,
        notes=(
            "The paper gives no numbers here: in its first experiments 2-opt was best, and insert better than swap, "
            "for both problems. The table needs a policy trained with each operator on an equal budget.",
        ),
        smaller=f"{config.count} instances instead of {FULL.count:,}, T = {config.steps} instead of {FULL.steps:,}"
        if found
        else "",
        missing=tuple(model.needed(request.models) for name, model in OPERATOR_MODELS.items() if name not in there),
        device=device_of(found) if found else "cpu",
    )


def _runs(operators: list[str], config: OperatorsConfig, request: Request) -> list[Run]:
    instances = generate_set("tsp", config.size, config.count, SET_SEED)
    settings = {"steps": config.steps, "seed": SEED, "device": request.device}
    weights = {name: str(OPERATOR_MODELS[name].path(request.models)) for name in operators}
    return [
        Run(name=name, instances=instances, config=SolveConfig.flat(weights=weights[name], operator=name, **settings))
        for name in operators
    ]


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


def _table(operators: list[str], done: list[Done], config: OperatorsConfig) -> Table:
    rows = [
        (TITLES[name], each.instances, each.steps, each.mean_cost)
        for name, each in zip(operators, (each.found for each in done), strict=True)
    ]
    return Table(
        name="costs",
        title=f"TSP{config.size} with a policy trained for each operator",
        columns=("operator", "instances", "T", "mean cost"),
        rows=tuple(rows),
        digits={"mean cost": 4},
    )


STUDY = Study(
    name="operators",
    what="2-opt, insert and swap on a small tour, and policies trained for each of them.",
    where="Figure 2, and section 5",
    make=make,
    needs="for the table: " + ", ".join(model.name for model in OPERATOR_MODELS.values()),
    gpu_minutes=0.5,
    quick=f"the table: {QUICK.count} instances, T = {QUICK.steps}",
)
