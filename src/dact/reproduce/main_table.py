"""The main table (Table 1): TSP and CVRP with 20, 50 and 100 customers, and our hybrid search beside it."""

from dataclasses import dataclass, replace

import numpy as np

from dact.evaluation import Evaluation
from dact.instances import facts_of
from dact.pipeline import SolveConfig
from dact.reproduce import paper
from dact.reproduce.base import Cell, Outcome, Request, Study, Table, asked, fewer, listed
from dact.reproduce.peers_beside import FOLDER as PEERS
from dact.reproduce.peers_beside import beside
from dact.reproduce.published_sets import SEED as SET_SEED
from dact.reproduce.published_sets import published_set
from dact.reproduce.runs import TIMES, SetSearch, device_of, do

SEED = 1
COLUMNS = {
    **{"set": None, "search": None, "instances": None, "cost": 4, "gap to references, %": 3, "references": 0},
    **{"gap to the published mean, %": 2, "seconds": 1, "paper: cost": 2, "paper: gap, %": 2, "paper: time": None},
}


@dataclass(frozen=True, kw_only=True)
class MainConfig:
    """Sets, and how long they are searched."""

    sets: tuple[tuple[str, int], ...] = tuple(paper.main())
    count: int = 10_000
    steps: tuple[int, ...] = (1000, 5000, 10_000)
    tabu: int = 64
    """Recent tours of a second search that the paper does not have."""
    rounds: int = 5000
    """Of the hybrid search."""


FULL, QUICK = MainConfig(), MainConfig(count=4, steps=(5, 20, 50), rounds=50)


def make(request: Request) -> Outcome:
    """One table of all sets."""
    config = asked(FULL, QUICK, request)
    runs = [run for problem, size in config.sets for run in _runs(problem, size, config, request)]
    done = do("main", runs, request, timed=True)
    others, told, unmeasured = beside(config.sets, PEERS)
    return Outcome(
        outputs=(
            Table(
                name="table",
                title="DACT on uniform instances, beside the paper's Table 1",
                columns=COLUMNS,
                rows=[
                    _row(each, run.instances.customers)
                    for run, found in zip(runs, done, strict=True)
                    for each in found.stages
                ],
            ),
            *others,
        ),
        instances=f"{config.count:,} of each set, numpy's legacy generator, seed {SET_SEED}",
        seeds=f"search {SEED}",
        notes=(
            "Gaps to references are means over those instances that have one (LKH for TSP, HGS for CVRP, which is "
            "better than the paper's LKH3). Gaps to the published mean compare with Concorde (TSP) and LKH3 (CVRP) on "
            "other draws, so that a tenth of a percent may be chance, and with few instances all of it. The paper's "
            "instances are other draws too, and its times are for one RTX 2080 Ti.",
            "tabu: moves that lead back to a tour of the last so many steps are drawn again, which the paper's search "
            "does not do.",
            TIMES,
            *told,
        ),
        smaller=_smaller(config),
        missing=_missing(request, unmeasured),
        device=device_of(done),
    )


def _smaller(config: MainConfig) -> str:
    times, usual = (", ".join(f"{steps:,}" for steps in each.steps) for each in (config, FULL))
    shorter = f"T = {times} (for which the paper has no rows) instead of {usual}"
    return listed(
        fewer(config.count, FULL.count, "instances"),
        "" if times == usual else shorter,
        fewer(config.rounds, FULL.rounds, "rounds"),
    )


def augmentations(problem: str) -> int:
    """x6 where vehicles have a capacity, else x4, as in the paper."""
    return 6 if facts_of(problem).capacity else 4


def _runs(problem: str, size: int, config: MainConfig, request: Request) -> list[SetSearch]:
    instances = published_set(problem, size, config.count, request.data)
    name, (*marks, most), copies = f"{problem}{size}", config.steps, augmentations(problem)
    usual = SolveConfig.flat(steps=most, weights=name, seed=SEED, device=request.device)
    more = replace(usual, augment=copies)
    ahead = replace(usual, policy=replace(usual.policy, tabu=config.tabu))
    hybrid = SolveConfig.flat(search="hybrid", steps=config.rounds, seed=SEED, device=request.device)
    return [
        SetSearch(name=f"{name}-T{most}", instances=instances, config=usual, marks=tuple(marks)),
        SetSearch(name=f"{name}-T{most}x{copies}", instances=instances, config=more),
        SetSearch(name=f"{name}-T{most}-tabu{config.tabu}", instances=instances, config=ahead, marks=tuple(marks)),
        SetSearch(name=f"{name}-hybrid", instances=instances, config=hybrid),
    ]


def _row(found: Evaluation, size: int) -> tuple[Cell, ...]:
    key, config = (found.problem, size), found.config
    printed = _papers(found, size)
    known = int(np.isfinite(found.reference_costs).sum())
    hybrid = config.search == "hybrid"
    special = f" x{config.augment}" if config.augment > 1 else ""
    special += f", tabu {config.policy.tabu}" if config.policy.tabu else ""
    return (
        f"{facts_of(found.problem).title}{size}",
        f"hybrid, {config.steps:,} rounds" if hybrid else f"T = {config.steps:,}{special}",
        found.instances,
        found.mean_cost,
        found.gap,
        known,
        paper.above_published(*key, found.mean_cost),
        found.work_seconds,
        *((None, None, None) if printed is None else (printed.cost, printed.gap, printed.time)),
    )


def _papers(found: Evaluation, size: int) -> paper.PaperRow | None:
    """The paper's row for the same search; None if it has none."""
    config, searches = found.config, paper.main().get((found.problem, size), {})
    copies = f"x{config.augment}" if config.augment > 1 else ""
    return None if config.search == "hybrid" or config.policy.tabu else searches.get(f"{config.steps}{copies}")


def _missing(request: Request, unmeasured: list[str]) -> tuple[str, ...]:
    peers = f"other solvers for {', '.join(unmeasured)}: `dact bench peers SET` measures them, on CPU cores"
    references = "gaps to references: --data DATA has them"
    return (*([peers] if unmeasured else []), *([references] if request.data is None else []))


STUDY = Study(
    name="main",
    what="T = 1k, 5k, 10k and x4 / x6 on TSP and CVRP of 20, 50 and 100 customers, our own searches beside them.",
    where="Table 1",
    make=make,
    needs="nothing; --data for gaps to references",
    gpu_minutes=31,
    quick=f"{QUICK.count} instances, T up to {QUICK.steps[-1]}",
    instances=FULL.count,
)
