"""The four terms of the attention of a policy that adds its encodings (Figure 8)."""

from dataclasses import dataclass

import torch

from dact.instances import generate_set
from dact.instances.arrays import FloatArray
from dact.kernels.row_draws import streams
from dact.plotting.attention import plot_correlation
from dact.plotting.panels import new_figure
from dact.policy import load_weights
from dact.policy.attention import TERMS, correlation_terms
from dact.problems import PROBLEMS
from dact.reproduce.base import Cell, Outcome, Picture, Request, Study, Table
from dact.reproduce.models import ADDED, extent, none_there, training_minutes
from dact.reproduce.trained import compared

SIZE, SET_SEED, SEED = 20, 1234, 1


@dataclass(frozen=True, kw_only=True)
class CorrelationsConfig:
    """How many instances the terms are averaged over."""

    count: int = 1000


FULL, QUICK = CorrelationsConfig(), CorrelationsConfig(count=32)


def make(request: Request) -> Outcome:
    """The four terms, as means over instances and heads; NeedsError without the model."""
    config = QUICK if request.quick else FULL
    path = compared([ADDED], "correlations", request).get(ADDED.name)
    if path is None:
        raise none_there([ADDED], request.models, "correlations")
    weights = load_weights(path)
    problem, instances = PROBLEMS["tsp"], generate_set("tsp", SIZE, config.count, SET_SEED)
    batch = problem.collate_set(instances)
    tour_BN = problem.random_start(batch, streams(SEED, range(config.count), torch.device("cpu"), 1))
    terms = correlation_terms(weights.policy, problem.node_features(batch, tour_BN))
    mean = {term: score_BHNN.double().mean(dim=(0, 1)).numpy() for term, score_BHNN in terms.items()}
    spread = {term: float(score_BHNN.double().std(dim=0).mean()) for term, score_BHNN in terms.items()}
    figure = new_figure(13, 3.7)
    for term, ax in zip(TERMS, figure.subplots(1, len(TERMS)), strict=True):
        plot_correlation(mean[term], term, ax)
    return Outcome(
        outputs=(
            Picture(name="terms", title="The four terms of the first layer's scores", figure=figure),
            _table(mean, spread),
        ),
        instances=f"{config.count:,} of TSP{SIZE}, seed {SET_SEED}, random tours",
        seeds=f"tours {SEED}",
        notes=(
            "The paper shows a trained model of Wu et al. and finds random patterns in the mixed terms, such as strong "
            "correlations with the end of the tour; it gives no numbers. Ours is trained by our recipe and adds the "
            "cyclic encoding, not the absolute one of Wu et al.",
        ),
        smaller=f"a policy trained on 10 customers by {extent(ADDED.smaller())} instead of on {SIZE} by "
        f"{extent(ADDED)}, {config.count} instances instead of {FULL.count:,}",
    )


def _table(mean: dict[str, FloatArray], spread: dict[str, float]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (term, float(mean_NN.mean()), float(mean_NN.std()), spread[term]) for term, mean_NN in mean.items()
    ]
    return Table(
        name="spread",
        title="Scores before the softmax: mean, and standard deviations",
        columns={"term": None, "mean": 3, "spread over position pairs": 3, "spread over instances": 3},
        rows=rows,
    )


STUDY = Study(
    name="correlations",
    what="Node-node, position-position, node-position and position-node terms of a policy that adds its encodings.",
    where="Figure 8, Appendix A",
    make=make,
    needs=ADDED.name,
    training_minutes=training_minutes([ADDED]),
    quick=f"a TSP10 policy trained for seconds, {QUICK.count} instances",
)
