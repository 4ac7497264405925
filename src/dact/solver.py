"""The one-call API: instances in, checked solutions out."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack, overload

import torch
from torch import Tensor

from dact.instances import Instance, Routes, check
from dact.kernels.row_draws import streams
from dact.kernels.rows import one_thread_per_operation
from dact.policy import Weights, find_weights
from dact.problems import PROBLEMS, Batch, Problem
from dact.search import (
    Engine,
    Parts,
    SearchConfig,
    SearchRun,
    Stop,
    Trace,
    Watcher,
    best_tours,
    engine_for,
    rows_at_once,
    search_batch,
    settled_precision,
)

STARTS = ("greedy", "random")
USUAL_STEPS = 1000
Members = dict[int, Instance]
"""Instances by their place in the list that was given, which decides what they draw."""


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
    precision: str
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
    operator: str = "auto"
    """Which moves are made; auto makes those that the weights were trained with."""
    weights: str | None = None
    """A name or a file; None takes the shipped weights trained nearest to the size."""
    device: str = "auto"
    precision: str = "auto"
    """Of the policy: float32, tf32, float16 or bfloat16; auto is float16 on a GPU and float32 on a CPU."""
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
        settled_precision(self.precision, self.torch_device())
        self.stop()
        self.search()

    def search(self, trained_with: str = "two_opt") -> SearchConfig:
        """How moves are made."""
        operator = trained_with if self.operator == "auto" else self.operator
        return SearchConfig(operator=operator, patience=self.patience)

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
    weights, device, precision, seed). `start_routes` replaces the start; the answer is never worse than it.
    Instances of different sizes may be mixed. Ctrl-C ends the search and returns what has been found.
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
    for members in _groups(instances):
        for index, result in _solve_alike(members, config, start_routes, watch):
            yield index, result
            if result.interrupted:
                config = _only_starts(config)


def _groups(instances: Sequence[Instance]) -> Iterable[Members]:
    """Instances that can share a batch: one problem, one tour length, one size."""
    groups: dict[tuple[str, int, int], Members] = defaultdict(dict)
    for index, instance in enumerate(instances):
        length = PROBLEMS[instance.problem].tour_length(instance)
        groups[instance.problem, length, instance.size][index] = instance
    return groups.values()


def _only_starts(config: SolveConfig) -> SolveConfig:
    """After Ctrl-C the instances still waiting are answered with their starts."""
    return replace(config, steps=0, time_limit=None)


def _solve_alike(
    members: Members, config: SolveConfig, start_routes: Routes | None, watch: Watcher | None
) -> Iterator[tuple[int, Result]]:
    """Solve instances of one problem and tour length with one engine, as many side by side as suit the device.

    Under a time limit every instance is searched alone, so that it gets its whole time.
    """
    indices, instances = list(members), list(members.values())
    problem, device = PROBLEMS[instances[0].problem], config.torch_device()
    one = problem.collate(instances[:1], routes_needed=len(start_routes or ()))
    weights = find_weights(problem.name, problem.features, one.customers, config.weights)
    engine = make_engine(problem, weights, config)
    rows = rows_at_once(engine, one, config.augment, device) if config.time_limit is None else 1

    def work(part: range) -> list[Result]:
        together = {indices[place]: instances[place] for place in part}
        return _solve_together(together, config, engine, weights.card.name, start_routes, watch)

    for part, results in Parts(rows).each(range(len(instances)), work):
        yield from zip((indices[place] for place in part), results, strict=True)
        if any(result.interrupted for result in results):
            config = _only_starts(config)


def _solve_together(
    members: Members,
    config: SolveConfig,
    engine: Engine,
    weights: str,
    start_routes: Routes | None,
    watch: Watcher | None,
) -> list[Result]:
    """Solve instances of one problem and tour length side by side."""
    stop = config.stop()
    stop.elapsed()
    instances = list(members.values())
    if start_routes is not None:
        _refuse_wrong_start(instances[0], start_routes)
    problem = PROBLEMS[instances[0].problem]
    batch = problem.collate(instances, routes_needed=len(start_routes or ())).to(config.torch_device())
    stream_R = streams(config.seed, list(members), batch.device, config.augment)
    given = None if start_routes is None else problem.given_start(batch, [start_routes])
    tour_BN = start_tours(problem, batch, config.start, stream_R[:: config.augment]) if given is None else given
    done = search_batch(engine, batch, tour_BN, stream_R, augment=config.augment, stop=stop, watch=watch)
    best_BN = best_tours(done.state, config.augment).tolist()
    return [
        _result(
            instance, (problem.routes(batch, start), problem.routes(batch, best)), done, trace, config.seed, weights
        )
        for instance, start, best, trace in zip(instances, tour_BN.tolist(), best_BN, done.traces, strict=True)
    ]


def _refuse_wrong_start(instance: Instance, routes: Routes) -> None:
    violations = check(instance, routes).violations
    if violations:
        raise ValueError(f"the start is not a solution of '{instance.name}': {violations[0]}")


def start_tours(problem: Problem, batch: Batch, start: str, stream_B: Tensor) -> Tensor:
    """Greedy or random tours."""
    # A greedy tour is thousands of tiny operations, at each of which PyTorch's threads would wait for one another.
    with one_thread_per_operation():
        return problem.random_start(batch, stream_B) if start == "random" else problem.greedy_start(batch)


def make_engine(problem: Problem, weights: Weights, config: SolveConfig, *, steady: bool = False) -> Engine:
    """The engine that these settings ask for; it serves any number of batches, best of one shape in a row."""
    device, search = config.torch_device(), replace(config.search(weights.card.operator), steady=steady)
    problem = problem.with_idle_moves(weights.card.idle_moves)
    return engine_for(problem, weights.policy.to(device), search, device, config.precision)


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
