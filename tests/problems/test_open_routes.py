"""A third problem as the recipe says: its record of facts, its class, a line in PROBLEMS, and this test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

import dact
from dact.evaluation import evaluate
from dact.instances import FACTS, Facts, Instance, InstanceSet, generate_set
from dact.pipeline import SolveConfig
from dact.problems import PROBLEMS, Batch, Cvrp

FACT = Facts(name="ovrp", title="OVRP", depot=True, capacity=True, returns=False, suffix=".sol", by_id=False)


@dataclass(frozen=True)
class Ovrp(Cvrp):
    """Vehicles stay where they served their last customer: ways to the depot cost nothing."""

    name: str = "ovrp"

    def collate(self, instances: Sequence[Instance], routes_needed: int = 0) -> Batch:
        batch = super().collate(instances, routes_needed)
        assert batch.distance_INN is not None
        ridden_INN = batch.distance_INN.clone()
        ridden_INN[:, :, : batch.depots] = 0
        return replace(batch, distance_INN=ridden_INN)

    def collate_set(self, instances: InstanceSet) -> Batch:
        return self.collate(list(instances))


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FACTS, "ovrp", FACT)
    monkeypatch.setitem(PROBLEMS, "ovrp", Ovrp())


def test_open_routes_are_solved():
    """The search improves open routes, and its cost is the checker's, which is below that of closed routes."""
    instance = generate_set("ovrp", 12, 1, seed=1)[0]
    result = dact.solve(instance, steps=100, start="random", weights="untrained")
    assert result.feasible
    assert result.cost < result.start_cost
    assert result.trace[-1].cost == pytest.approx(result.cost, rel=1e-5)
    closed = replace(instance, problem="cvrp")
    assert dact.check(closed, result.routes).cost > result.cost


def test_sets_of_open_routes_are_evaluated():
    """The judge of sets agrees with the single answers."""
    instances = generate_set("ovrp", 8, 3, seed=2)
    config = {"steps": 30, "weights": "untrained"}
    done = evaluate(instances, SolveConfig.flat(**config), rows=3)
    single = [result.cost for result in dact.solve(list(instances), **config)]
    assert done.costs == pytest.approx(single)
