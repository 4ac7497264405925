"""Attention of every head at the size of training and at a larger one (Figure 6)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from dact.instances import generate_set
from dact.instances.arrays import FloatArray
from dact.pipeline import Pipeline, SolveConfig
from dact.plotting.attention import attention_figure
from dact.policy.attention import attention_weights
from dact.reproduce.base import Cell, Outcome, Picture, Request, Study, Table
from dact.reproduce.models import ABSOLUTE, CYCLIC, needed, shipped_origin, training_minutes
from dact.reproduce.trained import at_hand

TRAINED, LARGER = 50, 100
SHIPPED_MODEL = "tsp50"
SET_SEED, SEED = 1234, 1
ASPECTS = ("node aspect", "position aspect")
SEEN = ("to neighbours", "to neighbours across the ends")
NEAR = 2
"""Positions that count as neighbours, to either side."""


@dataclass(frozen=True, kw_only=True)
class AttentionConfig:
    """Number of instances, and search steps before the attention is taken."""

    count: int = 64
    steps: int = 200


FULL, QUICK = AttentionConfig(), AttentionConfig(count=4, steps=20)


def make(request: Request) -> Outcome:
    """A picture for each encoding that has a model, and a table of the attention to neighbours."""
    config = QUICK if request.quick else FULL
    there = at_hand([CYCLIC, ABSOLUTE], request)
    sources = {"cyclic": str(there.get(CYCLIC.name, SHIPPED_MODEL))}
    sources |= {"absolute": str(there[ABSOLUTE.name])} if ABSOLUTE.name in there else {}
    pictures: list[Picture] = []
    rows: list[tuple[Cell, ...]] = []
    for number, (kind, weights) in enumerate(sources.items()):
        request.progress(number / len(sources), kind)
        seen = {size: heads_at(size, weights, config, request.device) for size in (TRAINED, LARGER)}
        pictures.append(_picture(kind, seen))
        rows += [(kind, *row) for size, weight_LSBHNN in seen.items() for row in near_rows(size, weight_LSBHNN)]
    return Outcome(
        outputs=(*pictures, _table(rows)),
        instances=f"{config.count} of TSP{TRAINED} and of TSP{LARGER}, seed {SET_SEED}; the pictures show the first",
        seeds=f"search {SEED}",
        notes=(
            "The paper's claim, by eye: with the cyclic encoding heads see the circle (light corners where head and "
            "tail of a tour meet) at the larger size too; with the absolute one attention looks random there. It gives "
            f"no numbers. Both sizes are searched by a policy trained on TSP{TRAINED}, {config.steps} steps from "
            "greedy starts; attention is that of the last layer, to the best tour so far. In the table, 1 is "
            f"even attention. Weights: {', '.join(f'{kind}: {Path(each).stem}' for kind, each in sources.items())}.",
            *([shipped_origin(SHIPPED_MODEL)] if SHIPPED_MODEL in sources.values() else []),
        ),
        smaller=f"{config.count} instances instead of {FULL.count}, after {config.steps} steps instead of {FULL.steps}",
        missing=needed([ABSOLUTE], request.models, "attention"),
        device=SolveConfig(device=request.device).torch_device().type,
    )


def heads_at(size: int, weights: str, config: AttentionConfig, device: str) -> Tensor:
    """(L, S, B, H, N, N) of the best tours of a short search."""
    settings = SolveConfig.flat(steps=config.steps, seed=SEED, weights=weights, device=device)
    instances = generate_set("tsp", size, config.count, SET_SEED)
    pipeline = Pipeline.build(instances.problem, instances.customers, settings)
    assert pipeline.weights is not None
    batch = pipeline.problem.collate_set(instances).to(pipeline.device)
    found = pipeline.search(batch, pipeline.starts(batch, range(config.count)), settings.stop())
    features_BNF = pipeline.problem.node_features(batch, found.best_BN)
    policy = pipeline.weights.policy
    return torch.cat([attention_weights(policy, row_1NF).cpu() for row_1NF in features_BNF.unsqueeze(1)], dim=2)


def near_rows(size: int, weight_LSBHNN: Tensor) -> list[tuple[Cell, ...]]:
    """For each aspect: mean attention to neighbours along the tour, and between its two ends."""
    last_SBHNN = weight_LSBHNN[-1].double().numpy()
    place_N = np.arange(size)
    apart_NN = np.abs(place_N[:, None] - place_N)
    around_NN = np.minimum(apart_NN, size - apart_NN)
    inside = (around_NN <= NEAR) & (around_NN > 0) & (apart_NN <= NEAR)
    across = (around_NN <= NEAR) & (apart_NN > NEAR)
    rows: list[tuple[Cell, ...]] = []
    for aspect, weight_BHNN in zip(ASPECTS, last_SBHNN, strict=True):
        mean_NN: FloatArray = weight_BHNN.mean(axis=(0, 1)) * size
        rows.append((f"TSP{size}", aspect, float(mean_NN[inside].mean()), float(mean_NN[across].mean())))
    return rows


def _picture(kind: str, seen: dict[int, Tensor]) -> Picture:
    rows = [
        (f"{aspect}, N = {size}", weight_LSBHNN[-1, number, 0].double().numpy())
        for number, aspect in reversed(list(enumerate(ASPECTS)))
        for size, weight_LSBHNN in seen.items()
    ]
    title = f"Attention of the last layer, {kind} encoding"
    return Picture(name=kind, title=title, figure=attention_figure(rows))


def _table(rows: list[tuple[Cell, ...]]) -> Table:
    return Table(
        name="neighbours",
        title=f"Mean attention to the {NEAR} positions on either side, as a multiple of even attention",
        columns=dict.fromkeys(("encoding", "set", "aspect")) | dict.fromkeys(SEEN, 2),
        rows=rows,
    )


STUDY = Study(
    name="attention",
    what="Attention of each head while a policy solves instances of its size and larger ones, both encodings.",
    where="Figure 6",
    make=make,
    needs=f"for the absolute encoding: {ABSOLUTE.name}; {CYCLIC.name}, which is trained alike, beside it",
    training_minutes=training_minutes([CYCLIC, ABSOLUTE]),
    quick=f"{QUICK.count} instances, {QUICK.steps} steps",
)
