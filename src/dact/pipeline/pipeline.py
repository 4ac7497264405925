"""Searching batches of one problem and checking what was found.

Shape letters: B instances, R rows (instances times augmentations), N tour length.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from dact.instances import Instance, InstanceSet, Routes, Verdict, better_directions, check, simplest_routes
from dact.instances.arrays import FloatArray
from dact.kernels.row_draws import streams
from dact.pipeline.config import SolveConfig
from dact.pipeline.judge import judge, recost
from dact.pipeline.methods import SEARCHES, Setup
from dact.policy import Library, Weights
from dact.problems import PROBLEMS, Batch, Problem
from dact.search import End, Searcher, SearchRun, Stop, Watcher, best_tours, rows_at_once, search_batch
from dact.threads import one_thread_per_operation
from dact.tours import legs_apart

FINISH_SECONDS = 0.15
"""Time that the final local search may take beyond the time limit, or after an interruption."""


class Starts(NamedTuple):
    """Initial tours of a search."""

    tour_BN: Tensor
    stream_R: Tensor
    """Each row's own stream of random numbers."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The better of the start and the search's best, by the instance's own rule and the independent checker."""

    routes: Routes
    cost: float
    start_cost: float
    feasible: bool
    start_routes: Routes = ()
    local_optimum: bool = False
    """True if no move of the local search improves it."""
    apart: float = 0.0
    """Mean share of the legs of its rows' last tours that the best tour lacks."""
    fault: str = ""
    """Why the search's tour is infeasible (a bug of DACT), or "". The answer is then another, feasible tour."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """Result of a search, with checks that are independent of the search code."""

    problem: Problem
    batch: Batch
    start_BN: Tensor
    best_BN: Tensor
    """The best tour of each instance over its augmentations."""
    run: SearchRun
    optimal: bool = False
    """True if the best tours are local optima."""
    copies: int = 1
    """Rows of each instance."""

    def answers(self, instances: Sequence[Instance]) -> list[Answer]:
        """One answer per instance of the batch."""
        tours = zip(self.start_BN.tolist(), self.best_BN.tolist(), self._apart(), strict=True)
        return [self._answer(instance, *each) for instance, each in zip(instances, tours, strict=True)]

    def costs(self, instances: InstanceSet | None = None) -> FloatArray:
        """(B,) costs in float64, by the set that the batch was made from, or by the batch. Raises InfeasibleError."""
        if instances is not None:
            return judge(instances, self.best_BN.cpu().numpy(), self.batch.depots)
        cost_B: FloatArray = recost(self.batch, self.best_BN).cpu().numpy()
        return cost_B

    def _apart(self) -> list[float]:
        """How different the rows of each instance are from its best tour."""
        best_RN = self.best_BN.repeat_interleave(self.copies, dim=0)
        apart_R = legs_apart(self.run.state.tour_BN, best_RN, self.batch.depots)
        apart: list[float] = apart_R.view(-1, self.copies).mean(1).tolist()
        return apart

    def _answer(self, instance: Instance, start_N: Sequence[int], best_N: Sequence[int], apart: float) -> Answer:
        """The search compares costs in float32, so by the instance's own rule its best may equal the start."""
        judged = [self._judged(instance, tour_N) for tour_N in (start_N, best_N)]
        if not instance.symmetric:
            # No search reverses whole routes.
            turned = better_directions(instance, judged[-1][1])
            judged.append((check(instance, turned), turned))
        faults = [verdict.violations[0] for verdict, _ in judged if not verdict.feasible]
        sound = [each for each in judged if each[0].feasible]
        if not sound:
            simple = simplest_routes(instance)
            sound = [(check(instance, simple), simple)]
        # On ties the start wins, unless the search's best is a local optimum.
        best, routes = min(reversed(sound) if self.optimal else sound, key=lambda each: each[0].cost)
        return Answer(
            routes=routes,
            cost=best.cost,
            start_cost=sound[0][0].cost,
            start_routes=sound[0][1],
            feasible=best.feasible,
            local_optimum=self.optimal and best is judged[-1][0],
            apart=apart,
            fault=faults[0] if faults else "",
        )

    def _judged(self, instance: Instance, tour_N: Sequence[int]) -> tuple[Verdict, Routes]:
        try:
            routes = self.problem.routes(self.batch, tour_N)
        except (IndexError, ValueError):
            # A tour that does not begin at a depot has no routes.
            routes = ()
        return check(instance, routes), routes


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """Searches batches of one problem; fastest if consecutive batches have the same shape."""

    problem: Problem
    searcher: Searcher
    device: torch.device
    copies: int = 1
    """Rows that search one instance: its augmentations, or its walks."""
    start: str = "greedy"
    seed: int = 0
    method: str = "policy"
    weights: Weights | None = None
    """The weights in use; None if the method needs none."""

    @classmethod
    def build(
        cls, problem: str, customers: int, config: SolveConfig, *, steady: bool = False, library: Library | None = None
    ) -> "Pipeline":
        """A pipeline by the settings, with weights for instances of about this many customers (the depot does not
        count)."""
        setup = Setup(
            problem=PROBLEMS[problem],
            customers=customers,
            config=config,
            steady=steady,
            walks=config.copies(alone=not steady),
            library=library or Library(),
        )
        searcher = SEARCHES[config.search](setup)
        return cls(
            problem=setup.problem,
            searcher=searcher,
            device=config.torch_device(),
            copies=setup.walks,
            start=config.start,
            seed=config.seed,
            method=config.search,
            weights=setup.loaded,
        )

    @property
    def weights_name(self) -> str | None:
        """Name of the weights for reports; None without weights."""
        return None if self.weights is None else self.weights.card.name

    def rows_at_once(self, length: int, *, own_distances: bool) -> int:
        """How many instances of this tour length to search in one batch."""
        return rows_at_once(self.searcher, length, self.copies, self.device, own_distances=own_distances)

    def starts(self, batch: Batch, places: Sequence[int], routes: Routes | None = None) -> Starts:
        """Greedy or random tours, or the given routes in every row. Random numbers depend on the seed and the
        places."""
        stream_R = streams(self.seed, places, batch.device, self.copies)
        if routes is not None:
            return Starts(self.problem.given_start(batch, [routes] * batch.rows), stream_R)
        # A greedy tour takes thousands of tiny operations, each with a barrier over PyTorch's threads.
        with one_thread_per_operation():
            if self.start == "random":
                return Starts(self.problem.random_start(batch, stream_R[:: self.copies]), stream_R)
            return Starts(self.problem.greedy_start(batch), stream_R)

    def search(
        self, batch: Batch, starts: Starts, stop: Stop, watch: Watcher | None = None, *, finish: bool = False
    ) -> Found:
        """Search from the starts until `stop`. Ctrl-C ends the search and keeps what it has found. `finish` lets the
        method improve the best tours at the end, which may take a little longer than the time limit.
        """
        exact_BN = self.searcher.exact(batch) if stop.steps != 0 else None
        if exact_BN is not None:
            run = self._run(batch, Starts(exact_BN, starts.stream_R), Stop(steps=0), watch)
            return self._found(batch, starts, exact_BN, run, optimal=True)
        limit = stop.seconds
        if finish:
            stop.leave(self.searcher.finish_seconds(batch))
        run = self._run(batch, starts, stop, watch)
        best_BN, optimal, stop.seconds = best_tours(run.state, self.copies), False, limit
        if finish and stop.steps != 0:
            # Whoever interrupts a search is not asked again, and waits for this moment only.
            moment = End(None, None, time.perf_counter() + FINISH_SECONDS)
            end = moment if run.interrupted else End(run.last, watch, stop.deadline(FINISH_SECONDS))
            with one_thread_per_operation():
                best_BN, optimal = self.searcher.finish(batch, best_BN, end.reached)
            run = replace(run, interrupted=run.interrupted or end.interrupted, seconds=stop.elapsed())
        return self._found(batch, starts, best_BN, run, optimal=optimal)

    def _run(self, batch: Batch, starts: Starts, stop: Stop, watch: Watcher | None) -> SearchRun:
        return search_batch(self.searcher, batch, *starts, augment=self.copies, stop=stop, watch=watch)

    def _found(self, batch: Batch, starts: Starts, best_BN: Tensor, run: SearchRun, *, optimal: bool) -> Found:
        return Found(
            problem=self.problem,
            batch=batch,
            start_BN=starts.tour_BN,
            best_BN=best_BN,
            run=run,
            optimal=optimal,
            copies=self.copies,
        )
