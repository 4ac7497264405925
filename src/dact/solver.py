"""The one-call API: instances in, checked solutions out."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from dact.instances import InputError, Instance, Routes, Start, check, mended, read_start
from dact.instances.stop_lists import COLUMNS as STOP_COLUMNS
from dact.instances.stop_lists import stop_rows
from dact.pipeline import STARTS, Answer, Pipeline, SolveConfig, Starts
from dact.policy import Card, Library
from dact.problems import PROBLEMS, Batch, FleetError, routes_for_fleet
from dact.search import Parts, SearchRun, Stop, Trace, Watcher

StartLike = str | Path | Sequence[Sequence[int | str]]
"""Where a search begins: how to make a start, a file, or routes."""
PACKING_SECONDS = 10.0
"""For finding routes of few enough vehicles, where no time limit is given."""

__all__ = ["Plan", "Result", "SolveConfig", "solve"]


@dataclass(frozen=True, kw_only=True)
class Result:
    """The best solution found, its cost by the instance's own rule, and how it was found."""

    instance: Instance
    routes: Routes
    """Customers of each route, or the one tour where there is no depot, as instance indices."""
    cost: float
    """In float64, by code that shares nothing with the search."""
    start_cost: float
    feasible: bool
    steps: int
    seconds: float
    seed: int
    search: str
    """The method."""
    weights: str | None
    """None if the search method uses none."""
    trace: Trace
    interrupted: bool = False
    local_optimum: bool = False
    """Is it known that no move of the local search betters it?"""
    repairs: tuple[str, ...] = ()
    """What was changed in a start of another day: customers dropped and inserted, routes split."""
    fault: str = ""
    """Not empty where the search gave a tour that is no solution, which is an error of ours: the answer is then the
    best feasible one that is known, the start at least."""

    def to_frame(self) -> Any:  # noqa: ANN401 - of a package that may be missing
        """A DataFrame with a row for each stop: route, stop, name, load, leg. Needs pandas."""
        try:
            import pandas
        except ImportError:
            raise ImportError("pandas is not installed, which to_frame needs: pip install pandas") from None
        return pandas.DataFrame(stop_rows(self.instance, self.routes), columns=list(STOP_COLUMNS))

    @property
    def gap(self) -> float | None:
        """Percent above the best known value; None without one."""
        best = self.instance.best_known
        return 100 * (self.cost - best) / best if best else None


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
    """Improve each instance's start and return the best solution ever seen.

    `settings` are those of `SolveConfig` and of the search method, all by their plain names. For every search: search
    ("hybrid" or "policy"), steps, time_limit, target, device, seed; for "hybrid": walks, kick, kick_size,
    kick_window, neighbours, temperature, takeover; for "policy": augment, patience, operator, weights, precision.
    `start` is "greedy", "random", the file of an old solution, or its routes (of instance indices, or of names): where
    customers have come, gone or grown since, it is mended, and `Result.repairs` says how. `start_routes` are instance
    indices, which must be a solution as they are. The answer is never worse than its start. `watch` is called with a
    `Snapshot` of the search many times, and may return True to end it. Instances of different sizes may be mixed.
    Ctrl-C ends the search and returns what has been found, without instances that were not begun. Where no routes for
    so few vehicles as an instance has are found in the time given, a FleetError says so.
    """
    alone = isinstance(instances, Instance)
    members = [instances] if isinstance(instances, Instance) else _checked(instances)
    begun = start_routes if start_routes is not None else _given_start(members, start)
    kind = start if begun is None else "greedy"
    config = SolveConfig.flat(**{"search": "auto", "start": kind, **settings})
    plan = Plan(members, config, begun)
    results = dict(plan.results(watch))
    for reason in plan.unreached.values():
        raise FleetError(reason)
    return results[0] if alone else [results[index] for index in sorted(results)]


def _checked(instances: object) -> Sequence[Instance]:
    """What was given, if it is instances."""
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
    """The start that a file or routes give; None where it is made."""
    if isinstance(start, str) and (start in STARTS or not Path(start).suffix):
        return None
    if len(instances) != 1:
        raise ValueError(f"a start goes with one instance, but {len(instances)} are solved")
    if isinstance(start, str | Path):
        return read_start(start, instances[0])
    try:
        return mended(instances[0], start)
    except InputError as error:
        raise InputError(f"the start {error}") from None


@dataclass(frozen=True, kw_only=True)
class _Group:
    """Instances that can share a batch, by their places in the list that was given, which decide what they draw."""

    members: dict[int, Instance]
    pipeline: Pipeline
    rows: int
    """Instances to search side by side."""


class Plan:
    """How a list of instances is to be solved, but for those at the places to `skip`.

    Settings, weights and starts that do not fit are refused here.
    """

    def __init__(
        self,
        instances: Sequence[Instance],
        config: SolveConfig,
        start: Start | Routes | None = None,
        skip: Collection[int] = (),
    ) -> None:
        start_routes = start.routes if isinstance(start, Start) else start
        self.repairs = start.repairs if isinstance(start, Start) else ()
        self.config, self.start_routes, self._interrupted = config, start_routes, False
        self.unreached: dict[int, str] = {}
        """Why an instance has no answer: no routes for so few vehicles were found."""
        if start_routes is not None:
            _refuse_wrong_start(instances, start_routes)
        library = Library()
        self._groups = [
            self._group(length, members, library)
            for length, members in _groups(instances, len(start_routes or ()), skip)
        ]

    def cards(self) -> list[Card]:
        """What is known of the weights in use."""
        weights = [group.pipeline.weights for group in self._groups]
        return list({each.card.name + each.card.problem: each.card for each in weights if each is not None}.values())

    def results(self, watch: Watcher | None = None) -> Iterator[tuple[int, Result]]:
        """Each answer with the index of its instance, as soon as it is there. To be called once.

        Instances of equal size come together, so the order is not always that of the list. After Ctrl-C the instances
        still waiting have no answer.
        """
        while self._groups and not self._interrupted:
            # A group that is done leaves the device's memory to the next.
            yield from self._solve_group(self._groups.pop(0), watch)

    def _solve_group(self, group: _Group, watch: Watcher | None) -> Iterator[tuple[int, Result]]:
        """Solve as many side by side as suit the device."""
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
        """Where the greedy start has too many routes, one of few enough is looked for."""
        try:
            return group.pipeline.starts(batch, places, self.start_routes)
        except FleetError:
            instance = group.members[places[0]]
            deadline = time.perf_counter() + (PACKING_SECONDS if stop.seconds is None else stop.left())
            return group.pipeline.starts(batch, places, routes_for_fleet(instance, deadline, self.config.seed))

    def _group(self, length: int, members: dict[int, Instance], library: Library) -> _Group:
        """Under limits on time or vehicles every instance is searched alone, so that it gets its whole time."""
        first = next(iter(members.values()))
        pipeline = Pipeline.build(first.problem, first.customers, self.config, library=library)
        rows = pipeline.rows_at_once(length, own_distances=True)
        alone = self.config.time_limit is not None or any(member.vehicles for member in members.values())
        return _Group(members=members, pipeline=pipeline, rows=1 if alone else rows)

    def _solve_part(self, group: _Group, places: list[int], watch: Watcher | None) -> list[Result]:
        """Solve some instances of a group side by side."""
        stop = self.config.stop()
        stop.elapsed()
        pipeline, instances = group.pipeline, [group.members[place] for place in places]
        batch = pipeline.problem.collate(instances, routes_needed=len(self.start_routes or ())).to(pipeline.device)
        found = pipeline.search(batch, self._starts(group, batch, places, stop), stop, watch, finish=True)
        answers = zip(instances, found.answers(instances), found.run.traces, strict=True)
        return [_result(*each, run=found.run, pipeline=pipeline, repairs=self.repairs) for each in answers]


def _groups(
    instances: Sequence[Instance], routes_needed: int, skip: Collection[int]
) -> list[tuple[int, dict[int, Instance]]]:
    """Instances of one problem, tour length and size, with that length."""
    groups: dict[tuple[str, int, int], dict[int, Instance]] = defaultdict(dict)
    for index, instance in enumerate(instances):
        if index in skip:
            continue
        length = PROBLEMS[instance.problem].tour_length(instance, routes_needed)
        groups[instance.problem, length, instance.size][index] = instance
    return [(length, members) for (_, length, _), members in groups.items()]


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
        feasible=answer.feasible,
        steps=run.steps,
        seconds=run.seconds,
        seed=pipeline.seed,
        search=pipeline.method,
        weights=pipeline.weights_name,
        trace=trace,
        interrupted=run.interrupted,
        local_optimum=answer.local_optimum,
        repairs=repairs,
        fault=answer.fault,
    )
