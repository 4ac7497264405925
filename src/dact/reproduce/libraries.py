"""TSPLIB and CVRPLIB (Tables 2a, 4 and 5): best and average of ten runs, per instance and by size."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dact.evaluation import Evaluation
from dact.instances import InputError, InstanceSet, facts_of, read_set
from dact.pipeline import SolveConfig
from dact.reproduce import paper
from dact.reproduce.base import Cell, NeedsError, Outcome, Request, Study, Table, asked, fewer, listed
from dact.reproduce.runs import SetSearch, device_of, do

SEED, MOST = 1, 29
"""MOST: files of the larger library, in the paper."""
SEARCHES = ("short", "long", "augmented")
BANDS = ((50, 100), (100, 150), (150, 201))
GAPS = dict.fromkeys(("best", "average", "paper: best", "paper: average"), 2)
BY_INSTANCE = dict.fromkeys(("library", "instance", "customers", "search", "T")) | GAPS
BY_SIZE = dict.fromkeys(("library", "nodes", "search", "instances")) | GAPS


@dataclass(frozen=True, kw_only=True)
class LibraryFolder:
    """A folder of instances and the paper's search settings for them."""

    folder: str
    pattern: str
    short: int
    patience: int
    augment: int


LIBRARIES = (
    LibraryFolder(folder="tsplib", pattern="*.tsp", short=3000, patience=10, augment=4),
    LibraryFolder(folder="cvrplib", pattern="X-*.vrp", short=5000, patience=20, augment=6),
)


@dataclass(frozen=True, kw_only=True)
class LibrariesConfig:
    """How many instances of each library and runs; steps are those of the paper divided by `faster`."""

    count: int | None = None
    """None: all."""
    runs: int = 10
    faster: int = 1
    smallest: bool = False
    """Take the smallest, where not all are taken; otherwise they are spread evenly over the sizes."""

    def of(self, sets: list[InstanceSet]) -> list[InstanceSet]:
        """As many of them, which are in order of their sizes."""
        if self.count is None or self.smallest or self.count >= len(sets):
            return sets[: self.count]
        return [sets[(2 * number + 1) * len(sets) // (2 * self.count)] for number in range(self.count)]


FULL, QUICK = LibrariesConfig(), LibrariesConfig(count=2, runs=2, faster=200, smallest=True)


@dataclass(frozen=True)
class InstanceGaps:
    """Gaps of all runs of one search of an instance."""

    library: str
    name: str
    size: int
    """Customers."""
    search: str
    """short, long or augmented."""
    found: Evaluation

    @property
    def gaps(self) -> tuple[float, float]:
        """Best and average."""
        gaps = self.found.gaps
        return float(gaps.min()), float(gaps.mean())

    @property
    def printed(self) -> tuple[float | None, float | None]:
        """The paper's best and average; None for shorter searches than the paper's."""
        same = self.found.steps in (10_000, *(library.short for library in LIBRARIES))
        row = paper.libraries().get(self.name.lower(), {}) if same else {}
        return row.get(f"{self.search}_best"), row.get(f"{self.search}_average")


def make(request: Request) -> Outcome:
    """A table by size and one of all instances."""
    config = asked(FULL, QUICK, request)
    cases = [case for library in LIBRARIES for case in _cases(library, config, request)]
    done = do("libraries", [run for *_, run in cases], request)
    results = [
        InstanceGaps(library, run.instances.name, run.instances.customers, search, each)
        for (library, searches, run), found in zip(cases, done, strict=True)
        for search, each in zip(searches, found.stages, strict=True)
    ]
    count = len({(each.library, each.name) for each in results})
    return Outcome(
        outputs=(_by_size(results), _by_instance(results)),
        instances=f"{count} of TSPLIB and CVRPLIB X, {config.runs} runs each",
        seeds=f"search {SEED}; runs draw from {config.runs} streams of it",
        notes=(
            "Gaps in percent to the optimum or best known value, of costs rounded as the libraries round. T = 3k "
            "(TSPLIB) and 5k (CVRPLIB) is short, 10k long; augmented is 10k with x4 and x6. Patience 10 and 20. "
            "As in the paper, instances below 99 nodes are searched by tsp50, other TSP by tsp100, CVRP by cvrp100.",
        ),
        smaller=listed(
            f"{config.count} instances of each library, {'the smallest' if config.smallest else 'evenly by size'}",
            fewer(config.runs, FULL.runs, "runs"),
            f"T divided by {config.faster}, for which the paper has no numbers" if config.faster > 1 else "",
        ),
        device=device_of(done),
    )


def _cases(
    library: LibraryFolder, config: LibrariesConfig, request: Request
) -> list[tuple[str, tuple[str, ...], SetSearch]]:
    """The library, the names of what a search finds at its marks and at its end, and the search."""
    sets = [copies(path, config.runs) for path in _paths(library, request)]
    sets.sort(key=lambda each: (each.customers, each.name))
    return [
        (library.folder, searches, run)
        for instances in config.of(sets)
        for searches, run in _runs(library, instances, config, request).items()
    ]


def _paths(library: LibraryFolder, request: Request) -> list[Path]:
    paths = [] if request.data is None else sorted((request.data / library.folder).glob(library.pattern))
    if not paths:
        raise NeedsError(f"libraries needs --data DIR with files {library.folder}/{library.pattern}")
    return paths


def copies(path: Path, runs: int) -> InstanceSet:
    """A set of copies of an instance, each with its own random numbers. It needs a best known value."""
    one = read_set(path)
    known = one.reference_cost
    if known is None or not np.isfinite(known).all():
        raise InputError(f"{path}: has no best known value, of which gaps could be taken: leave it out of --data")
    return replace(
        one,
        coordinates=one.coordinates.repeat(runs, axis=0),
        demand=one.demand.repeat(runs, axis=0),
        capacity=one.capacity.repeat(runs),
        reference_cost=known.repeat(runs),
        numbers=np.arange(runs),
    )


def _runs(
    library: LibraryFolder, instances: InstanceSet, config: LibrariesConfig, request: Request
) -> dict[tuple[str, ...], SetSearch]:
    size = 50 if instances.customers < 99 and not facts_of(instances.problem).depot else 100
    usual = SolveConfig.flat(
        steps=10_000 // config.faster,
        weights=f"{instances.problem}{size}",
        patience=library.patience,
        seed=SEED,
        device=request.device,
    )
    more, short = replace(usual, augment=library.augment), library.short // config.faster
    return {
        ("short", "long"): SetSearch(name=f"{instances.name}-long", instances=instances, config=usual, marks=(short,)),
        ("augmented",): SetSearch(name=f"{instances.name}-augmented", instances=instances, config=more),
    }


def _by_instance(results: list[InstanceGaps]) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (each.library, each.name, each.size, each.search, each.found.steps, *each.gaps, *each.printed)
        for each in results
    ]
    return Table(name="instances", title="Gaps of every instance, %", columns=BY_INSTANCE, rows=rows)


def _by_size(results: list[InstanceGaps]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for library in LIBRARIES:
        for low, high in (*BANDS, (BANDS[0][0], BANDS[-1][1])):
            for search in SEARCHES:
                inside = [
                    each
                    for each in results
                    if (each.library, each.search) == (library.folder, search) and low <= each.size < high
                ]
                nodes = "all" if high - low > 100 else f"{low} to {high - 1}"
                if inside:
                    rows.append((library.folder, nodes, search, len(inside), *_means(inside)))
    return Table(name="bands", title="Mean gaps by size, %", columns=BY_SIZE, rows=rows)


def _means(results: list[InstanceGaps]) -> list[Cell]:
    """Means over the instances: our gaps, and the paper's for the same instances."""
    numbers = np.array([(*each.gaps, *(np.nan if x is None else x for x in each.printed)) for each in results])
    return [None if np.isnan(mean) else float(mean) for mean in numbers.mean(axis=0)]


STUDY = Study(
    name="libraries",
    what="TSPLIB and CVRPLIB per instance and by size: T = 3k (5k), 10k, augmented; best and average of ten runs.",
    where="Tables 2a, 4 and 5",
    make=make,
    needs="--data with tsplib/ and cvrplib/",
    gpu_minutes=6,
    instances=MOST,
    quick=f"{QUICK.count} instances of each library, {QUICK.runs} runs, T divided by {QUICK.faster}",
)
