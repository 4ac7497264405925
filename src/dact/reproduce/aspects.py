"""Two aspects against one that adds its encodings, at equal training (Table 3)."""

from dataclasses import dataclass
from pathlib import Path

from dact.evaluation import Evaluation
from dact.pipeline import SolveConfig
from dact.policy import Policy, load_weights
from dact.reproduce import paper
from dact.reproduce.base import Cell, Outcome, Request, Study, Table
from dact.reproduce.models import (
    CYCLIC,
    DUAL100,
    SINGLE50,
    SINGLE100,
    Model,
    extent,
    needed,
    none_there,
    training_minutes,
)
from dact.reproduce.published_sets import SEED as SET_SEED
from dact.reproduce.published_sets import published_set
from dact.reproduce.runs import TIMES, SetSearch, device_of, do
from dact.reproduce.trained import compared

SEED = 1
COLUMNS = {
    **dict.fromkeys(("set", "aspects", "parameters", "T", "instances")),
    **{"cost": 4, "gap to references, %": 3, "gap to the published mean, %": 2, "seconds": 1},
    **{"paper: parameters": None, "paper: gap, %": 2, "paper: time": None},
}


@dataclass(frozen=True)
class AspectCase:
    """A model and the size that it is trained and searched on."""

    size: int
    aspects: str
    model: Model


@dataclass(frozen=True, kw_only=True)
class AspectsConfig:
    """Models, and how long they search."""

    cases: tuple[AspectCase, ...]
    count: int
    steps: tuple[int, ...]


FULL = AspectsConfig(
    cases=(
        AspectCase(50, "single", SINGLE50),
        AspectCase(50, "dual", CYCLIC),
        AspectCase(100, "single", SINGLE100),
        AspectCase(100, "dual", DUAL100),
    ),
    count=1000,
    steps=(1000, 5000),
)
QUICK = AspectsConfig(
    cases=(AspectCase(10, "single", SINGLE50), AspectCase(10, "dual", CYCLIC)), count=64, steps=(20, 100)
)
MODELS = [case.model for case in FULL.cases]


def make(request: Request) -> Outcome:
    """A row for each model and number of steps; NeedsError without any model."""
    config = QUICK if request.quick else FULL
    models = [case.model for case in config.cases]
    there = compared(models, "aspects", request)
    missing = () if request.quick else needed(models, request.models, "aspects")
    if not there:
        raise none_there(models, request.models, "aspects")
    cases = [case for case in config.cases if case.model.name in there]
    runs = [_run(case, there[case.model.name], config, request) for case in cases]
    done = do("aspects", runs, request, timed=True)
    rows = [
        _row(case, there[case.model.name], each)
        for case, found in zip(cases, done, strict=True)
        for each in found.stages
    ]
    return Outcome(
        outputs=(Table(name="table", title="Dual against single aspect", columns=COLUMNS, rows=rows),),
        instances=f"{config.count:,} of each set, numpy's legacy generator, seed {SET_SEED}",
        seeds=f"training 1, search {SEED}",
        notes=(
            f"Models of a set are trained alike: {_training(config, request)}, where the paper has 200,000 updates "
            "of 600 rows. What compares is which of the two is ahead, and by what factor, not the gaps themselves. The "
            "paper's times are, by its main table, for 10,000 instances on four RTX 2080 Ti. Only the dual encoder has "
            "kernels of its own.",
            TIMES,
        ),
        smaller=f"models and instances of TSP10 instead of TSP50 and TSP100 ({_training(config, request)}), "
        f"{config.count} instances instead of {FULL.count:,}, T = {config.steps[0]} and {config.steps[-1]} instead of "
        f"{FULL.steps[0]:,} and {FULL.steps[-1]:,}",
        missing=missing,
        device=device_of(done),
    )


def _training(config: AspectsConfig, request: Request) -> str:
    models = {case.size: case.model.smaller() if request.quick else case.model for case in config.cases}
    return ", ".join(f"TSP{size} {extent(model)}" for size, model in models.items())


def _run(case: AspectCase, weights: Path, config: AspectsConfig, request: Request) -> SetSearch:
    *marks, most = config.steps
    settings = SolveConfig.flat(steps=most, weights=str(weights), seed=SEED, device=request.device)
    instances = published_set("tsp", case.size, config.count, request.data)
    return SetSearch(name=case.model.name, instances=instances, config=settings, marks=tuple(marks))


def parameter_count(policy: Policy) -> int:
    """Number of trained parameters, without the critic."""
    return sum(parameter.numel() for parameter in policy.parameters())


def _row(case: AspectCase, weights: Path, found: Evaluation) -> tuple[Cell, ...]:
    parameters = parameter_count(load_weights(weights).policy)
    printed, time = paper.ASPECTS.get((case.aspects, case.size), {}).get(found.steps, (None, None))
    return (
        *(f"TSP{case.size}", case.aspects, parameters, found.steps),
        *(found.instances, found.mean_cost, found.gap, paper.above_published("tsp", case.size, found.mean_cost)),
        *(found.work_seconds, paper.PARAMETERS[case.aspects], printed, time),
    )


STUDY = Study(
    name="aspects",
    what="Dual against single aspect (SA-T) at equal training on TSP50 and TSP100, T = 1k and 5k.",
    where="Table 3",
    make=make,
    needs=", ".join(model.name for model in MODELS) + "; --data for gaps to references",
    gpu_minutes=1,
    training_minutes=training_minutes(MODELS),
    quick="models of TSP10 trained for seconds, 64 instances",
)
