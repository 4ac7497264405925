"""Blocks of a set: consecutive instances that are searched as one batch.

Shape letters: B and I instances, K marks and the end of the search.
"""

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from torch import Tensor

from dact.evaluation.results_file import Results, ResultsFile, Solved
from dact.instances import InputError, InstanceSet
from dact.instances.arrays import FloatArray
from dact.pipeline import Found, Pipeline, SolveConfig
from dact.search import Parts, Snapshot, best_tours

Shard = tuple[int, int]
"""(i, n): every n-th block from the i-th on, 1 <= i <= n."""
WHOLE: Shard = (1, 1)
Progress = Callable[[float, float], None]
"""Called with the fraction of the work done and the mean cost of the instances at hand."""


class EmptyShardError(InputError):
    """A set has fewer blocks than there are shards."""


class BlockSolver:
    """Solves blocks of a set with one pipeline."""

    def __init__(
        self,
        instances: InstanceSet,
        config: SolveConfig,
        rows: int | None,
        most: int | None,
        marks: tuple[int, ...],
        progress: Progress | None,
    ) -> None:
        self.instances, self.config, self.marks, self.progress = instances, config, marks, progress
        self.pipeline = Pipeline.build(instances.problem, instances.customers, config, steady=True)
        one = self.pipeline.problem.collate_set(instances.take(slice(1)))
        suits = self.pipeline.rows_at_once(one.length, own_distances=one.distance_INN is not None)
        self.rows = min(suits, most or suits) if rows is None else rows
        self.parts = Parts(self.rows)

    def solve(self, wanted: list[range], file: ResultsFile | None) -> Results:
        """The results of these blocks; each is added to the file when it is finished."""
        self.total, self.done = sum(map(len, wanted)), 0
        found: Results = {}
        for block in wanted:
            parts = [answer for _, answer in self.parts.each(block, self._solve_part)]
            cost_IK = np.concatenate([cost_IK for cost_IK, _ in parts])
            share_K = tuple((np.sum([seconds_K for _, seconds_K in parts], axis=0) / len(block)).tolist())
            results = {
                place: Solved(tuple(cost_K), share_K) for place, cost_K in zip(block, cost_IK.tolist(), strict=True)
            }
            if file is not None:
                file.add(results, self.instances)
            found |= results
        return found

    def _solve_part(self, part: range) -> tuple[FloatArray, FloatArray]:
        """Consecutive instances, solved as one batch: checked costs (I, K) at the marks and at the end, and the seconds
        until each."""
        began = time.perf_counter()
        instances, pipeline = self.instances.take(slice(part.start, part.stop)), self.pipeline
        batch = pipeline.problem.collate_set(instances).to(pipeline.device)
        seen_at: dict[int, tuple[Tensor, float]] = {}

        def watch(seen: Snapshot) -> None:
            if seen.steps in self.marks:
                seen_at[seen.steps] = best_tours(seen.state, seen.augment), time.perf_counter() - began
            if self.progress is not None:
                self.progress((self.done + seen.fraction * len(part)) / self.total, seen.cost)

        stop = replace(self.config.stop(), marks=self.marks)
        found = pipeline.search(batch, pipeline.starts(batch, part), stop, watch)
        if found.run.interrupted:
            raise KeyboardInterrupt
        end = found.best_BN, time.perf_counter() - began
        self.done += len(part)
        # A search that ended before a mark had found at the mark what it has found at the end.
        reached = [seen_at.get(mark, end) for mark in self.marks]
        checked = [_checked(found, instances, *each) for each in (*reached, end)]
        cost_KI, seconds_K = zip(*checked, strict=True)
        return np.stack(cost_KI, axis=1), np.array(seconds_K)


def _checked(found: Found, instances: InstanceSet, best_BN: Tensor, seconds: float) -> tuple[FloatArray, float]:
    """Checked costs of tours, and the seconds until they were found and checked."""
    began = time.perf_counter()
    costs = replace(found, best_BN=best_BN).costs(instances)
    return costs, seconds + time.perf_counter() - began


def blocks(count: int, rows: int, shard: Shard = WHOLE) -> list[range]:
    """The blocks of a shard (i, n): of all blocks of `rows` consecutive instances, every n-th from the i-th on."""
    if rows < 1:
        raise InputError(f"rows {rows} is below 1")
    number, shards = shard
    if not 1 <= number <= shards:
        raise InputError(f"shard {number}/{shards} is not one of 1/{shards} to {shards}/{shards}")
    cut = [range(first, min(first + rows, count)) for first in range(0, count, rows)]
    if number > len(cut):
        raise EmptyShardError(
            f"shard {number}/{shards} of {count} instances in blocks of {rows} is empty: choose smaller blocks (--rows)"
        )
    return cut[number - 1 :: shards]
