"""Time a search step takes as `dact evaluate` makes it, beside what the authors' code took; answers are checked."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

import torch

from dact.bench.measurements import device_name, percentiles, triton_version
from dact.instances import Instance, generate_set
from dact.pipeline import Found, Pipeline, SolveConfig, recost
from dact.problems import UNIFORM, Batch, InstanceConfig, Problem
from dact.provenance import commit
from dact.search import Stop, settled_precision

REPEATS = 5
LARGEST_ERROR = 1e-4
"""Of an incumbent's cost, over that cost. float32 sums of a thousand legs stay below a hundredth of it."""
LEAST_STEPS, MOST_STEPS = 8, 1000
LIKE_X = InstanceConfig(
    nodes="clustered", demand="quadrant", capacity="routes", route_low=5.5, route_mode=5.6, route_high=6.0
)
"""Clusters, short routes and unequal demands, as in X-n200-k36."""


@dataclass(frozen=True, kw_only=True)
class SearchCase:
    """A workload, and the authors' instance-steps per second for it, where they are known, on one H200."""

    name: str
    problem: str
    size: int
    instances: int
    augment: int = 1
    kind: InstanceConfig = UNIFORM
    stands_in: bool = False
    """Sampled in place of a library instance; `--file` puts a real one here."""
    given: Instance | None = None
    """All rows are this instance."""
    authors_per_s: float | None = None

    @property
    def customers(self) -> int:
        """Customers (or nodes) of an instance."""
        return self.size if self.given is None else self.given.customers

    def batch(self, device: torch.device, problem: Problem) -> Batch:
        """The instances, the same ones for everybody."""
        if self.given is not None:
            first_B = torch.zeros(self.instances, dtype=torch.long, device=device)
            return problem.collate([self.given]).to(device).take(first_B)
        if self.kind == UNIFORM:
            return problem.collate_set(generate_set(self.problem, self.size, self.instances, seed=0)).to(device)
        drawn = problem.sample(self.size, self.instances, torch.Generator().manual_seed(0), self.kind)
        return drawn.to(device)


SEARCH_CASES = (
    SearchCase(name="tsp20", problem="tsp", size=20, instances=10_000, authors_per_s=98_000),
    SearchCase(name="tsp50", problem="tsp", size=50, instances=10_000),
    SearchCase(name="tsp100", problem="tsp", size=100, instances=10_000, authors_per_s=33_000),
    SearchCase(name="cvrp20", problem="cvrp", size=20, instances=10_000, authors_per_s=39_000),
    SearchCase(name="cvrp50", problem="cvrp", size=50, instances=10_000),
    SearchCase(name="cvrp100", problem="cvrp", size=100, instances=10_000, authors_per_s=10_000),
    SearchCase(name="cvrp200-x", problem="cvrp", size=199, instances=1_000, kind=LIKE_X, stands_in=True),
    SearchCase(name="tsp100-x8", problem="tsp", size=100, instances=1, augment=8),
    SearchCase(name="cvrp1000", problem="cvrp", size=1_000, instances=8, stands_in=True),
)
"""The authors' rates are with 1,000 rows (TSP100: 4,000), where their code is fastest."""

QUICK_SEARCH_CASES = (
    SearchCase(name="tsp20", problem="tsp", size=20, instances=8),
    SearchCase(name="cvrp10-x", problem="cvrp", size=10, instances=4, kind=LIKE_X, stands_in=True),
    SearchCase(name="tsp20-x8", problem="tsp", size=20, instances=1, augment=8),
)


@dataclass(frozen=True, kw_only=True)
class SearchTiming:
    """Percentiles of the milliseconds of a step over the repeats; instance-steps per second at the median."""

    date: str
    device: str
    commit: str
    torch: str
    triton: str
    case: str
    positions: int
    rows: int
    """Instances times augmentations."""
    engine: str
    precision: str
    weights: str | None
    steps: int
    """In each repeat."""
    repeats: int
    p20_ms: float
    p50_ms: float
    p80_ms: float
    per_s: float
    """An instance counts once for every step, augmented or not."""
    memory_gib: float
    """Peak memory reserved on the GPU."""
    cost_error: float
    """The largest relative error of an incumbent's cost, against plain float64 code."""
    authors_per_s: float | None
    times_faster: float | None


def measure_search(
    cases: Sequence[SearchCase], config: SolveConfig, *, seconds: float = 1.0, repeats: int = REPEATS
) -> Iterator[SearchTiming]:
    """Time each case from greedy starts; a repeat takes about so many seconds, and no fewer than 8 steps.

    Every incumbent of the last repeat is checked and costed again; a wrong one raises before its time is reported.
    """
    for case in cases:
        yield _measure(case, config, seconds, repeats)


def _measure(case: SearchCase, config: SolveConfig, seconds: float, repeats: int) -> SearchTiming:
    device = config.torch_device()
    _forget_memory(device)
    pipeline = Pipeline.build(case.problem, case.customers, replace(config, augment=case.augment))
    batch = case.batch(device, pipeline.problem)
    search = partial(pipeline.search, batch, pipeline.starts(batch, range(batch.rows)))
    _timed(search, LEAST_STEPS)
    steps = _steps_in(seconds, _timed(search, LEAST_STEPS)[0])
    times, founds = zip(*(_timed(search, steps) for _ in range(repeats)), strict=True)
    memory = torch.cuda.max_memory_reserved() / 2**30 if device.type == "cuda" else 0.0
    p20, p50, p80 = percentiles([1000 * each / steps for each in times])
    rate = 1000 * case.instances / p50
    authors = case.authors_per_s
    return SearchTiming(
        date=date.today().isoformat(),
        device=device_name(device.type),
        commit=commit(),
        torch=torch.__version__,
        triton=triton_version(),
        case=case.name,
        positions=batch.length,
        rows=case.instances * case.augment,
        engine=pipeline.searcher.name,
        precision=settled_precision(config.precision, device),
        weights=pipeline.weights_name,
        steps=steps,
        repeats=repeats,
        p20_ms=p20,
        p50_ms=p50,
        p80_ms=p80,
        per_s=round(rate, 1),
        memory_gib=round(memory, 2),
        cost_error=_cost_error(batch.augmented(case.augment), founds[-1]),
        authors_per_s=authors,
        times_faster=None if authors is None else round(rate / authors, 2),
    )


def _timed(search: "partial[Found]", steps: int) -> tuple[float, Found]:
    """Seconds, and what was found; the search has read the costs, so the device is done."""
    began = time.perf_counter()
    found = search(Stop(steps=steps))
    return time.perf_counter() - began, found


def _steps_in(seconds: float, took: float) -> int:
    """A multiple of eight steps that takes about `seconds`, given the time of eight."""
    return min(MOST_STEPS, LEAST_STEPS * max(1, round(seconds / took)))


def _forget_memory(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def _cost_error(rows: Batch, found: Found) -> float:
    state = found.run.state
    truth_B = recost(rows, state.incumbent_BN)
    error_B = (state.incumbent_cost_B.double() - truth_B).abs() / truth_B
    error = float(error_B.max())
    if not error <= LARGEST_ERROR:
        raise RuntimeError(f"the cost of row {int(error_B.argmax())} is off by {error:.2e} of it")
    return float(f"{error:.2e}")


def with_file(cases: Sequence[SearchCase], instance: Instance) -> tuple[SearchCase, ...]:
    """The cases, with copies of this instance in place of the stand-in of the nearest size."""
    nearest = min((case for case in cases if case.stands_in), key=lambda case: abs(case.size - instance.size))
    own = replace(nearest, given=instance, name=instance.name, problem=instance.problem, size=instance.size)
    return tuple(own if case == nearest else case for case in cases)
