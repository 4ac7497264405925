"""The hybrid search: rounds of kicks and descents behind the same loop as the policy's."""

from dataclasses import replace

import pytest
import torch

import dact
from begun import is_permutation
from dact.instances import check, generate_set, read
from dact.kernels.descent import (
    NEIGHBOURHOODS,
    codes,
    launch,
)
from dact.kernels.descent.job import COUNTS
from dact.kernels.descent.reference import best_moves_reference
from dact.kernels.row_draws import streams
from dact.problems import PROBLEMS, Batch
from dact.problems.capacity import feasible
from dact.search import HybridConfig, HybridSearcher, SearchState, Stop, run, start_state
from dact.search.exact import best_of_all, every_tour
from dact.search.hybrid import HybridState, terrain_of
from dact.search.hybrid import _anchored as anchored
from dact.search.hybrid import _told as told_state


def begun(batch: Batch, problem: str, walks: int = 1, seed: int = 0) -> tuple[Batch, SearchState]:
    """Greedy starts, so many rows for each instance."""
    searcher = HybridSearcher(HybridConfig(), walks)
    rows, tour_BN = searcher.copies(batch, walks), PROBLEMS[problem].greedy_start(batch)
    tour_RN = tour_BN.repeat_interleave(walks, 0)
    return rows, start_state(tour_RN, rows.cost(tour_RN), streams(seed, range(batch.rows), "cpu", walks))


def searched(batch: Batch, problem: str, pieces: tuple[int, ...], **settings: int) -> SearchState:
    """The state after some rounds, made in pieces."""
    config = HybridConfig(**settings)
    searcher = HybridSearcher(config, config.walks or 1)
    searcher.limit(Stop(steps=sum(pieces)))
    rows, state = begun(batch, problem, config.walks or 1)
    for rounds in pieces:
        state = searcher.advance(rows, state, rounds)
    return state


def sample(problem: str, size: int = 24, count: int = 3) -> Batch:
    """Random instances."""
    return PROBLEMS[problem].sample(size, count, torch.Generator().manual_seed(3))


def test_rounds_better_greedy_tours(problem_name: str) -> None:
    """Incumbents are anchored permutations with their cost, and better than the starts."""
    batch = sample(problem_name)
    state = searched(batch, problem_name, (20,))
    _, start = begun(batch, problem_name)
    assert is_permutation(state.incumbent_BN).all()
    assert (state.incumbent_BN[:, 0] == 0).all()
    torch.testing.assert_close(state.incumbent_cost_B, batch.cost(state.incumbent_BN))
    assert (state.incumbent_cost_B < start.cost_B).all()


@pytest.mark.parametrize("walks", [1, 4])
def test_when_the_host_looks_does_not_matter(problem_name: str, walks: int) -> None:
    """Rounds made in pieces are those made at once, also where walks take over from one another in between."""
    batch = sample(problem_name)
    whole = searched(batch, problem_name, (30,), walks=walks, takeover=7)
    pieces = searched(batch, problem_name, (1, 9, 20), walks=walks, takeover=7)
    assert torch.equal(whole.incumbent_BN, pieces.incumbent_BN)
    assert torch.equal(whole.tour_BN, pieces.tour_BN)


def test_rows_beside_do_not_matter(problem_name: str) -> None:
    """An instance has the same answer alone as among others."""
    batch = sample(problem_name)
    together = searched(batch, problem_name, (20,))
    alone = searched(batch.take(torch.tensor([0])), problem_name, (20,))
    assert torch.equal(together.incumbent_BN[:1], alone.incumbent_BN)


def test_walks_of_an_instance_differ(problem_name: str) -> None:
    """Each walk draws for itself, and the best of eight is no worse than the first alone."""
    batch = sample(problem_name, count=1)
    many = searched(batch, problem_name, (5,), walks=8, takeover=1000)
    one = searched(batch, problem_name, (5,), walks=1)
    assert len({tuple(tour) for tour in many.tour_BN.tolist()}) > 1
    assert many.incumbent_cost_B.min() <= one.incumbent_cost_B.min() + 1e-6


def test_the_worse_half_takes_over(problem_name: str) -> None:
    """Right after a takeover at least half of the walks share the tours of the others."""
    batch = sample(problem_name, count=1)
    state = searched(batch, problem_name, (5,), walks=8, takeover=5)
    assert len({tuple(tour) for tour in state.tour_BN.tolist()}) <= 4


def test_finished_tours_are_local_optima_over_all_pairs(problem_name: str) -> None:
    """The plain-PyTorch reference finds no move that gains, whatever nodes it tries."""
    batch = sample(problem_name, size=18)
    rows, start = begun(batch, problem_name)
    tour_BN, optimal = HybridSearcher(HybridConfig(), 1).finish(rows, start.tour_BN, lambda: False)
    assert optimal
    terrain = terrain_of(batch, tour_BN, 0)
    every = codes(tuple(NEIGHBOURHOODS), routes=batch.depots > 0)
    gain_B, _ = best_moves_reference(terrain, tour_BN, torch.arange(batch.rows), every)
    assert (gain_B <= 2 * terrain.least_I).all()
    assert (batch.cost(tour_BN) < start.cost_B).all()


def test_a_deadline_that_has_passed(problem_name: str) -> None:
    """The tours come back as they were, which is feasible."""
    batch = sample(problem_name)
    rows, start = begun(batch, problem_name)
    tour_BN, optimal = HybridSearcher(HybridConfig(), 1).finish(rows, start.tour_BN, lambda: True)
    assert not optimal
    assert torch.equal(tour_BN, start.tour_BN)


def test_a_time_limit_ends_a_search_between_launches(problem_name: str) -> None:
    """A search whose time is over makes no more launches, and its tours are whole."""
    batch = sample(problem_name)
    searcher, stop = HybridSearcher(HybridConfig(), 1), Stop(seconds=1e-9)
    searcher.limit(stop)
    assert stop.left() <= 0
    rows, state = begun(batch, problem_name)
    assert is_permutation(searcher.advance(rows, state, 1000).incumbent_BN).all()
    done = run(searcher, rows, state, stop)
    assert (done.state.incumbent_cost_B <= state.cost_B).all()


def test_a_descent_cut_short_counts(problem_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first descent that the time limit ends after some looks has bettered its start all the same."""
    monkeypatch.setattr("dact.kernels.descent.LOOKS", 8)
    batch = sample(problem_name, size=60)
    searcher, late = HybridSearcher(HybridConfig(), 1), iter([False, True])
    rows, state = begun(batch, problem_name)
    monkeypatch.setattr(HybridSearcher, "_late", lambda _: next(late, True))
    after = searcher.advance(rows, state, 1)
    assert is_permutation(after.incumbent_BN).all()
    assert (after.incumbent_cost_B < state.cost_B).any()


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_solve_is_hybrid_and_reproducible(problem: str) -> None:
    """The same seed gives the same answer, which the checker finds feasible; another seed may not."""
    instance = generate_set(problem, 30, 1, seed=5)[0]
    first, again = (dact.solve(instance, steps=50, walks=2, seed=4) for _ in range(2))
    assert first.search == "hybrid"
    assert first.weights is None
    assert first.local_optimum
    assert first.routes == again.routes
    assert not check(instance, first.routes).violations
    assert first.cost < first.start_cost


def test_an_interrupted_answer_is_finished(problem_name: str) -> None:
    """A search that is ended early gets its last descent over all pairs too, and the watcher no other question."""
    seen = []
    instance = generate_set(problem_name, 40, 1, seed=5)[0]
    result = dact.solve(instance, time_limit=60.0, watch=lambda snapshot: seen.append(snapshot.steps) is None)
    assert result.interrupted
    assert result.local_optimum
    assert len(seen) == 1


def test_results_say_how_far_walks_are_apart() -> None:
    """Walks have different tours before they take over from one another; where all tours are tried, they agree."""
    many = dact.solve(generate_set("tsp", 60, 1, seed=5)[0], steps=5, walks=6, takeover=1000)
    assert many.walks == 6
    assert 0 < many.walks_apart < 1
    tiny = dact.solve(generate_set("tsp", 5, 1, seed=5)[0], steps=20, walks=3)
    assert tiny.walks_apart == 0


def test_harbour60_reaches_its_best_known_cost() -> None:
    """The bundled example within 0.5 % of the best that has been found (12,250), in 1,500 rounds."""
    instance = read("examples/harbour60.vrp")
    assert dact.solve(instance, steps=1500, walks=1, seed=1).cost <= 1.005 * 12_250


def test_tiny_instances(problem_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One, two, three nodes are answered without a round, whatever the time limit, by tours known to be optimal."""
    monkeypatch.setattr(HybridSearcher, "advance", None)
    monkeypatch.setattr("dact.kernels.descent.compile_form", None)
    for size in (1, 2, 3):
        if problem_name == "tsp" and size == 1:
            continue
        instance = generate_set(problem_name, size, 1, seed=2)[0]
        result = dact.solve(instance, time_limit=3600.0)
        assert not check(instance, result.routes).violations
        assert result.local_optimum
        assert result.steps == 0


def test_the_best_of_all_tours() -> None:
    """Three customers of 2, 2 and 3 units and vehicles for 4: the two light ones share a route."""
    points = [[0, 0], [0, 1], [0, 2], [5, 0]]
    instance = dact.Instance.from_arrays(points, demand=[0, 2, 2, 3], capacity=4)
    result = dact.solve(instance)
    assert result.cost == 4 + 10
    assert {frozenset(route) for route in result.routes} == {frozenset({1, 2}), frozenset({3})}


@pytest.mark.parametrize(
    ("depots", "customers", "tours"), [(0, 5, 24), (0, 6, 120), (4, 3, 120), (3, 2, 12), (1, 3, 6)]
)
def test_every_tour_is_tried(depots: int, customers: int, tours: int) -> None:
    """All orders of the customers and all ways to cut them into routes are tried, each once."""
    found = {tuple(tour) for tour in every_tour(customers + depots, max(depots, 1))}
    assert len(found) == tours
    assert all(sorted(tour) == list(range(customers + depots)) and tour[0] == 0 for tour in found)


def test_larger_instances_are_searched() -> None:
    """Seven nodes, or four customers with a vehicle for each, have too many tours to try them all."""
    assert best_of_all(sample("tsp", size=7)) is None
    assert best_of_all(sample("cvrp", size=4)) is None


def test_rounds_that_the_time_limit_cuts_are_not_reported(problem_name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps of a search are the rounds that every row has made, not those it was asked for."""
    batch, looks = sample(problem_name), iter([False, True])
    searcher, launches = HybridSearcher(HybridConfig(), 1), []
    rows, state = begun(batch, problem_name)
    monkeypatch.setattr(HybridSearcher, "_late", lambda _: next(looks, True))
    monkeypatch.setattr("dact.search.hybrid.descent.looks_at_once", lambda rows, threads: 60)
    monkeypatch.setattr("dact.kernels.descent.launch", lambda work: (launches.append(work), launch(work)))
    after = searcher.advance(rows, state, 1000)
    assert len(launches) == 2
    begun_B, judged_B = (launches[0].rows.count_R6[:, COUNTS.index(name)] for name in ("rounds", "judged"))
    assert searcher.steps_made(after, 1000) == int((begun_B - 1 + judged_B).min()) < 1000


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"walks": -1}, "walks -1"),
        ({"kick": "hard"}, "kick 'hard' is not one of auto, pairs"),
        ({"kick_size": 1001}, "kick_size 1001"),
        ({"temperature": float("nan")}, "temperature nan"),
        ({"takeover": -1}, "takeover -1"),
        ({"reach": -0.5}, "reach -0.5 is not between 0 and 1000"),
        ({"cooling": 1.5}, "cooling 1.5 is not between 0 and 1"),
        ({"neighbourhoods": "two_opt+lk"}, r"neighbourhoods 'two_opt\+lk': 'lk' is not one of two_opt"),
        ({"search": "hybrid", "patience": 3}, "patience is a setting of the policy search"),
        ({"search": "policy", "walks": 3}, "walks is a setting of the hybrid search"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, object], words: str) -> None:
    """A value that cannot be, or that the method would not read, is refused by name."""
    with pytest.raises(ValueError, match=words):
        dact.solve(generate_set("tsp", 5, 1, seed=1)[0], **settings)


def test_tours_that_are_told_are_feasible() -> None:
    """Overloaded tours of the search are never told, not as current ones and not where the time ends a descent."""
    searcher = HybridSearcher(HybridConfig(overload=0.01), 1)
    batch, state = begun(sample("cvrp", 40, 8), "cvrp")
    overloaded = 0
    for _ in range(20):
        state = searcher.advance(batch, state, 5)
        assert isinstance(state, HybridState)
        overloaded += int((~feasible(batch, anchored(state.rows.current_RN))).sum())
        # As if a descent that is not judged yet were far ahead.
        cut = replace(state.rows, work_RN=state.rows.current_RN, cost_R3=torch.zeros_like(state.rows.cost_R3))
        cut.cost_R3[:, 2], cut.count_R6 = 1, torch.zeros_like(cut.count_R6)
        for told in (state, told_state(batch, replace(state, rows=cut))):
            assert feasible(batch, told.tour_BN).all()
            assert feasible(batch, told.incumbent_BN).all()
    assert overloaded
