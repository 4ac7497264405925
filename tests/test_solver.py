"""The one-call API."""

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import dact
from dact.cli import app
from dact.evaluation import evaluate
from dact.instances import generate_set
from dact.pipeline import SolveConfig
from dact.policy import Weights, load_weights, save_weights
from dact.problems import Batch, Tsp
from dact.search import HybridConfig, PlainEngine, SearchConfig, SearchState, TracePoint
from dact.settings import ELSEWHERE
from dact.solver import Plan


def points(problem: str, count: int, same: bool = False, name: str = "tiny") -> dact.Instance:
    """A few nodes, or all of them in one place."""
    coordinates = np.full((count, 2), 5.0) if same else np.random.RandomState(count).rand(count, 2) * 100
    if problem == "tsp":
        return dact.Instance(name=name, problem="tsp", rule="euc_2d", coordinates=coordinates)
    demand = np.array([0] + [1] * (count - 1))
    return dact.Instance(name=name, problem="cvrp", rule="euc_2d", coordinates=coordinates, demand=demand, capacity=2)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_the_answer_is_checked_and_never_worse_than_the_start(problem: str) -> None:
    """The reported cost is the checker's, the trace falls, and nothing got worse."""
    result = dact.solve(generate_set(problem, 20, 1, seed=3)[0], steps=60, seed=1, augment=2)
    verdict = dact.check(result.instance, result.routes)
    assert verdict.feasible
    assert result.feasible
    assert result.cost == verdict.cost <= result.start_cost
    assert result.steps == 60
    assert isinstance(result.trace[0], TracePoint)


def test_a_seed_gives_the_same_answer() -> None:
    """Twice the same call, twice the same routes."""
    instance = generate_set("cvrp", 20, 1, seed=5)[0]
    first, second = (dact.solve(instance, steps=40, seed=9) for _ in range(2))
    assert first.routes == second.routes
    assert first.cost == second.cost


@pytest.mark.parametrize("start", ["greedy", "random"])
@pytest.mark.parametrize("operator", ["two_opt", "insert", "swap"])
def test_all_operators_and_starts_solve(start: str, operator: str) -> None:
    """Every combination gives a feasible answer."""
    result = dact.solve(generate_set("cvrp", 10, 1, seed=6)[0], steps=15, start=start, operator=operator)
    assert result.feasible


def test_operator_of_the_weights(tmp_path: Path) -> None:
    """Weights are searched with the moves that they were trained to make, unless others are asked for."""
    shipped = load_weights(Path(dact.__file__).with_name("weights") / "tsp20.safetensors")
    card = dataclasses.replace(shipped.card, name="inserts", training={**shipped.card.training, "operator": "insert"})
    save_weights(tmp_path / "inserts.safetensors", dataclasses.replace(shipped, card=card))
    instance = generate_set("tsp", 20, 1, seed=4)[0]
    traces = [
        dact.solve(instance, steps=30, weights=str(tmp_path / "inserts.safetensors"), operator=operator).trace
        for operator in ("auto", "insert", "two_opt")
    ]
    auto, insert, two_opt = ([(point.step, point.cost) for point in trace] for trace in traces)
    assert auto == insert != two_opt


def test_sizes_and_problems_may_be_mixed() -> None:
    """A list of different instances comes back in its order, each solved as asked."""
    instances = [
        generate_set("tsp", 12, 1, seed=1)[0],
        generate_set("cvrp", 10, 1, seed=1)[0],
        generate_set("tsp", 9, 1, seed=1)[0],
        generate_set("tsp", 12, 1, seed=2)[0],
    ]
    results = dact.solve(instances, steps=10)
    assert [result.instance for result in results] == instances
    assert all(result.feasible and result.steps == 10 for result in results)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("same", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_tiny_instances_are_answered(problem: str, count: int, same: bool) -> None:
    """One node, two nodes, one customer, all nodes at one point: answered, not refused."""
    if problem == "cvrp" and count == 1:
        pytest.skip("a CVRP has at least one customer")
    result = dact.solve(points(problem, count, same), steps=8)
    assert result.feasible
    assert not same or result.cost == 0


def test_a_warm_start_is_used_and_never_worsened() -> None:
    """From a given tour with no steps left, that tour comes back; with steps, nothing worse."""
    instance = points("tsp", 12)
    order = (tuple(np.random.RandomState(0).permutation(12).tolist()),)
    kept = dact.solve(instance, steps=0, start_routes=order)
    assert kept.cost == kept.start_cost == dact.check(instance, order).cost
    assert dact.solve(instance, steps=50, start_routes=order).cost <= kept.cost


def test_a_warm_start_may_use_more_routes_than_needed() -> None:
    """One vehicle per customer is a legal start although two per vehicle would fit."""
    instance = points("cvrp", 9)
    alone = tuple((customer,) for customer in range(1, 9))
    result = dact.solve(instance, steps=30, start_routes=alone)
    assert result.start_cost == dact.check(instance, alone).cost
    assert result.feasible


def test_a_target_stops_the_search() -> None:
    """A target already met by the start leaves the step count at zero."""
    assert dact.solve(points("tsp", 10), steps=1000, target=1e9).steps == 0


def test_a_time_limit_alone_means_as_many_steps_as_fit(clock) -> None:
    """Steps may be unlimited when time is not; a moment of it is left for the last look at the answer. While rounds
    seem to take no time, each chunk has four times those of the one before. The seconds that are told include the
    last descent, before which the watcher, who takes all the time here, is asked once more."""
    result = dact.solve(points("tsp", 10), steps=None, time_limit=0.3, watch=lambda _: clock.advance(0.1))
    assert result.steps == 16 * (1 + 4 + 16)
    assert result.seconds == pytest.approx(0.4)


def test_gap_is_against_the_best_known_value() -> None:
    """A best known value of half the cost is a gap of 100 percent; without one there is none."""
    plain = dact.solve(points("tsp", 8), steps=0)
    assert plain.gap is None
    known = dataclasses.replace(plain.instance, best_known=plain.cost / 2)
    assert dact.solve(known, steps=0).gap == pytest.approx(100)


def test_too_little_memory_halves_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instances that do not fit side by side are solved in smaller batches, each once and in their order."""
    advance, rows = PlainEngine.advance, []

    def small(self: PlainEngine, batch: Batch, *rest: Any) -> SearchState:
        rows.append(batch.rows)
        if batch.rows > 4:
            raise torch.cuda.OutOfMemoryError
        return advance(self, batch, *rest)

    monkeypatch.setattr(PlainEngine, "advance", small)
    instances = list(generate_set("tsp", 9, 5, seed=1))
    results = dact.solve(instances, steps=1, augment=2)
    assert [result.instance for result in results] == instances
    assert rows == [10, 4, 4, 2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"augment": 9}, "augment is 9"),
        ({"start": "best"}, "start 'best'"),
        ({"device": "tpu"}, "device 'tpu'"),
        ({"operator": "or_opt"}, "operator 'or_opt'"),
        ({"seed": -1}, "seed -1"),
        ({"device": "cpu", "precision": "float16"}, "precision 'float16' needs a GPU"),
        ({"precision": "int4"}, "precision 'int4'"),
        ({"weights": "nonsense"}, "weights 'nonsense'"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, object], message: str) -> None:
    """A wrong setting is refused with its value before anything is searched."""
    with pytest.raises(ValueError, match=message):
        dact.solve(points("tsp", 5), **settings)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("precision", ["auto", "float32"])
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_a_gpu_solves_and_repeats_itself(problem: str, precision: str) -> None:
    """On a GPU a seed gives the same checked answers, and a time limit alone ends the search."""
    instances = list(generate_set(problem, 20, 3, seed=3))
    first, second = (dact.solve(instances, steps=50, device="cuda", precision=precision) for _ in range(2))
    assert [result.routes for result in first] == [result.routes for result in second]
    assert all(result.feasible and result.cost <= result.start_cost for result in first)
    timed = dact.solve(instances, time_limit=0.5, device="cuda", precision=precision)
    assert all(result.feasible and result.steps > 0 for result in timed)


@pytest.mark.parametrize("file", ["tsplib/eil51.tsp", "tsplib_more/gr24.tsp", "cvrplib/X-n101-k25.vrp"])
def test_library_instances_are_solved_by_their_own_rule(data: Path, file: str) -> None:
    """Whole costs, a gap against the published optimum, and a feasible answer."""
    result = dact.solve(dact.read(data / file), steps=10, augment=2)
    assert result.feasible
    assert result.cost == int(result.cost)
    assert result.gap is not None
    assert result.gap >= 0


def test_unknown_settings_are_named() -> None:
    """A setting that does not exist is refused with the nearest one that does."""
    with pytest.raises(TypeError, match="no setting 'patiense': did you mean 'patience'"):
        dact.solve(points("tsp", 5), patiense=3)


OPTIONS = {name.replace("as_json", "json") for name in inspect.signature(app.solve).parameters}


@pytest.mark.parametrize("option", sorted(OPTIONS - {"files", "start"}))
def test_every_option_is_a_setting_or_has_its_place(option: str) -> None:
    """An option of `dact solve` is a setting, or the refusal says what there is for it; no setting is refused so."""
    settings = [SolveConfig, HybridConfig, SearchConfig]
    if option in {each.name for record in settings for each in dataclasses.fields(record)}:
        assert option not in ELSEWHERE
        return
    with pytest.raises(TypeError) as refusal:
        dact.solve(points("cvrp", 5), **{option: 2})
    assert str(refusal.value) == f"there is no setting '{option}': {ELSEWHERE[option].replace('{0}', option)}"


def test_places_of_options_exist() -> None:
    """What the refusals tell people to write works."""
    assert set(ELSEWHERE) <= OPTIONS
    known = inspect.signature(dact.read).parameters
    assert {option for option, place in ELSEWHERE.items() if "dact.read" in place} <= set(known)
    grid = [[0, 0], [0, 1], [1, 0]]
    made = dact.Instance.from_arrays(grid, [0, 0.5, 1], capacity=1.5, demand_unit=0.5, vehicles=2)
    assert made.vehicles == 2
    assert made.with_vehicles(1).vehicles == 1
    assert made.with_rounding("nearest").rule == "euc_2d"
    assert dataclasses.replace(made, best_known=2.0).best_known == 2.0


def test_weights_are_chosen_by_customers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The depot is no customer: 35 customers lie nearer to 20 (tied with 50) although there are 36 nodes."""
    shipped = load_weights(Path(dact.__file__).with_name("weights") / "cvrp20.safetensors")
    for size in (20, 50):
        card = dataclasses.replace(shipped.card, name=f"cvrp{size}", size=size)
        save_weights(tmp_path / f"cvrp{size}.safetensors", dataclasses.replace(shipped, card=card))
    monkeypatch.setattr("dact.cards.SHIPPED", tmp_path)
    instances = generate_set("cvrp", 35, 1, seed=1)
    assert dact.solve(instances[0], steps=0, search="policy").weights == "cvrp20"
    assert [card.name for card in Plan([instances[0]], SolveConfig()).cards()] == ["cvrp20"]
    assert evaluate(instances, SolveConfig(steps=0)).weights == "cvrp20"


def test_weights_are_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instances of several sizes that the same weights serve share one reading of the file."""
    loads: list[Path] = []

    def counted(path: Path) -> Weights:
        loads.append(path)
        return load_weights(path)

    monkeypatch.setattr("dact.policy.weights.load_weights", counted)
    dact.solve([generate_set("tsp", size, 1, seed=1)[0] for size in (8, 9, 10)], steps=1, search="policy")
    assert len(loads) == 1


def test_each_batch_is_collated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large distance matrices are made once."""
    collate, calls = Tsp.collate, []

    def counted(self: Tsp, instances: Any, routes_needed: int = 0) -> Batch:
        calls.append(len(instances))
        return collate(self, instances, routes_needed)

    monkeypatch.setattr(Tsp, "collate", counted)
    dact.solve(list(generate_set("tsp", 9, 3, seed=1)), steps=1)
    assert calls == [3]
