"""Stopping, traces and interruptions."""

import itertools
import math
from dataclasses import replace

import pytest
import torch

from begun import begun
from dact.policy import Policy, PolicyConfig
from dact.problems import PROBLEMS, Batch
from dact.search import Pace, PlainEngine, SearchConfig, SearchState, Stop, best_costs, run
from dact.search.searcher import StepByStep


def make_engine(problem_name: str, **settings: object) -> PlainEngine:
    """The plain engine with a random policy."""
    torch.manual_seed(0)
    problem = PROBLEMS[problem_name]
    return PlainEngine(problem, Policy(PolicyConfig(features=problem.features)), SearchConfig(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("operator", ["two_opt", "insert", "swap"])
def test_a_seed_gives_the_same_search(problem_name: str, batch: Batch, operator: str) -> None:
    """Same seed, same states; another seed, others; in one chunk or in many."""
    engine = make_engine(problem_name, operator=operator)

    def ends(seed: int, chunk: int) -> SearchState:
        state = begun(problem_name, batch, "greedy", seed)
        return run(engine, batch, state, Stop(steps=12), pace=Pace(chunk)).state

    assert torch.equal(ends(1, 1).tour_BN, ends(1, 5).tour_BN)
    assert not torch.equal(ends(1, 1).tour_BN, ends(2, 1).tour_BN)


def test_greedy_moves_need_no_luck(problem_name: str, batch: Batch) -> None:
    """The most probable moves do not depend on the seed."""
    engine = make_engine(problem_name, greedy=True)
    first, second = (engine.advance(batch, begun(problem_name, batch, "greedy", seed), 6) for seed in (1, 2))
    assert torch.equal(first.tour_BN, second.tour_BN)


def test_steps_are_counted_exactly(problem_name: str, batch: Batch) -> None:
    """A limit of 7 with chunks of 3 makes 7 steps, and the watcher sees 3, 6, 7."""
    seen: list[int] = []
    done = run(
        make_engine(problem_name),
        batch,
        begun(problem_name, batch, "greedy"),
        Stop(steps=7),
        pace=Pace(3),
        watch=lambda progress: seen.append(progress.steps),
    )
    assert done.steps == 7
    assert seen == [3, 6, 7]


def test_the_loop_looks_at_marks(problem_name: str, batch: Batch) -> None:
    """Whatever its pace; marks at or beyond the end change nothing."""
    seen: list[int] = []
    stop = Stop(steps=9, marks=(1, 5, 6, 9, 20))
    state = begun(problem_name, batch)
    run(make_engine(problem_name), batch, state, stop, pace=Pace(3), watch=lambda now: seen.append(now.steps))
    assert seen == [1, 4, 5, 6, 9]


def test_a_watcher_sees_the_tours(problem_name: str, batch: Batch) -> None:
    """What a watcher is shown last is the state that the search ends with, and its costs are those of its tours."""
    seen = []
    done = run(make_engine(problem_name), batch, begun(problem_name, batch), Stop(steps=5), watch=seen.append)
    last = seen[-1]
    assert (last.steps, last.fraction) == (5, 1)
    assert torch.equal(last.state.incumbent_BN, done.state.incumbent_BN)
    assert last.cost == pytest.approx(float(batch.cost(last.state.incumbent_BN).mean()))


def test_traces_fall_and_end_at_the_best_cost(problem_name: str, batch: Batch) -> None:
    """Each instance has a trace of strictly falling costs that ends at its best."""
    state = begun(problem_name, batch)
    done = run(make_engine(problem_name), batch, state, Stop(steps=60))
    for trace, best in zip(done.traces, best_costs(done.state, 1), strict=True):
        costs = [point.cost for point in trace]
        assert costs == sorted(set(costs), reverse=True)
        assert costs[-1] == best
    assert any(len(trace) > 1 for trace in done.traces)


def test_a_time_limit_is_obeyed(batch: Batch, problem_name: str, clock) -> None:
    """Without a step limit, the search ends when the clock says so."""
    stop = Stop(seconds=2)
    begin, tick = begun(problem_name, batch, "greedy"), lambda *_: clock.advance(0.5)
    done = run(make_engine(problem_name), batch, begin, stop, watch=tick)
    assert (done.steps, done.seconds) == (4, 2)


def test_a_target_ends_the_search_at_once(batch: Batch, problem_name: str) -> None:
    """A target the start meets needs no step."""
    stop = Stop(steps=1000, target=1e9)
    assert run(make_engine(problem_name), batch, begun(problem_name, batch, "greedy"), stop).steps == 0


def test_a_cost_of_nothing_ends_the_search(problem_name: str, batch: Batch) -> None:
    """Where all nodes are one point, no step is made: nothing can be better."""
    nowhere = replace(batch, coordinates_BN2=torch.zeros_like(batch.coordinates_BN2))
    done = run(make_engine(problem_name), nowhere, begun(problem_name, nowhere, "greedy"), Stop(seconds=1e9))
    assert done.steps == 0


def test_an_interrupted_search_keeps_what_it_found(batch: Batch, problem_name: str) -> None:
    """Ctrl-C in the fourth step leaves the state after the third."""
    engine = make_engine(problem_name)
    calls = itertools.count()

    class Interrupted(StepByStep):
        def advance(self, *arguments: object) -> SearchState:
            if next(calls) == 3:
                raise KeyboardInterrupt
            return engine.advance(*arguments)  # type: ignore[arg-type]

    state = begun(problem_name, batch, "greedy")
    done = run(Interrupted(), batch, state, Stop(steps=10))
    assert done.interrupted
    assert done.steps == 3
    expected = engine.advance(batch, state, 3)
    assert torch.equal(done.state.tour_BN, expected.tour_BN)


def test_pace_follows_the_clock() -> None:
    """One chunk to find out how long steps take, then whole chunks that fill the time between looks or what is left, at
    most four times as many as before."""
    pace = Pace(8, seconds=0.3)
    assert pace.steps(left=math.inf) == 8
    pace.took(8, seconds=0.008)
    assert pace.steps(left=math.inf) == 32
    pace.took(160, seconds=0.16)
    assert pace.steps(left=math.inf) == 296
    assert pace.steps(left=0.05) == 48
    assert pace.steps(left=0.001) == 8
    pace.took(8, seconds=80)
    assert pace.steps(left=math.inf) == 8


def test_pace_without_a_clock_is_fixed() -> None:
    """However fast steps are, looks come after every chunk."""
    pace = Pace(8)
    pace.took(8, seconds=1e-6)
    assert pace.steps(left=math.inf) == 8


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "needs a limit"),
        ({"steps": -1}, "steps -1 is below 0"),
        ({"seconds": 0.0}, "time limit 0.0 is not a positive"),
        ({"seconds": float("nan")}, "time limit nan is not a positive"),
    ],
)
def test_wrong_limits_are_named(settings: dict[str, float], message: str) -> None:
    """A wrong limit is refused with its value."""
    with pytest.raises(ValueError, match=message):
        Stop(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(("settings", "message"), [({"patience": 0}, "patience 0"), ({"operator": "or_opt"}, "or_opt")])
def test_wrong_search_settings_are_named(settings: dict[str, object], message: str) -> None:
    """A wrong setting is refused with its value."""
    with pytest.raises(ValueError, match=message):
        SearchConfig(**settings)  # type: ignore[arg-type]
