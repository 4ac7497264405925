"""Ten runs with other seeds (Figure 9): how much the mean cost differs from run to run."""

from dataclasses import dataclass

from dact.instances import facts_of
from dact.pipeline import SolveConfig
from dact.plotting.curves import plot_runs
from dact.plotting.panels import new_figure
from dact.reproduce import paper
from dact.reproduce.base import Cell, Outcome, Picture, Request, Study, Table, asked, fewer, listed
from dact.reproduce.published_sets import SEED as SET_SEED
from dact.reproduce.published_sets import published_set
from dact.reproduce.runs import SetSearch, device_of, do

Group = tuple[str, int, int]
"""Problem, size, steps."""
COLUMNS = {
    **dict.fromkeys(("set", "T", "runs", "instances")),
    **dict.fromkeys(("mean", "least", "most", "range"), 4),
    "paper: range within": 3,
}


@dataclass(frozen=True, kw_only=True)
class StabilityConfig:
    """Sets, steps and seeds."""

    sets: tuple[tuple[str, int], ...] = (("tsp", 100), ("cvrp", 100))
    count: int = 10_000
    steps: tuple[int, ...] = (1000, 5000, 10_000)
    seeds: int = 10


FULL, QUICK = StabilityConfig(), StabilityConfig(sets=(("tsp", 20), ("cvrp", 20)), count=16, steps=(20, 50), seeds=3)


def make(request: Request) -> Outcome:
    """A box plot for each problem, and their numbers."""
    config = asked(FULL, QUICK, request)
    cases = [(each, run) for each in config.sets for run in _runs(each, config, request)]
    done = do("stability", [run for _, run in cases], request)
    costs: dict[Group, list[float]] = {}
    for (each, _), found in zip(cases, done, strict=True):
        for part in found.stages:
            costs.setdefault((*each, part.steps), []).append(part.mean_cost)
    return Outcome(
        outputs=(_picture(costs, config), _table(costs, config)),
        instances=f"{config.count:,} of each set, numpy's legacy generator, seed {SET_SEED}",
        seeds=f"searches 1 to {config.seeds}",
        notes=(
            "The paper: in all cases the range of the boxes is within 0.005 over 10,000 instances. Over fewer "
            "instances it is wider, by the square root of how many fewer. A smaller T is the same run until then.",
        ),
        smaller=listed(
            "" if config.sets == FULL.sets else "20 customers instead of 100",
            fewer(config.count, FULL.count, "instances"),
            fewer(config.seeds, FULL.seeds, "seeds"),
            fewer(config.steps[-1], FULL.steps[-1], "steps at most"),
        ),
        device=device_of(done),
    )


def _runs(each: tuple[str, int], config: StabilityConfig, request: Request) -> list[SetSearch]:
    (problem, size), (*marks, most) = each, config.steps
    instances = published_set(problem, size, config.count, None)
    settings = {"steps": most, "weights": f"{problem}{size}", "device": request.device}
    return [
        SetSearch(
            name=f"{problem}{size}-seed{seed}",
            instances=instances,
            config=SolveConfig.flat(seed=seed, **settings),
            marks=tuple(marks),
        )
        for seed in range(1, config.seeds + 1)
    ]


def _picture(costs: dict[Group, list[float]], config: StabilityConfig) -> Picture:
    figure = new_figure(3.3 * len(config.steps), 3.2 * len(config.sets))
    axes = figure.subplots(len(config.sets), len(config.steps), squeeze=False)
    for row, (problem, size) in zip(axes, config.sets, strict=True):
        groups = {steps: costs[problem, size, steps] for steps in config.steps}
        # Panels of a problem have one scale, so that their boxes compare; the costs lie too far apart for one panel.
        span = max(max(group) - min(group) for group in groups.values()) or 1e-6
        for ax, (steps, group) in zip(row, groups.items(), strict=True):
            told = f"{len(group)} runs (line: median, diamond: mean)"
            plot_runs({told: group}, f"{facts_of(problem).title}{size}, T = {steps:,}", ax)
            middle = (max(group) + min(group)) / 2
            ax.set_ylim(middle - 0.65 * span, middle + 0.65 * span)
    return Picture(name="boxes", title="Mean costs of runs with other seeds", figure=figure)


def _table(costs: dict[Group, list[float]], config: StabilityConfig) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (problem, size, steps), values in costs.items():
        least, most, mean = min(values), max(values), sum(values) / len(values)
        printed = paper.LARGEST_RANGE if steps in FULL.steps else None
        name = f"{facts_of(problem).title}{size}"
        rows.append((name, steps, len(values), config.count, mean, least, most, most - least, printed))
    return Table(
        name="range",
        title="The same in numbers",
        columns=COLUMNS,
        rows=rows,
    )


STUDY = Study(
    name="stability",
    what="Box plots of ten runs with other seeds at T = 1k, 5k and 10k on TSP100 and CVRP100.",
    where="Figure 9",
    make=make,
    gpu_minutes=26,
    quick=f"20 customers, {QUICK.count} instances, {QUICK.seeds} seeds, T up to {QUICK.steps[-1]}",
    instances=FULL.count,
    seeds=FULL.seeds,
)
