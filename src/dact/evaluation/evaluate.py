"""How good a search is on a set of instances."""

import math
import time
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from dact.evaluation.blocks import WHOLE, BlockSolver, Progress, Shard, blocks
from dact.evaluation.results_file import Results, ResultsFile, fingerprint
from dact.instances import InputError, InstanceSet
from dact.instances.arrays import FloatArray, IntArray
from dact.pipeline import SolveConfig
from dact.team import Team

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
    """Of this call."""
    work_seconds: float | None
    """Of all blocks from their starts to the checked costs, added up over calls and processes. None: an older version
    kept some of them."""
    places: IntArray = field(repr=False)
    """Indices of the instances in the set."""
    costs: FloatArray = field(repr=False)
    reference_costs: FloatArray = field(repr=False)
    """NaN where there is none."""
    marks: tuple["Evaluation", ...] = field(default=(), repr=False)
    """What the search had found after fewer steps. Their `work_seconds` end there; `seconds` are of the whole call."""

    def after(self, steps: int, costs: FloatArray, work_seconds: float | None) -> "Evaluation":
        """The same search after fewer steps."""
        config = replace(self.config, steps=steps)
        return replace(self, config=config, steps=steps, costs=costs, work_seconds=work_seconds)

    @property
    def stages(self) -> tuple["Evaluation", ...]:
        """At the marks and at the end."""
        return (*self.marks, self)

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
    marks: tuple[int, ...] = (),
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

    `marks` are smaller numbers of steps, of the policy search, for which the answers are wanted too: they are what
    searches of so many steps would find, since no step of the policy depends on how many follow.
    """
    started = time.perf_counter()
    team = team or Team()
    _refuse_wrong_marks(marks, config)
    shared = out is not None or shard != WHOLE or team.size > 1
    solver = BlockSolver(instances, config, rows, SHARED_ROWS if shared else None, marks, progress)
    wanted = blocks(len(instances), solver.rows, shard)
    if len(wanted) < team.size:
        few = f"too few blocks of {solver.rows} instances ({len(wanted)}) for {team.size} processes"
        raise InputError(f"{few}: choose smaller ones (--rows)")
    file = None
    if out is not None:
        file = ResultsFile(out, fingerprint(instances, solver.pipeline.weights, config, solver.rows, marks), marks)
    # All processes read the file, so that all refuse a wrong one; the first process's reading counts.
    found = team.broadcast(file.read() if file is not None else {})
    wanted = [block for block in wanted if not all(place in found for place in block)]
    solved = team.all_gather(solver.solve(wanted[team.rank :: team.size], file))
    found = found | {place: result for results in solved for place, result in results.items()}
    # Another shard may have added to the file meanwhile.
    found = found | (file.read() if file is not None else {})
    return _evaluation(solver, found, sum(map(len, solved)), time.perf_counter() - started)


def _refuse_wrong_marks(marks: tuple[int, ...], config: SolveConfig) -> None:
    if marks and config.search != "policy":
        raise ValueError(f"marks go with the policy search: how {config.search} searches depends on where it ends")
    steps = config.stop().steps
    ends = (*marks, math.inf if steps is None else steps)
    if any(not 0 < mark < after for mark, after in pairwise(ends)):
        raise ValueError(f"marks {', '.join(map(str, marks))} do not rise from 1 to below {ends[-1]} steps")


def _evaluation(solver: BlockSolver, found: Results, solved: int, seconds: float) -> Evaluation:
    instances, config = solver.instances, solver.config
    places = np.array(sorted(found))
    cost_IK, seconds_IK = (np.array(each) for each in zip(*(found[place] for place in places.tolist()), strict=True))
    work_seconds = [None if math.isnan(total) else total for total in seconds_IK.sum(axis=0).tolist()]
    known = np.full(len(instances), np.nan) if instances.reference_cost is None else instances.reference_cost
    whole = Evaluation(
        name=instances.name,
        problem=instances.problem,
        weights=solver.pipeline.weights_name,
        config=config,
        steps=config.stop().steps or 0,
        rows=solver.rows,
        solved=solved,
        seconds=seconds,
        work_seconds=work_seconds[-1],
        places=places,
        costs=cost_IK[:, -1],
        reference_costs=known[places],
    )
    at_marks = zip(solver.marks, cost_IK.T, work_seconds, strict=False)
    return replace(whole, marks=tuple(whole.after(*each) for each in at_marks))
