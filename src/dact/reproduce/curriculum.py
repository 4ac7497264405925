"""Training curves on CVRP20 with and without the curriculum (Figure 7)."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dact.instances.arrays import FloatArray
from dact.pipeline import SolveConfig
from dact.plotting.curves import Band, plot_bands
from dact.plotting.panels import new_figure
from dact.plotting.training import read_training
from dact.reproduce.base import Cell, NeedsError, Outcome, Picture, Request, Study, Table
from dact.reproduce.models import CURRICULUM_MODELS, CURRICULUM_SEEDS, extent, training_minutes
from dact.reproduce.runs import FOLDER, runs_folder
from dact.reproduce.trained import finished_run, is_done

ARMS = ("with", "without")
STUDENT = {2: 6.314, 3: 2.920, 4: 2.353, 5: 2.132}
"""95 % quantile of Student's t distribution by number of runs, for 90 % intervals of their mean."""
CURVES = {"curriculum": None, "updates": None, "runs": None, "mean cost": 4, "90 % interval, +-": 4, "deviation": 4}


@dataclass(frozen=True, kw_only=True)
class CurvesConfig:
    """Seeds of the runs."""

    seeds: tuple[int, ...] = CURRICULUM_SEEDS


FULL, QUICK = CurvesConfig(), CurvesConfig(seeds=(1, 2))


@dataclass(frozen=True)
class Curves:
    """Validation costs of all runs of an arm, after the same numbers of updates."""

    arm: str
    update_T: FloatArray
    cost_RT: FloatArray

    def band(self) -> tuple[FloatArray, FloatArray]:
        """Mean over runs, and half the width of its 90 % interval."""
        runs = len(self.cost_RT)
        return self.cost_RT.mean(axis=0), STUDENT[runs] * self.cost_RT.std(axis=0, ddof=1) / np.sqrt(runs)


def make(request: Request) -> Outcome:
    """A picture and a table of the curves, and a table of the final costs."""
    config = QUICK if request.quick else FULL
    curves = [_curves(arm, runs) for arm, runs in _runs(config, request).items()]
    figure = new_figure(7, 4.6)
    bands = [Band(f"{each.arm} curriculum", each.update_T, *each.band()) for each in curves]
    recipe = CURRICULUM_MODELS[ARMS[0], 1]
    trained = (recipe.smaller() if request.quick else recipe).config()
    plot_bands(bands, "updates", f"mean cost after {trained.validation.steps:,} steps", figure.add_subplot())
    return Outcome(
        outputs=(
            Picture(name="curves", title="Means of the runs, and their 90 % intervals", figure=figure),
            Table(name="curves", title="The same in numbers", columns=CURVES, rows=_rows(curves)),
            _ends(curves, config),
        ),
        instances=f"{trained.validation.count:,} of CVRP{trained.size} in every validation, the same each time, from "
        f"greedy starts, {trained.validation.steps:,} steps",
        seeds=f"training {', '.join(map(str, config.seeds))}",
        notes=(
            "The paper finds that the curriculum learns faster and with less variance; it gives no numbers. "
            f"Each run has {extent(recipe.smaller() if request.quick else recipe)}, where the paper has 200,000 of "
            "600. Warm-up steps of the curriculum are not counted as updates, as in the paper: they are made without "
            "learning, and take time of their own.",
        ),
        smaller=f"{trained.size} customers instead of 20, {extent(recipe.smaller())} instead of {extent(recipe)}, "
        f"{len(config.seeds)} seeds instead of {len(FULL.seeds)}, bolder steps",
        device=SolveConfig(device=request.device).torch_device().type,
    )


def _runs(config: CurvesConfig, request: Request) -> dict[str, list[Path]]:
    """Folders of the runs of both arms, trained first if asked for."""
    folder = runs_folder("curriculum", request) if request.quick else request.out / FOLDER
    models = {key: model.smaller() if request.quick else model for key, model in CURRICULUM_MODELS.items()}
    models = {(arm, seed): models[arm, seed] for arm in ARMS for seed in config.seeds}
    left = [model.name for model in models.values() if not is_done(folder / "training" / model.name)]
    if left and not (request.quick or request.train):
        raise NeedsError(
            f"curriculum needs {len(left)} trainings that {folder} does not have ({left[0]}, ...); "
            f"`dact reproduce curriculum --train` makes them (about {STUDY.training_minutes:g} min on one H200)"
        )
    runs = {key: finished_run(model, folder, request) for key, model in models.items()}
    return {arm: [runs[arm, seed] for seed in config.seeds] for arm in ARMS}


def _curves(arm: str, runs: list[Path]) -> Curves:
    """Costs at the validations that all runs have in common."""
    costs = []
    for run in runs:
        log = read_training(run)
        update_T, cost_T = log.columns["segments"], log.columns["validation_cost"]
        costs.append({int(at): cost for at, cost in zip(update_T, cost_T, strict=True) if np.isfinite(cost)})
    shared = sorted(set.intersection(*(set(each) for each in costs)))
    return Curves(arm, np.array(shared, dtype=float), np.array([[each[at] for at in shared] for each in costs]))


def _rows(curves: list[Curves]) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for each in curves:
        mean_T, half_T = each.band()
        spread_T = each.cost_RT.std(axis=0, ddof=1)
        numbers = zip(each.update_T, mean_T, half_T, spread_T, strict=True)
        rows += [(each.arm, int(at), len(each.cost_RT), *map(float, row)) for at, *row in numbers]
    return rows


def _ends(curves: list[Curves], config: CurvesConfig) -> Table:
    """Final cost of every run."""
    rows: list[tuple[Cell, ...]] = [(each.arm, *map(float, each.cost_RT[:, -1])) for each in curves]
    columns = {"curriculum": None, **{f"seed {seed}": 4 for seed in config.seeds}}
    return Table(name="ends", title="The last validation of every run", columns=columns, rows=rows)


STUDY = Study(
    name="curriculum",
    what="Training curves on CVRP20 with and without the curriculum, seeds 1 to 5, 90 % intervals.",
    where="Figure 7",
    make=make,
    needs="ten trainings, which --train makes",
    training_minutes=training_minutes(list(CURRICULUM_MODELS.values())),
    quick=f"10 customers, {len(QUICK.seeds)} seeds, 40 updates",
)
