"""Evaluating sets: figures, parts, repeatability."""

from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from dact.evaluation import evaluate
from dact.instances import InputError, generate_set
from dact.pipeline import SolveConfig
from dact.problems import PROBLEMS, Batch
from dact.search import PlainEngine, SearchState


@pytest.mark.parametrize("augment", [1, 3])
def test_costs_repeat(problem_name: str, augment: int):
    """The same seed and rows give the same costs, also where the last rows are fewer."""
    instances = generate_set(problem_name, 8, 5, 1)
    one, two = (evaluate(instances, SolveConfig(steps=10, augment=augment), rows=2) for _ in range(2))
    assert np.array_equal(one.costs, two.costs)


def test_search_betters_random_starts(problem_name: str):
    """From the same random starts (all rows together), steps lower costs and never raise one."""
    instances = generate_set(problem_name, 8, 5, 1)
    before, after = (evaluate(instances, SolveConfig(steps=steps, start="random")) for steps in (0, 25))
    assert (after.costs <= before.costs + 1e-6).all()
    assert after.mean_cost < before.mean_cost


def test_random_starts_repeat(problem_name: str):
    """Random starts come from the seed."""
    instances = generate_set(problem_name, 8, 3, 1)
    one, two, other = (evaluate(instances, SolveConfig(steps=0, start="random", seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.costs, two.costs)
    assert not np.array_equal(one.costs, other.costs)


def test_gap_is_the_mean_over_the_known(problem_name: str):
    """Gaps are taken instance by instance over those with a reference cost."""
    instances = generate_set(problem_name, 6, 3, 1)
    costs = evaluate(instances, SolveConfig(steps=0)).costs
    known = replace(instances, reference_cost=np.array([costs[0], np.nan, costs[2] / 1.1]))
    done = evaluate(known, SolveConfig(steps=0))
    assert done.gap == pytest.approx(5.0)
    assert len(done.gaps) == 2
    assert evaluate(instances, SolveConfig(steps=0)).gap is None


def test_rounded_rule():
    """A set with a rule of its own is costed by that rule."""
    instances = generate_set("tsp", 6, 2, 1)
    whole = replace(instances, coordinates=instances.coordinates * 100, rule="euc_2d")
    done = evaluate(whole, SolveConfig(steps=3))
    assert np.array_equal(done.costs, np.floor(done.costs))


def test_progress_rises_to_one():
    """Progress is told as a fraction of all the work."""
    seen: list[float] = []
    evaluate(generate_set("tsp", 5, 5, 1), SolveConfig(steps=4), rows=2, progress=lambda done, cost: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
    assert len(seen) == 12


def test_figures():
    """Speed counts every instance once for every step, augmented or not."""
    done = evaluate(generate_set("tsp", 5, 2, 1), SolveConfig(steps=4, augment=2, weights="untrained"))
    assert done.instance_steps_per_second == pytest.approx(8 / done.seconds)
    assert (done.instances, done.steps, done.weights, done.problem) == (2, 4, "untrained", "tsp")


def test_shards_give_the_costs_of_one_run(problem_name: str):
    """The shards of a set are disjoint, together are all of it, and draw as the whole set does."""
    instances = generate_set(problem_name, 6, 7, 1)
    config = SolveConfig(steps=5, start="random")
    whole = evaluate(instances, config, rows=2)
    shards = [evaluate(instances, config, rows=2, shard=(number, 3)) for number in (1, 2, 3)]
    assert [shard.places.tolist() for shard in shards] == [[0, 1, 6], [2, 3], [4, 5]]
    for shard in shards:
        assert np.array_equal(shard.costs, whole.costs[shard.places])


@pytest.mark.parametrize("rows", [1, 2])
def test_instances_draw_for_themselves(rows: int):
    """Equal instances at two places get other draws, as other seeds do, in one block or in two."""
    drawn = generate_set("tsp", 12, 2, 1)
    twins = replace(drawn, coordinates=drawn.coordinates[[0, 0]])
    first, second = evaluate(twins, SolveConfig(steps=0, start="random"), rows=rows).costs
    assert first != second


@pytest.mark.parametrize("problem_name", sorted(PROBLEMS))
@pytest.mark.parametrize(("start", "augment"), [("greedy", 1), ("random", 1), ("random", 4)])
def test_blocks_do_not_matter(problem_name: str, start: str, augment: int):
    """However many are searched side by side, each instance is searched the same way."""
    instances, config = generate_set(problem_name, 10, 7, 1), SolveConfig(steps=12, start=start, augment=augment)
    whole = evaluate(instances, config, rows=7).costs
    for rows in (1, 3):
        np.testing.assert_allclose(evaluate(instances, config, rows=rows).costs, whole, rtol=1e-6)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("size", [20, 50, 100])
@pytest.mark.parametrize("problem_name", sorted(PROBLEMS))
def test_blocks_do_not_matter_on_a_gpu(problem_name: str, size: int):
    """Not even to rounding."""
    instances = generate_set(problem_name, size, 700, 1)
    config = SolveConfig(steps=100, augment=2, device="cuda")
    whole = evaluate(instances, config, rows=700).costs
    for rows in (1, 23, 300):
        some = slice(23) if rows == 1 else slice(None)
        costs = evaluate(instances.take(some), config, rows=rows).costs
        assert np.array_equal(costs, whole[some]), rows


MARKED = SolveConfig.flat(steps=50, patience=6)
MARKS = (1, 13, 30)


@pytest.mark.parametrize("augment", [1, 3])
def test_marks_are_searches_of_so_many_steps(problem_name: str, augment: int, monkeypatch: pytest.MonkeyPatch):
    """Exactly, with restarts, in several blocks, and where blocks were halved for want of memory."""
    instances, config = generate_set(problem_name, 12, 7, 1), replace(MARKED, augment=augment)
    alone = [evaluate(instances, replace(config, steps=steps), rows=2).costs for steps in (*MARKS, config.steps)]
    marked = evaluate(instances, config, rows=2, marks=MARKS)
    limit_rows(monkeypatch, 2 * augment)
    halved = evaluate(instances, config, rows=4, marks=MARKS)
    for found in (marked, halved):
        assert [each.steps for each in found.stages] == [*MARKS, 50]
        assert [each.costs.tolist() for each in found.stages] == [costs.tolist() for costs in alone]
    assert marked.mean_cost < marked.marks[0].mean_cost


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_marks_are_searches_of_so_many_steps_on_a_gpu(problem_name: str):
    """Also where steps are made by graphs of several, and marks lie between them."""
    instances, config = generate_set(problem_name, 50, 300, 1), SolveConfig(steps=2000, device="cuda")
    marked = evaluate(instances, config, rows=200, marks=(101, 1000))
    for found in marked.stages:
        alone = evaluate(instances, replace(config, steps=found.steps), rows=200)
        assert np.array_equal(found.costs, alone.costs), found.steps


def test_seconds_at_marks(monkeypatch: pytest.MonkeyPatch):
    """From the start of each of three blocks to the mark, and for the check of what was found there. The clock advances
    by a second at each reading."""
    monkeypatch.setattr("dact.evaluation.blocks.time", SimpleNamespace(perf_counter=count().__next__))
    found = evaluate(generate_set("tsp", 8, 5, 1), SolveConfig(steps=20), rows=2, marks=(5, 10))
    assert [each.work_seconds for each in found.stages] == pytest.approx([3 * 2, 3 * 3, 3 * 4])


def test_marks_behind_the_end_of_a_search():
    """A search that reaches its target, or has nothing to search, has found at later marks what it has found."""
    target = evaluate(generate_set("tsp", 8, 3, 1), SolveConfig(steps=20, target=1e9), marks=(5, 10))
    tiny = evaluate(generate_set("tsp", 3, 2, 1), SolveConfig(steps=20), marks=(5, 10))
    for found in (target, tiny):
        assert all(np.array_equal(each.costs, found.costs) for each in found.marks)


@pytest.mark.parametrize("marks", [(0, 5), (5, 5), (10, 5), (20,), (30,)])
def test_bad_marks(marks: tuple[int, ...]):
    """They rise, and lie within the search."""
    with pytest.raises(ValueError, match="do not rise from 1 to below 20 steps"):
        evaluate(generate_set("tsp", 5, 2, 1), SolveConfig(steps=20), marks=marks)


def test_the_hybrid_search_has_no_marks():
    """Its temperature falls towards its end, so that a shorter search is another one."""
    with pytest.raises(ValueError, match="marks go with the policy search"):
        evaluate(generate_set("tsp", 8, 2, 1), SolveConfig(search="hybrid", steps=20), marks=(5,))


@pytest.mark.parametrize("shard", [(0, 3), (4, 3), (1, 0), (3, 3)])
def test_bad_shards(shard: tuple[int, int]):
    """Shards out of range, or empty, are refused."""
    with pytest.raises(InputError, match=f"shard {shard[0]}/{shard[1]}"):
        evaluate(generate_set("tsp", 5, 2, 1), SolveConfig(steps=1), rows=1, shard=shard)


def limit_rows(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Let the engine run out of memory above so many rows."""
    advance = PlainEngine.advance

    def small(self: PlainEngine, batch: Batch, *rest: Any) -> SearchState:
        if batch.rows > most:
            raise torch.cuda.OutOfMemoryError
        return advance(self, batch, *rest)

    monkeypatch.setattr(PlainEngine, "advance", small)


def test_too_little_memory(monkeypatch: pytest.MonkeyPatch):
    """Where a block does not fit, its halves are solved, with the same draws."""
    instances, config = generate_set("tsp", 8, 7, 1), SolveConfig(steps=4)
    pairs = evaluate(instances, config, rows=2)
    limit_rows(monkeypatch, 2)
    assert np.array_equal(evaluate(instances, config, rows=4).costs, pairs.costs)


def test_no_memory_at_all(monkeypatch: pytest.MonkeyPatch):
    """An instance that does not fit by itself is refused in one sentence."""
    limit_rows(monkeypatch, 0)
    with pytest.raises(ValueError, match="not enough memory"):
        evaluate(generate_set("tsp", 8, 2, 1), SolveConfig(steps=4))


def test_weights_are_not_guessed():
    """A name that no weights have is refused before anything is solved."""
    with pytest.raises(ValueError, match="nonsense"):
        evaluate(generate_set("tsp", 5, 2, 1), SolveConfig(steps=1, weights="nonsense"))


def test_the_hybrid_search_is_kept_and_shared_out(tmp_path: Path) -> None:
    """Blocks, a file that goes on, and one call give the same costs; other settings do not belong to the file."""
    instances, out = generate_set("cvrp", 12, 5, seed=3), tmp_path / "kept.jsonl"
    config = SolveConfig.flat(search="hybrid", steps=6)
    whole = evaluate(instances, config)
    evaluate(instances, config, rows=2, shard=(1, 2), out=out)
    kept = evaluate(instances, config, rows=2, out=out)
    assert kept.solved < len(instances)
    assert kept.costs.tolist() == whole.costs.tolist()
    with pytest.raises(InputError):
        evaluate(instances, SolveConfig.flat(search="hybrid", steps=6, walks=2), rows=2, out=out)
