"""The one-call API: instances in, checked solutions out."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import overload

import numpy as np

from dact.cards import Card
from dact.instances import STARTS, InputError, Instance, Routes, Start, check, read_start, repaired
from dact.pipeline import Answer, Pipeline, SolveConfig, Starts
from dact.policy import Library
from dact.problems import Batch, FleetError, needs_matrix, routes_for_fleet
from dact.result import Result
from dact.search import Parts, SearchRun, Stop, Trace, Watcher
from dact.settings import refuse_options
from dact.threads import one_thread_per_operation

StartLike = str | Path | Sequence[Sequence[int | str]]
"""Where a search begins: "greedy" or "random", a file, or routes."""
PACKING_SECONDS = 10.0
"""Time for finding routes within a limit on vehicles, if no time limit is given."""

FAR = 300
"""Customers up to which no instance is called far larger than those of the training."""
FAR_TIMES = 2
"""How many times as many customers as in the training are not far more yet."""

__all__ = ["Plan", "Result", "SolveConfig", "solve"]


@overload
def solve(
    instances: Instance,
    *,
    start: StartLike = "greedy",
    start_routes: Routes | None = None,
    watch: Watcher | None = None,
    **settings: object,
) -> Result: ...
@overload
def solve(
    instances: Sequence[Instance],
    *,
    start: str = "greedy",
    start_routes: None = None,
    watch: Watcher | None = None,
    **settings: object,
) -> list[Result]: ...
def solve(
    instances: Instance | Sequence[Instance],
    *,
    start: StartLike = "greedy",
    start_routes: Routes | None = None,
    watch: Watcher | None = None,
    **settings: object,
) -> Result | list[Result]:
    """Improve a start of each instance and return the best solution found; it is never worse than the start.

    `settings` are the fields of `SolveConfig`, and of `HybridConfig` or `SearchConfig` below it (the settings of the
    two search methods), by their plain names: search ("hybrid" or "policy"), steps, time_limit, target, seed, device,
    walks, patience, and so on. What belongs to an instance (capacity, vehicles, rounding) is none. Instances of
    different sizes may be mixed.

    `start` is "greedy", "random", the file of an earlier solution, or routes (of instance indices, or of names). An
    earlier solution is repaired where customers were added, removed or changed since; `Result.repairs` says how.
    `start_routes` are instance indices and must be a feasible solution. `watch` is called with a `Snapshot` many times
    during the search, and may return True to end it.

    Ctrl-C ends the search and returns what was found, without instances whose search had not begun. `FleetError` is
    raised if no routes for the vehicles of an instance are found in time.
    """
    if watch is not None and not callable(watch):
        raise TypeError(f"watch is {watch!r:.60}, not a function")
    alone = isinstance(instances, Instance)
    members = [instances] if isinstance(instances, Instance) else _checked(instances)
    refuse_options(settings)
    begun = start_routes if start_routes is not None else _given_start(members, start)
    kind = start if begun is None else "greedy"
    config = SolveConfig.flat(**{"search": "auto", "start": kind, **settings})
    plan = Plan(members, config, begun)
    results = dict(plan.results(watch))
    for reason in plan.unreached.values():
        raise FleetError(reason)
    return results[0] if alone else [results[index] for index in sorted(results)]


def _checked(instances: object) -> Sequence[Instance]:
    """The instances as a list; anything else is refused."""
    if isinstance(instances, str | Path):
        raise TypeError(f"instances is {str(instances)!r:.60}, not an Instance: dact.read reads files")
    if not isinstance(instances, Iterable):
        raise TypeError(f"instances is a {type(instances).__name__}, not an Instance or a list of them")
    members = list(instances)
    for place, member in enumerate(members):
        if not isinstance(member, Instance):
            raise TypeError(f"instances[{place}] is a {type(member).__name__}, not an Instance")
    return members


def _given_start(instances: Sequence[Instance], start: StartLike) -> Start | None:
    """The start from a file or from routes; None for "greedy" and "random"."""
    if isinstance(start, str) and (start in STARTS or not Path(start).suffix):
        return None
    if len(instances) != 1:
        raise ValueError(f"a start goes with one instance, but {len(instances)} are solved")
    if isinstance(start, str | Path):
        return read_start(start, instances[0])
    routes = _checked_routes(start)
    try:
        return repaired(instances[0], routes)
    except InputError as error:
        raise InputError(f"the start {error}") from None


def _checked_routes(start: object) -> list[list[int | str]]:
    """The start as lists of indices and names; anything else is refused."""
    if not isinstance(start, Iterable):
        raise TypeError(f"start is {start!r:.60}, neither the name of a start, nor a file, nor a list of routes")
    routes: list[list[int | str]] = []
    for place, route in enumerate(start):
        if not isinstance(route, Iterable) or isinstance(route, str):
            raise TypeError(f"start[{place}] is {route!r:.60}, not a route: a list of indices or names")
        routes.append(list(route))
        for stop in routes[-1]:
            if isinstance(stop, bool) or not isinstance(stop, int | np.integer | str):
                raise TypeError(f"start[{place}] visits {stop!r:.60}, which is neither an index nor a name")
    return routes


@dataclass(frozen=True, kw_only=True)
class _Group:
    """Instances that can share a batch, by their indices in the list given, which seed their random numbers."""

    members: dict[int, Instance]
    pipeline: Pipeline
    rows: int
    """Instances in a batch."""


class Plan:
    """How a list of instances is solved, except those at the indices to `skip`.

    Raises ValueError for settings, weights and starts that do not fit. With `one_by_one` no instances are searched side
    by side, so that a watcher sees one at a time.
    """

    def __init__(
        self,
        instances: Sequence[Instance],
        config: SolveConfig,
        start: Start | Routes | None = None,
        skip: Collection[int] = (),
        *,
        one_by_one: bool = False,
    ) -> None:
        start_routes = start.routes if isinstance(start, Start) else start
        self.repairs = start.repairs if isinstance(start, Start) else ()
        self.config, self.start_routes, self._interrupted = config, start_routes, False
        self._one_by_one = one_by_one or config.time_limit is not None
        self.unreached: dict[int, str] = {}
        """Why an instance has no answer: no routes within its limit on vehicles were found."""
        if start_routes is not None:
            _refuse_wrong_start(instances, start_routes)
        library = Library(files=True)
        self._groups = [group for members in _by_size(instances, skip) for group in self._by_length(members, library)]

    def cards(self) -> list[Card]:
        """Cards of the weights in use."""
        weights = [group.pipeline.weights for group in self._groups]
        return list({each.card.name + each.card.problem: each.card for each in weights if each is not None}.values())

    def outgrown(self) -> tuple[Instance, Card] | None:
        """The largest instance of those that are far larger than any that their weights were trained on, and the card
        of these; None if there is none."""
        using = [(next(iter(group.members.values())), group.pipeline.weights) for group in self._groups]
        far = [
            (instance, weights.card)
            for instance, weights in using
            if weights is not None and instance.customers > max(FAR, FAR_TIMES * weights.card.largest)
        ]
        return max(far, key=lambda each: each[0].size, default=None)

    def results(self, watch: Watcher | None = None) -> Iterator[tuple[int, Result]]:
        """Each result with the index of its instance, as soon as it is ready. Call it once.

        Instances of equal size are solved together, so the order may differ from the list's. After Ctrl-C the
        remaining instances have no result.
        """
        while self._groups and not self._interrupted:
            # Popped, so that its device memory is free for the next group.
            yield from self._solve_group(self._groups.pop(0), watch)

    def _solve_group(self, group: _Group, watch: Watcher | None) -> Iterator[tuple[int, Result]]:
        """Solve the group in batches that suit the device."""
        places = list(group.members)

        def work(part: range) -> list[Result]:
            try:
                return self._solve_part(group, places[part.start : part.stop], watch)
            except FleetError as error:
                place = places[part.start]
                self.unreached[place] = f"{group.members[place].name}: {error}"
                return []

        for part, results in Parts(group.rows).each(range(len(places)), work):
            self._interrupted |= any(result.interrupted for result in results)
            yield from zip(places[part.start : part.stop] if results else (), results, strict=True)
            if self._interrupted:
                return

    def _starts(self, group: _Group, batch: Batch, places: list[int], stop: Stop) -> Starts:
        """Where the greedy start has too many routes, search for one within the limit on vehicles."""
        try:
            return group.pipeline.starts(batch, places, self.start_routes)
        except FleetError:
            instance = group.members[places[0]]
            deadline = time.perf_counter() + (PACKING_SECONDS if stop.seconds is None else stop.left())
            return group.pipeline.starts(batch, places, routes_for_fleet(instance, deadline, self.config.seed))

    def _by_length(self, members: dict[int, Instance], library: Library) -> Iterator[_Group]:
        """Groups of equal tour length from instances of one problem and size. With a limit on time or vehicles every
        instance is searched alone, so that it gets all of its time."""
        first = next(iter(members.values()))
        pipeline = Pipeline.build(first.problem, first.customers, self.config, library=library)
        lengths: dict[int, dict[int, Instance]] = defaultdict(dict)
        for index, member in members.items():
            lengths[pipeline.problem.tour_length(member, len(self.start_routes or ()))][index] = member
        for length, each in lengths.items():
            rows = pipeline.rows_at_once(length, own_distances=any(map(needs_matrix, each.values())))
            alone = self._one_by_one or any(member.vehicles for member in each.values())
            yield _Group(members=each, pipeline=pipeline, rows=1 if alone else rows)

    def _solve_part(self, group: _Group, places: list[int], watch: Watcher | None) -> list[Result]:
        """Solve some instances of a group as one batch."""
        stop = self.config.stop()
        stop.elapsed()
        pipeline, instances = group.pipeline, [group.members[place] for place in places]
        with one_thread_per_operation():
            batch = pipeline.problem.collate(instances, routes_needed=len(self.start_routes or ())).to(pipeline.device)
        found = pipeline.search(batch, self._starts(group, batch, places, stop), stop, watch, finish=True)
        answers = zip(instances, found.answers(instances), found.run.traces, strict=True)
        return [_result(*each, run=found.run, pipeline=pipeline, repairs=self.repairs) for each in answers]


def _by_size(instances: Sequence[Instance], skip: Collection[int]) -> list[dict[int, Instance]]:
    """Instances by problem and size, with their indices."""
    groups: dict[tuple[str, int], dict[int, Instance]] = defaultdict(dict)
    for index, instance in enumerate(instances):
        if index not in skip:
            groups[instance.problem, instance.size][index] = instance
    return list(groups.values())


def _refuse_wrong_start(instances: Sequence[Instance], routes: Routes) -> None:
    if len(instances) != 1:
        raise ValueError(f"start_routes go with one instance, but {len(instances)} are solved")
    violations = check(instances[0], routes).violations
    if violations:
        raise ValueError(f"the start is not a solution of '{instances[0].name}': {violations[0]}")


def _result(
    instance: Instance, answer: Answer, trace: Trace, *, run: SearchRun, pipeline: Pipeline, repairs: tuple[str, ...]
) -> Result:
    return Result(
        instance=instance,
        routes=answer.routes,
        cost=answer.cost,
        start_cost=answer.start_cost,
        start_routes=answer.start_routes,
        feasible=answer.feasible,
        steps=run.steps,
        seconds=run.seconds,
        seed=pipeline.seed,
        search=pipeline.method,
        weights=pipeline.weights_name,
        trace=trace,
        interrupted=run.interrupted,
        local_optimum=answer.local_optimum,
        walks=pipeline.copies,
        walks_apart=answer.apart,
        repairs=repairs,
        fault=answer.fault,
    )
