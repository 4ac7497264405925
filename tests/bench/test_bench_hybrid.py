"""Variants of the hybrid search, measured side by side."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from dact.bench.descent import measure_descent
from dact.bench.hybrid import mean_and_error, measure_hybrid
from dact.bench.searches import FilesBench, SetBench, mean_curve, referenced, tiled
from dact.bench.variants import Variant, parse_variant, varied
from dact.evaluation import evaluate
from dact.instances import InputError, InstanceSet, generate_set
from dact.kernels.descent import codes
from dact.kernels.descent.reference import descend_reference
from dact.problems import PROBLEMS
from dact.search import HybridConfig
from dact.search.hybrid import terrain_of
from dact.search.hybrid_settings import settled
from dact.solver import solve


def instances(problem: str, size: int = 12, count: int = 3, known: bool = True) -> InstanceSet:
    """A set, with costs of 1 to count as references."""
    made = generate_set(problem, size, count, seed=4)
    return replace(made, reference_cost=np.arange(1.0, count + 1)) if known else made


@pytest.mark.parametrize(
    ("text", "name", "settings"),
    [
        ("usual", "usual", {}),
        ("pairs", "pairs", {"kick": "pairs"}),
        ("kick=pairs,kick_size=8", "kick=pairs,kick_size=8", {"kick": "pairs", "kick_size": 8}),
        ("hot: temperature=1.5", "hot", {"temperature": 1.5}),
        ("mine: ruin", "mine", {"kick": "ruin"}),
    ],
)
def test_variants_have_names_and_settings(text: str, name: str, settings: dict[str, object]) -> None:
    """A variant is one that is known, or settings, with or without a name before them."""
    assert parse_variant(text) == Variant(name, settings)
    assert parse_variant(text).config().search == "hybrid"


def test_settings_are_varied() -> None:
    """Every variant gets every value of every setting, and says so in its name."""
    found = varied([parse_variant("usual"), parse_variant("pairs")], ["kick_size=2,4", "temperature=0.5"])
    assert [each.name for each in found] == [
        "kick_size=2, temperature=0.5",
        "kick_size=4, temperature=0.5",
        "pairs, kick_size=2, temperature=0.5",
        "pairs, kick_size=4, temperature=0.5",
    ]
    assert found[3].config().hybrid == HybridConfig(kick="pairs", kick_size=4, temperature=0.5)


def test_acceptance_reach_and_kinds_of_moves_are_varied() -> None:
    """Values of all settings of the search can be given, those of neighbourhoods joined by +."""
    texts = ["kick=pairs,ruin", "cooling=0.1,1", "reach=0,1.5", "neighbourhoods=two_opt,two_opt+or_opt"]
    found = [each.config().hybrid for each in varied([parse_variant("usual")], texts)]
    assert len(found) == 16
    assert found[-1] == HybridConfig(kick="ruin", cooling=1, reach=1.5, neighbourhoods="two_opt+or_opt")


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: parse_variant("hard"), "variant 'hard' is not one of usual"),
        (lambda: parse_variant("kik=pairs").config(), "did you mean 'kick'"),
        (lambda: varied([], ["kick_size"]), "vary 'kick_size'"),
        (lambda: varied([], ["=3"]), "vary '=3'"),
    ],
)
def test_wrong_variants_are_named(work, words: str) -> None:
    """What is no variant and no setting is refused by name."""
    with pytest.raises(InputError, match=words):
        work()


def test_sets_are_tiled_and_referenced() -> None:
    """Copies come in turn; instances without a reference are left out where others have one."""
    some = replace(instances("cvrp"), reference_cost=np.array([1.0, np.nan, 3.0]))
    kept = referenced(some)
    assert kept.numbers.tolist() == [0, 2]
    copies = tiled(kept, 5)
    assert copies.reference_cost is not None
    assert copies.reference_cost.tolist() == [1, 3, 1, 3, 1]
    assert np.array_equal(copies.coordinates[3], some.coordinates[2])
    assert referenced(replace(some, reference_cost=np.full(3, np.nan))).reference_cost is None


def test_copies_are_no_further_evidence() -> None:
    """The error is that of the distinct instances, however often each is searched."""
    once = mean_and_error(np.array([1.0, 2.0, 6.0]), 3)
    assert once == (3.0, pytest.approx(np.std([1, 2, 6], ddof=1) / 3**0.5))
    assert mean_and_error(np.array([1.0, 2.0, 6.0] * 4), 3) == pytest.approx(once)
    assert mean_and_error(np.array([2.0, 4.0]), 1) == (3.0, 0.0)


def test_a_set_is_searched_as_evaluate_does_it(problem_name: str) -> None:
    """Costs, gaps and rounds of a variant are those of `evaluate`; curves fall and end there."""
    bench, variant = SetBench(distinct=instances(problem_name), count=5), parse_variant("pairs")
    measured = list(measure_hybrid(bench, [parse_variant("usual"), variant], [{"steps": 20}], seed=3, device="cpu"))
    expected = evaluate(tiled(bench.distinct, 5), variant.config(steps=20, seed=3, device="cpu"))
    timing, curve = measured[1].timing, measured[1].curve
    assert timing.cost == expected.mean_cost
    assert timing.gap == pytest.approx(expected.gap)
    assert (timing.rounds, timing.count, timing.distinct, timing.limit) == (20, 5, 3, "20 rounds")
    assert timing.network_percent == 0
    searched = [look.cost for look in curve[:-1]]
    assert searched == sorted(searched, reverse=True)
    assert curve[-1].gap == pytest.approx(expected.gap)
    assert measured[0].timing.against_first == 0


def test_differences_are_from_the_first_variant() -> None:
    """Two variants that search alike differ by nothing, with no error."""
    bench = SetBench(distinct=instances("tsp", known=False), count=3)
    twice = [parse_variant("one: usual"), parse_variant("two: usual")]
    measured = list(measure_hybrid(bench, twice, [{"steps": 5}], device="cpu"))
    assert [(each.timing.variant, each.timing.against_first, each.timing.gap) for each in measured] == [
        ("one", 0, None),
        ("two", 0, None),
    ]


def test_files_are_solved_one_by_one() -> None:
    """Costs are those of `solve`; the last point of the curve is their mean."""
    members = [replace(instance, best_known=2.0) for instance in instances("tsp", known=False)]
    bench = FilesBench(name="files", members=members)
    measured = list(measure_hybrid(bench, [parse_variant("walks=1")], [{"steps": 15}], device="cpu"))
    costs = [solve(instance, steps=15, walks=1, device="cpu").cost for instance in members]
    assert measured[0].timing.cost == pytest.approx(np.mean(costs))
    assert measured[0].curve[-1].gap == pytest.approx(100 * (np.mean(costs) / 2 - 1))


def test_curves_of_files_are_means_at_every_moment() -> None:
    """One instance that improves moves the mean by its share."""
    results = [solve(instance, steps=0) for instance in instances("tsp", count=2, known=False)]
    first = results[0].trace[0]
    better = replace(results[0], trace=(first, replace(first, step=4, seconds=1.5, cost=first.cost - 1)))
    curve = mean_curve([better, results[1]], None)
    assert curve[0].seconds == 1.5
    assert curve[0].cost == pytest.approx(np.mean([first.cost - 1, results[1].trace[0].cost]))


def test_descents_are_local_optima(problem_name: str) -> None:
    """What a descent comes to is about as good as the reference's, and was reached by moves."""
    distinct = instances(problem_name, size=30, count=4)
    bench, variant = SetBench(distinct=distinct, count=4), parse_variant("usual")
    timing = measure_descent(bench, variant.config(device="cpu"), repeats=1)
    problem = PROBLEMS[problem_name]
    batch = problem.collate_set(distinct)
    tour_BN = problem.greedy_start(batch)
    settings = settled(HybridConfig(), batch.length, batch.depots, 1)
    kinds = codes(settings.neighbourhoods, routes=batch.depots > 0)
    terrain = terrain_of(batch, tour_BN, settings.neighbours)
    end = descend_reference(terrain, tour_BN, torch.arange(4), kinds)
    assert timing.cost == pytest.approx(float(batch.cost(end.tour_RN).mean()), rel=0.05)
    assert timing.cost < float(batch.cost(tour_BN).mean())
    assert timing.moves > 1
    assert timing.neighbours == settings.neighbours
    assert timing.rows_per_s == pytest.approx(4000 / timing.descent_ms, rel=1e-2)
