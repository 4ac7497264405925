"""The one-call API: instances in, checked solutions out."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack, overload

import torch
from torch import Generator, Tensor

from dact.instances import Instance, Routes, check
from dact.policy import Weights, find_weights
from dact.problems import PROBLEMS, Batch, Problem
from dact.search import (
    PlainEngine,
    SearchConfig,
    SearchRun,
    SearchState,
    Stop,
    Trace,
    Watcher,
    run,
    start_state,
)

STARTS = ("greedy", "random")
USUAL_STEPS = 1000
SMALLEST = 4
"""Tours shorter than this have nothing to search."""


class Settings(TypedDict, total=False):
    """The keywords of `solve`; `SolveConfig` says what they mean."""

    steps: int | None
    time_limit: float | None
    target: float | None
    augment: int
    patience: int
    start: str
    operator: str
    weights: str | None
    device: str
    seed: int


@dataclass(frozen=True, kw_only=True)
class SolveConfig:
    """What may be asked of a solve."""

    steps: int | None = None
    """None: as many as fit the time limit, or 1000 without one."""
    time_limit: float | None = None
    """Seconds for each instance."""
    target: float | None = None
    """Stop once the cost is this low."""
    augment: int = 1
    """Search this many of the eight symmetric pictures of an instance side by side."""
    patience: int = 250
    start: str = "greedy"
    operator: str = "two_opt"
    weights: str | None = None
    """A name or a file; None takes the shipped weights trained nearest to the size."""
    device: str = "auto"
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.augment <= 8:
            raise ValueError(f"augment is {self.augment}, but must be 1 to 8")
        if self.start not in STARTS:
            raise ValueError(f"start '{self.start}' is not one of {', '.join(STARTS)}")
        if self.device not in ("auto", "cpu", "cuda"):
            raise ValueError(f"device '{self.device}' is not one of auto, cpu, cuda")
        if self.device == "cuda" and not torch.cuda.is_available():
            raise ValueError("device 'cuda' was asked for, but PyTorch sees no CUDA device")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed {self.seed} is not between 0 and 2^63 - 1")
        self.stop()
        SearchConfig(operator=self.operator, patience=self.patience)

    def stop(self) -> Stop:
        """A fresh clock with these limits."""
        steps = USUAL_STEPS if self.steps is None and self.time_limit is None else self.steps
        return Stop(steps=steps, seconds=self.time_limit, target=self.target)

    def torch_device(self) -> torch.device:
        """Where to compute."""
        if self.device == "auto":
            return torch.device("cuda" if torch.cuda.is_available() else "cpu")
        return torch.device(self.device)


@dataclass(frozen=True, kw_only=True)
class Result:
    """The best solution found, its cost by the instance's own rule, and how it was found."""

    instance: Instance
    routes: Routes
    """Customers of each route (CVRP), or the one tour (TSP), as instance indices."""
    cost: float
    """In float64, by code that shares nothing with the search."""
    start_cost: float
    feasible: bool
    steps: int
    seconds: float
    seed: int
    weights: str
    trace: Trace
    interrupted: bool = False

    @property
    def gap(self) -> float | None:
        """Percent above the best known value; None without one."""
        best = self.instance.best_known
        return 100 * (self.cost - best) / best if best else None


@overload
def solve(
    instances: Instance,
    *,
    start_routes: Routes | None = None,
    watch: Watcher | None = None,
    **settings: Unpack[Settings],
) -> Result: ...
@overload
def solve(
    instances: Sequence[Instance],
    *,
    start_routes: None = None,
    watch: Watcher | None = None,
    **settings: Unpack[Settings],
) -> list[Result]: ...
def solve(
    instances: Instance | Sequence[Instance],
    *,
    start_routes: Routes | None = None,
    watch: Watcher | None = None,
    **settings: Unpack[Settings],
) -> Result | list[Result]:
    """Improve each instance's start with the learnt policy and return the best solution ever seen.

    `settings` are the fields of `SolveConfig` (steps, time_limit, target, augment, patience, start, operator,
    weights, device, seed). `start_routes` replaces the start; the answer is never worse than it. Instances of
    different sizes may be mixed. Ctrl-C ends the search and returns what has been found.
    """
    config = SolveConfig(**settings)
    if isinstance(instances, Instance):
        return next(solve_each([instances], config, start_routes=start_routes, watch=watch))[1]
    results = dict(solve_each(instances, config, watch=watch))
    return [results[index] for index in range(len(instances))]


def solve_each(
    instances: Sequence[Instance],
    config: SolveConfig,
    *,
    start_routes: Routes | None = None,
    watch: Watcher | None = None,
) -> Iterator[tuple[int, Result]]:
    """Like `solve`, but hand over each answer, with its index, as soon as it is there.

    Instances of equal size come together, so the order is not always that of the list.
    """
    for members in _groups(instances, config):
        solved = _solve_group([instances[i] for i in members], config, start_routes, watch)
        yield from zip(members, solved, strict=True)
        if any(result.interrupted for result in solved):
            # The instances still waiting are answered with their starts.
            config = replace(config, steps=0, time_limit=None)


def rows_at_once(length: int, augment: int, device: torch.device) -> int:
    """How many instances of a tour length to search side by side: what is fastest, in bounded memory.

    On a CPU about 1200 positions keep the working set in the cache (measured: 64 rows of 20, 8 to 16 of 100).
    """
    rows = 1200 // length if device.type == "cpu" else 20_000_000 // length**2
    return max(1, rows // augment)


def _groups(instances: Sequence[Instance], config: SolveConfig) -> Iterator[list[int]]:
    """Indices of instances that share a batch: one problem, one tour length, not too many.

    Under a time limit every instance is searched alone, so that it gets its whole time.
    """
    groups: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for index, instance in enumerate(instances):
        length = PROBLEMS[instance.problem].tour_length(instance)
        groups[instance.problem, length, instance.size].append(index)
    for (_, length, _), members in groups.items():
        rows = rows_at_once(length, config.augment, config.torch_device()) if config.time_limit is None else 1
        yield from (members[first : first + rows] for first in range(0, len(members), rows))


def _solve_group(
    instances: Sequence[Instance], config: SolveConfig, start_routes: Routes | None, watch: Watcher | None
) -> list[Result]:
    """Solve instances of one problem and tour length side by side."""
    stop = config.stop()
    stop.elapsed()
    if start_routes is not None:
        _refuse_wrong_start(instances[0], start_routes)
    problem = PROBLEMS[instances[0].problem]
    batch = problem.collate(instances, routes_needed=len(start_routes or ())).to(config.torch_device())
    weights = find_weights(problem.name, problem.features, batch.customers, config.weights)
    generator = torch.Generator(device=batch.device).manual_seed(config.seed)
    given = None if start_routes is None else problem.given_start(batch, [start_routes])
    tour_BN = start_tours(problem, batch, config.start, generator) if given is None else given
    done = search_batch(problem, batch, tour_BN, weights, config, stop=stop, generator=generator, watch=watch)
    best_BN = best_tours(done.state, config.augment).tolist()
    return [
        _result(
            instance,
            (problem.routes(batch, start), problem.routes(batch, best)),
            done,
            trace,
            config.seed,
            weights.card.name,
        )
        for instance, start, best, trace in zip(instances, tour_BN.tolist(), best_BN, done.traces, strict=True)
    ]


def _refuse_wrong_start(instance: Instance, routes: Routes) -> None:
    violations = check(instance, routes).violations
    if violations:
        raise ValueError(f"the start is not a solution of '{instance.name}': {violations[0]}")


def start_tours(problem: Problem, batch: Batch, start: str, generator: Generator) -> Tensor:
    """Greedy or random tours."""
    return problem.random_start(batch, generator) if start == "random" else problem.greedy_start(batch)


def search_batch(
    problem: Problem,
    batch: Batch,
    tour_BN: Tensor,
    weights: Weights,
    config: SolveConfig,
    *,
    stop: Stop,
    generator: Generator,
    watch: Watcher | None = None,
) -> SearchRun:
    """Search from the given tours, `config.augment` rows for each."""
    if batch.length < SMALLEST:
        stop = Stop(steps=0)
    engine = PlainEngine(
        problem,
        weights.policy.to(batch.device),
        SearchConfig(operator=config.operator, patience=config.patience),
    )
    rows = batch.augmented(config.augment)
    tour_RN = tour_BN.repeat_interleave(config.augment, dim=0)
    chunk = 1 if batch.device.type == "cpu" else 32
    state = start_state(tour_RN, rows.cost(tour_RN))
    return run(engine, rows, state, stop, generator, augment=config.augment, chunk=chunk, watch=watch)


def best_tours(state: SearchState, augment: int) -> Tensor:
    """The incumbent of the best augmentation of each instance."""
    best_I1 = state.incumbent_cost_B.view(-1, augment).argmin(1, keepdim=True)
    row_I = best_I1.squeeze(1) + augment * torch.arange(len(best_I1), device=best_I1.device)
    return state.incumbent_BN[row_I]


def _result(
    instance: Instance, routes: tuple[Routes, Routes], done: SearchRun, trace: Trace, seed: int, weights: str
) -> Result:
    """The better of start and end, as the independent checker sees them.

    The search compares costs in float32, so by the instance's own rule its best may tie with the start.
    """
    started, ended = (check(instance, each) for each in routes)
    improved = ended.cost < started.cost
    best = ended if improved else started
    return Result(
        instance=instance,
        routes=routes[improved],
        cost=best.cost,
        start_cost=started.cost,
        feasible=best.feasible,
        steps=done.steps,
        seconds=done.seconds,
        seed=seed,
        weights=weights,
        trace=trace,
        interrupted=done.interrupted,
    )
