"""The solvers: peers with one process per core, and our own searches on all cores or on the GPU."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch

import dact
from dact.bench.measurements import cpu_name, device_name
from dact.bench.peers.contest import Attempt, Contest, Progress, Round, Run, Solver
from dact.instances import Instance, InstanceSet, check
from dact.instances.arrays import FloatArray
from dact.peers import PEERS, Crew, Peer, PeerError, Solved, Task
from dact.pipeline import InfeasibleError, Pipeline, SolveConfig
from dact.search import Parts, Snapshot, Stop
from dact.solver import solve

LEAST_SECONDS = 1e-3
OWN = ("hybrid", "policy")
Search = Callable[[Round, float | None, Progress], FloatArray]
"""Judged costs; without seconds, one step for warming up."""


@dataclass(frozen=True)
class PeerSolver:
    """A peer on some cores."""

    peer: Peer
    cores: int

    @property
    def name(self) -> str:
        """In tables."""
        return self.peer.name

    @property
    def version(self) -> str:
        """Of its package."""
        return self.peer.version

    @property
    def terms(self) -> str:
        """What has to be said of it."""
        return self.peer.terms

    @property
    def missing(self) -> str:
        """Why it cannot run."""
        return self.peer.missing

    @property
    def place(self) -> tuple[int | None, str]:
        """A process on each core."""
        return self.cores, cpu_name()

    def takes(self, instance: Instance) -> bool:
        """Is this its problem?"""
        return self.peer.takes(instance)

    @contextmanager
    def start(self, contest: Contest) -> Iterator[Run]:
        """Start the processes. A set is distributed over them; a file is solved by all, and the best answer counts."""
        members = len(contest.rounds[0].members)
        size = min(self.cores, members) if contest.of_one_set else self.cores
        with Crew(self.peer, size, contest.sample) as crew:

            def run(part: Round, seconds: float, progress: Progress) -> Attempt:
                shares = self._shares(part, seconds, size)
                solved, passed = crew.solve(shares, seconds, progress)
                busy = sum(each.cpu_seconds for each in solved) / (self.cores * passed)
                limit = f"{self.peer.limit}: {shares[0][0].seconds:.3g} s an instance"
                return Attempt(costs=_judged(part, solved), seconds=passed, busy=busy, limit=limit)

            yield run

    @staticmethod
    def _shares(part: Round, seconds: float, size: int) -> list[list[Task]]:
        """The tasks of each process."""
        if part.whole is None:
            return [[Task(0, part.members[0], seconds, copy)] for copy in range(size)]
        each = seconds / -(-len(part.members) // size)
        tasks = [Task(place, member, each) for place, member in enumerate(part.members)]
        return [tasks[first::size] for first in range(size)]


def _judged(part: Round, solved: list[Solved]) -> FloatArray:
    """Costs in float64 by our own checker; the best if several processes solved an instance."""
    costs: dict[int, list[float]] = defaultdict(list)
    for each in solved:
        verdict = check(part.members[each.place], each.routes)
        if not verdict.feasible:
            name = part.members[each.place].name
            raise PeerError(f"gave an infeasible answer to {name}: {verdict.violations[0]}")
        costs[each.place].append(verdict.cost)
    return np.array([min(costs[place]) for place in range(len(part.members))])


@dataclass(frozen=True, kw_only=True)
class OwnSolver:
    """One of our search methods."""

    method: str
    cores: int
    device: str = "auto"

    terms = missing = ""

    @property
    def name(self) -> str:
        """In tables."""
        return f"DACT {self.method}"

    @property
    def version(self) -> str:
        """Of this package."""
        return dact.__version__

    @property
    def place(self) -> tuple[int | None, str]:
        """The GPU, or all cores."""
        kind = self._config().torch_device().type
        return (self.cores if kind == "cpu" else None), device_name(kind)

    def takes(self, instance: Instance) -> bool:
        """All."""
        return True

    @contextmanager
    def start(self, contest: Contest) -> Iterator[Run]:
        """Compile what has to be compiled."""
        before = torch.get_num_threads()
        torch.set_num_threads(self.cores)
        search = self._search_set if contest.of_one_set else self._search_file
        try:
            search(contest.rounds[0], None, lambda fraction: None)
            yield lambda part, seconds, progress: self._timed(search, part, seconds, progress)
        finally:
            torch.set_num_threads(before)

    def _timed(self, search: Search, part: Round, seconds: float, progress: Progress) -> Attempt:
        began, used = time.perf_counter(), time.process_time()
        try:
            costs = search(part, seconds, progress)
        except InfeasibleError as error:
            raise PeerError(f"gave an infeasible answer: {error}") from None
        passed = time.perf_counter() - began
        busy = None if self.place[0] is None else (time.process_time() - used) / (self.cores * passed)
        each = seconds / len(part.members)
        return Attempt(costs=costs, seconds=passed, busy=busy, limit=f"time limit: {each:.3g} s an instance")

    def _config(self, seconds: float | None = None) -> SolveConfig:
        """Without seconds, one step for warming up."""
        limit = {"steps": 1} if seconds is None else {"time_limit": seconds}
        return SolveConfig.flat(search=self.method, device=self.device, **limit)

    def _search_file(self, part: Round, seconds: float | None, progress: Progress) -> FloatArray:
        def watch(seen: Snapshot) -> None:
            progress(seen.fraction)

        limit = {"steps": 1} if seconds is None else {"time_limit": seconds}
        result = solve(part.members[0], search=self.method, device=self.device, watch=watch, **limit)
        if result.interrupted:
            raise KeyboardInterrupt
        if result.fault:
            raise PeerError(f"gave an infeasible answer to {part.name}: {result.fault}")
        return np.array([result.cost])

    def _search_set(self, part: Round, seconds: float | None, progress: Progress) -> FloatArray:
        """As many instances side by side as suit the device; each block gets its share of the time that is left."""
        assert part.whole is not None
        whole, total, began = part.whole, len(part.whole), time.perf_counter()
        pipeline = Pipeline.build(whole.problem, whole.customers, self._config(seconds), steady=True)
        one = pipeline.problem.collate_set(whole.take(slice(1)))
        rows = min(total, pipeline.rows_at_once(one.length, own_distances=one.distance_INN is not None))

        def work(block: range) -> FloatArray:
            stop = Stop(steps=1)
            if seconds is not None:
                left = seconds - (time.perf_counter() - began)
                stop = Stop(seconds=max(LEAST_SECONDS, left * len(block) / (total - block.start)))
            instances = whole.take(slice(block.start, block.stop))
            return _searched(pipeline, instances, block, stop, lambda done: progress((block.start + done) / total))

        places = range(total if seconds is not None else rows)
        return np.concatenate([costs for _, costs in Parts(rows).each(places, work)])


def _searched(
    pipeline: Pipeline, instances: InstanceSet, block: range, stop: Stop, progress: Callable[[float], None]
) -> FloatArray:
    """Judged costs of consecutive instances."""

    def watch(seen: Snapshot) -> None:
        progress(seen.fraction * len(block))

    stop.elapsed()
    batch = pipeline.problem.collate_set(instances).to(pipeline.device)
    found = pipeline.search(batch, pipeline.starts(batch, block), stop, watch)
    if found.run.interrupted:
        raise KeyboardInterrupt
    return found.costs(instances)


def all_solvers(cores: int, device: str = "auto") -> dict[str, Solver]:
    """By their names on the command line, ours first."""
    own = {method: OwnSolver(method=method, cores=cores, device=device) for method in OWN}
    return {**own, **{peer.key: PeerSolver(peer, cores) for peer in PEERS}}
