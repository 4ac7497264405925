"""Searches over many instances with the way that costs took: copies of a set side by side, or files one by one.

Shape letters: I instances, D distinct ones, M chosen ones.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from dact.instances import InputError, Instance, InstanceSet
from dact.instances.arrays import FloatArray, IntArray
from dact.pipeline import Pipeline, SolveConfig
from dact.search import Snapshot, Watcher
from dact.solver import Plan, Result

Watch = Callable[[float], None]
"""Called with how far a search is, from 0 to 1."""


class Point(NamedTuple):
    """Where a search stood at a moment."""

    seconds: float
    rounds: int
    cost: float
    """The mean over all instances."""
    gap: float | None
    """The mean gap in percent; None without references."""


@dataclass(frozen=True, kw_only=True)
class Searched:
    """What came of a search over all instances."""

    costs: FloatArray
    """(I,): recomputed in float64 and checked."""
    curve: list[Point]
    seconds: float
    """Of the search; of files the mean."""
    call_seconds: float
    """From the instances at hand to the checked answers; of files the mean."""
    rounds: int
    """Of every row; of files the mean."""
    rounds_per_s: float
    """Of all rows together."""
    network_percent: float | None
    """Share of the search that a network took; None if it was not counted."""


class Bench(Protocol):
    """Instances that searches are compared on."""

    @property
    def name(self) -> str:
        """For reports."""
        ...

    @property
    def count(self) -> int:
        """Instances that are searched."""
        ...

    @property
    def known_D(self) -> FloatArray | None:
        """Reference costs of the distinct instances; instance i is distinct one i modulo D."""
        ...

    @property
    def different(self) -> int:
        """How many instances are distinct."""
        ...

    def search(self, config: SolveConfig, watch: Watch | None = None) -> Searched:
        """Search all instances. Ctrl-C raises."""
        ...


@dataclass(frozen=True, kw_only=True)
class SetBench:
    """Copies of the instances of a set, searched side by side; each draws for itself."""

    distinct: InstanceSet
    count: int

    @property
    def name(self) -> str:
        """Of the set."""
        return self.distinct.name

    @property
    def known_D(self) -> FloatArray | None:
        """Reference costs of the set."""
        return self.distinct.reference_cost

    @property
    def different(self) -> int:
        """No more than are searched."""
        return min(len(self.distinct), self.count)

    def search(self, config: SolveConfig, watch: Watch | None = None) -> Searched:
        """All at once."""
        began, instances = time.perf_counter(), tiled(self.distinct, self.count)
        pipeline = Pipeline.build(instances.problem, instances.customers, config, steady=True)
        batch = pipeline.problem.collate_set(instances).to(pipeline.device)
        known_I, curve = instances.reference_cost, list[Point]()

        def look(seen: Snapshot) -> None:
            curve.append(Point(seen.seconds, seen.steps, seen.cost, mean_gap(seen.cost_I, known_I)))
            if watch is not None:
                watch(seen.fraction)

        found = pipeline.search(batch, pipeline.starts(batch, range(batch.rows)), config.stop(), look)
        if found.run.interrupted:
            raise KeyboardInterrupt
        costs, run, network = found.costs(instances), found.run, pipeline.searcher.network_seconds()
        seconds = max(run.seconds, 1e-9)
        return Searched(
            costs=costs,
            curve=[*curve, Point(run.seconds, run.steps, float(costs.mean()), mean_gap(costs, known_I))],
            seconds=run.seconds,
            call_seconds=time.perf_counter() - began,
            rounds=run.steps,
            rounds_per_s=run.steps * len(instances) * pipeline.copies / seconds,
            network_percent=None if network is None else 100 * network / seconds,
        )


@dataclass(frozen=True, kw_only=True)
class FilesBench:
    """Instances searched one after the other, as `dact solve` does it."""

    name: str
    members: Sequence[Instance]

    @property
    def count(self) -> int:
        """How many."""
        return len(self.members)

    @property
    def different(self) -> int:
        """All are."""
        return self.count

    @property
    def known_D(self) -> FloatArray | None:
        """Best known values, where all instances have one."""
        values = [each.best_known for each in self.members]
        return None if None in values else np.array(values, dtype=np.float64)

    def search(self, config: SolveConfig, watch: Watch | None = None) -> Searched:
        """One by one."""
        results: list[Result] = []
        began = time.perf_counter()
        for place, instance in enumerate(self.members, start=1):

            def look(seen: Snapshot, done: int = place - 1) -> None:
                if watch is not None:
                    watch((done + seen.fraction) / self.count)

            results.append(_solved(instance, config, look))
        seconds, steps = (float(np.mean([getattr(each, name) for each in results])) for name in ("seconds", "steps"))
        return Searched(
            costs=np.array([each.cost for each in results]),
            curve=mean_curve(results, self.known_D),
            seconds=seconds,
            call_seconds=(time.perf_counter() - began) / self.count,
            rounds=round(steps),
            rounds_per_s=steps * config.copies(alone=True) / max(seconds, 1e-9),
            network_percent=None,
        )


def _solved(instance: Instance, config: SolveConfig, watch: Watcher) -> Result:
    plan = Plan([instance], config)
    for _, result in plan.results(watch):
        if result.interrupted:
            raise KeyboardInterrupt
        return result
    raise InputError(plan.unreached[0])


def referenced(instances: InstanceSet) -> InstanceSet:
    """Those with a reference cost, where there are any; else all, and none has one."""
    known = instances.reference_cost
    if known is None or not (known > 0).any():
        return replace(instances, reference_cost=None)
    return _chosen(instances, np.flatnonzero(known > 0))


def tiled(instances: InstanceSet, count: int) -> InstanceSet:
    """So many, the same ones again and again where there are fewer."""
    return replace(_chosen(instances, np.arange(count) % len(instances)), numbers=np.arange(count))


def _chosen(instances: InstanceSet, place_M: IntArray) -> InstanceSet:
    names = ("coordinates", "demand", "capacity", "numbers", "reference_cost")
    arrays = {name: getattr(instances, name) for name in names}
    return replace(instances, **{name: array[place_M] for name, array in arrays.items() if array is not None})


def mean_gap(cost_I: FloatArray, known_I: FloatArray | None) -> float | None:
    """In percent; None without references."""
    return None if known_I is None else float((100 * (cost_I / known_I - 1)).mean())


def mean_curve(results: Sequence[Result], known: FloatArray | None) -> list[Point]:
    """Means over the instances whenever one of them has found something better, and at the end."""
    costs = np.array([result.trace[0].cost for result in results])
    found = sorted(
        (point.seconds, place, point.step, point.cost)
        for place, result in enumerate(results)
        for point in result.trace[1:]
    )
    curve = []
    for seconds, place, step, cost in found:
        costs[place] = cost
        curve.append(Point(seconds, step, float(costs.mean()), mean_gap(costs, known)))
    ends = np.array([result.cost for result in results])
    seconds, steps = max(result.seconds for result in results), max(result.steps for result in results)
    return [*curve, Point(seconds, steps, float(ends.mean()), mean_gap(ends, known))]
