"""How good a search is on a set of instances."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dact.evaluation.results_file import Costs, ResultsFile, fingerprint
from dact.instances import InputError, InstanceSet
from dact.instances.arrays import FloatArray, IntArray
from dact.pipeline import Pipeline, SolveConfig
from dact.search import Parts, Snapshot
from dact.team import Team

Shard = tuple[int, int]
"""(i, n): every n-th block from the i-th on, 1 <= i <= n."""
WHOLE: Shard = (1, 1)
Progress = Callable[[float, float], None]
"""Called with the fraction of the work done and the mean cost of the instances at hand."""
SHARED_ROWS = 1000
"""Largest block that is distributed or kept in a file; an interruption loses at most one block."""


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """Costs of a set's solutions, recomputed in float64 and checked, and the time taken."""

    name: str
    problem: str
    weights: str | None
    config: SolveConfig
    steps: int
    rows: int
    """Instances per block."""
    solved: int
    """Instances solved in this call; the others came from the file."""
    seconds: float
    places: IntArray = field(repr=False)
    """Indices of the instances in the set."""
    costs: FloatArray = field(repr=False)
    reference_costs: FloatArray = field(repr=False)
    """NaN where there is none."""

    @property
    def instances(self) -> int:
        """Number of instances with results."""
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
        """Instances solved in this call times steps; the copies of an augmented instance count once."""
        return self.solved * self.steps / self.seconds


def evaluate(
    instances: InstanceSet,
    config: SolveConfig,
    *,
    rows: int | None = None,
    shard: Shard = WHOLE,
    out: Path | None = None,
    team: Team | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Solve a set, or a shard of its blocks; the processes of a team share the blocks.

    A block is `rows` consecutive instances, searched as one batch (default: what suits the device, at most 1,000 where
    blocks are distributed or kept; halved when a GPU runs out of memory).

    The random numbers of an instance depend only on the seed and its index in the set, so that shards, teams and
    continued calls give the costs of a single call. On a CPU, another number of rows or threads rounds differently and
    may in time lead to another move; so does another number of rows on a GPU, for networks without kernels.

    `out` keeps the costs of finished blocks: blocks found there are not solved again, and the figures cover all of
    them. Ctrl-C raises KeyboardInterrupt.
    """
    started = time.perf_counter()
    team = team or Team()
    shared = out is not None or shard != WHOLE or team.size > 1
    solver = _Solver(instances, config, rows, SHARED_ROWS if shared else None, progress)
    wanted = blocks(len(instances), solver.rows, shard)
    if len(wanted) < team.size:
        few = f"too few blocks of {solver.rows} instances ({len(wanted)}) for {team.size} processes"
        raise InputError(f"{few}: choose smaller ones (--rows)")
    file = (
        None if out is None else ResultsFile(out, fingerprint(instances, solver.pipeline.weights, config, solver.rows))
    )
    # All processes read the file, so that all refuse a wrong one; the first process's reading counts.
    found = team.broadcast(file.read() if file is not None else {})
    wanted = [block for block in wanted if not all(place in found for place in block)]
    solved = team.all_gather(solver.solve(wanted[team.rank :: team.size], file))
    found = found | {place: cost for costs in solved for place, cost in costs.items()}
    # Another shard may have added to the file meanwhile.
    found = found | (file.read() if file is not None else {})
    places = np.array(sorted(found))
    known = np.full(len(instances), np.nan) if instances.reference_cost is None else instances.reference_cost
    return Evaluation(
        name=instances.name,
        problem=instances.problem,
        weights=solver.pipeline.weights_name,
        config=config,
        steps=config.stop().steps or 0,
        rows=solver.rows,
        solved=sum(len(costs) for costs in solved),
        seconds=time.perf_counter() - started,
        places=places,
        costs=np.array([found[place] for place in places.tolist()]),
        reference_costs=known[places],
    )


class _Solver:
    """Solves blocks of a set with one pipeline."""

    def __init__(
        self,
        instances: InstanceSet,
        config: SolveConfig,
        rows: int | None,
        most: int | None,
        progress: Progress | None,
    ) -> None:
        self.instances, self.config, self.progress = instances, config, progress
        self.pipeline = Pipeline.build(instances.problem, instances.customers, config, steady=True)
        one = self.pipeline.problem.collate_set(instances.take(slice(1)))
        suits = self.pipeline.rows_at_once(one.length, own_distances=one.distance_INN is not None)
        self.rows = min(suits, most or suits) if rows is None else rows
        self.parts = Parts(self.rows)

    def solve(self, wanted: list[range], file: ResultsFile | None) -> Costs:
        """The costs of these blocks; each is added to the file when it is finished."""
        self.total, self.done = sum(map(len, wanted)), 0
        found: Costs = {}
        for block in wanted:
            costs = np.concatenate([costs for _, costs in self.parts.each(block, self._solve_part)])
            if file is not None:
                file.add(block, self.instances, costs)
            found |= zip(block, costs.tolist(), strict=True)
        return found

    def _solve_part(self, part: range) -> FloatArray:
        """Checked costs of consecutive instances, solved as one batch."""
        instances, pipeline = self.instances.take(slice(part.start, part.stop)), self.pipeline
        batch = pipeline.problem.collate_set(instances).to(pipeline.device)

        def watch(seen: Snapshot) -> None:
            if self.progress is not None:
                self.progress((self.done + seen.fraction * len(part)) / self.total, seen.cost)

        found = pipeline.search(batch, pipeline.starts(batch, part), self.config.stop(), watch)
        if found.run.interrupted:
            raise KeyboardInterrupt
        self.done += len(part)
        return found.costs(instances)


def blocks(count: int, rows: int, shard: Shard = WHOLE) -> list[range]:
    """The blocks of a shard (i, n): of all blocks of `rows` consecutive instances, every n-th from the i-th on."""
    if rows < 1:
        raise InputError(f"rows {rows} is below 1")
    number, shards = shard
    if not 1 <= number <= shards:
        raise InputError(f"shard {number}/{shards} is not one of 1/{shards} to {shards}/{shards}")
    cut = [range(first, min(first + rows, count)) for first in range(0, count, rows)]
    if number > len(cut):
        raise InputError(
            f"shard {number}/{shards} of {count} instances in blocks of {rows} is empty: choose smaller blocks (--rows)"
        )
    return cut[number - 1 :: shards]
