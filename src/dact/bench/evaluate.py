"""How good a policy is on a set of instances."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from dact.bench.judge import judge
from dact.instances import InputError, InstanceSet
from dact.instances.arrays import FloatArray
from dact.policy import Weights, find_weights
from dact.problems import PROBLEMS
from dact.solve import SolveConfig, best_tours, rows_at_once, search_batch, start_tours

Progress = Callable[[float, float], None]
"""Called with the fraction of the work done and the mean cost of the instances at hand."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Costs of the solutions found, each recomputed in float64 and checked, and the time it took."""

    name: str
    problem: str
    weights: str
    config: SolveConfig
    steps: int
    seconds: float
    costs: FloatArray = field(repr=False)
    reference_costs: FloatArray = field(repr=False)
    """NaN where there is none."""

    @property
    def instances(self) -> int:
        """How many were solved."""
        return len(self.costs)

    @property
    def mean_cost(self) -> float:
        """Over all instances."""
        return float(self.costs.mean())

    @property
    def gaps(self) -> FloatArray:
        """Percent above the reference, instance by instance, of those that have one."""
        known = self.reference_costs > 0
        return 100 * (self.costs[known] / self.reference_costs[known] - 1)

    @property
    def gap(self) -> float | None:
        """The mean gap; None without references."""
        return float(self.gaps.mean()) if len(self.gaps) else None

    @property
    def instance_steps_per_second(self) -> float:
        """Instances times steps; the copies of an augmented instance count once."""
        return self.instances * self.steps / self.seconds


def part(instances: InstanceSet, limit: int | None = None, shard: tuple[int, int] = (1, 1)) -> InstanceSet:
    """The first `limit` instances, and of those every n-th from the i-th on for the shard (i, n), 1 <= i <= n."""
    if limit is not None and limit < 1:
        raise InputError(f"limit {limit} is below 1")
    number, count = shard
    if not 1 <= number <= count:
        raise InputError(f"shard {number}/{count} is not one of 1/{count} to {count}/{count}")
    size = len(instances) if limit is None else min(limit, len(instances))
    if number > size:
        raise InputError(f"shard {number}/{count} of {size} instances is empty")
    return instances.take(slice(number - 1, size, count))


def evaluate(
    instances: InstanceSet, config: SolveConfig, *, rows: int | None = None, progress: Progress | None = None
) -> Evaluation:
    """Solve every instance with the same settings, `rows` side by side (default: what suits the device).

    The same seed, rows and device give the same costs. The rows are drawn for together, so another number of
    them, or another shard, gives other draws for an instance. Ctrl-C raises.
    """
    started = time.perf_counter()
    problem, device = PROBLEMS[instances.problem], config.torch_device()
    one = problem.collate_set(instances.take(slice(1)))
    weights = find_weights(problem.name, problem.features, one.customers, config.weights)
    rows = rows or rows_at_once(one.length, config.augment, device)
    generator = torch.Generator(device=device).manual_seed(config.seed)
    costs: list[FloatArray] = []
    for first in range(0, len(instances), rows):
        chunk = instances.take(slice(first, first + rows))
        share = (first / len(instances), len(chunk) / len(instances))
        costs.append(_solve_chunk(chunk, config, weights, generator, share, progress))
    missing = np.full(len(instances), np.nan)
    return Evaluation(
        name=instances.name,
        problem=instances.problem,
        weights=weights.card.name,
        config=config,
        steps=config.stop().steps or 0,
        seconds=time.perf_counter() - started,
        costs=np.concatenate(costs),
        reference_costs=missing if instances.reference_cost is None else instances.reference_cost,
    )


def _solve_chunk(
    instances: InstanceSet,
    config: SolveConfig,
    weights: Weights,
    generator: torch.Generator,
    share: tuple[float, float],
    progress: Progress | None,
) -> FloatArray:
    """Judged costs of instances solved side by side."""
    problem = PROBLEMS[instances.problem]
    batch = problem.collate_set(instances).to(generator.device)
    tour_BN = start_tours(problem, batch, config.start, generator)
    before, size = share

    def watch(fraction: float, steps: int, seconds: float, cost: float) -> None:
        if progress is not None:
            progress(before + size * fraction, cost)

    done = search_batch(problem, batch, tour_BN, weights, config, stop=config.stop(), generator=generator, watch=watch)
    if done.interrupted:
        raise KeyboardInterrupt
    return judge(instances, best_tours(done.state, config.augment).cpu().numpy(), batch.depots)
