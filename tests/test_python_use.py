"""The API as people use and misuse it."""

import re
import sys
from dataclasses import replace

import numpy as np
import pytest

import dact
from dact.instances import Instance, generate_set
from dact.search import Snapshot

SHOPS = Instance.from_arrays(
    [[0, 0], [0, 1], [0, 2], [3, 0]], [0, 1, 1, 2], 2, names=("Base", "Ann", "Ben", "Cem"), name="shops"
)


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (("x.csv",), {}, "instances is 'x.csv', not an Instance: dact.read reads files"),
        ((["x.csv"],), {}, r"instances\[0\] is a str, not an Instance"),
        ((3,), {}, "instances is a int, not an Instance"),
        ((SHOPS,), {"steps": "10"}, "steps is '10', not a whole number or None"),
        ((SHOPS,), {"steps": 10.5}, "steps is 10.5, not a whole number or None"),
        ((SHOPS,), {"step": 10}, "no setting 'step': did you mean 'steps'"),
        ((SHOPS,), {"time_limit": "1"}, "time_limit is '1', not a number or None"),
        ((SHOPS,), {"seed": None}, "seed is None, not a whole number"),
        ((SHOPS,), {"seed": True}, "seed is True, not a whole number"),
        ((SHOPS,), {"walks": "2"}, "walks is '2', not a whole number"),
        ((SHOPS,), {"kick": 2}, "kick is 2, not text"),
        ((SHOPS,), {"patience": "2"}, "patience is '2', not a whole number"),
        ((SHOPS,), {"watch": 3}, "watch is 3, not a function"),
    ],
)
def test_wrong_types_are_named(arguments: tuple, settings: dict, message: str) -> None:
    """A value of a wrong type is refused with the name of the setting."""
    with pytest.raises(TypeError, match=message):
        dact.solve(*arguments, **settings)


@pytest.mark.parametrize(
    ("instance", "routes", "message"),
    [
        (SHOPS, [1, 2], r"routes\[0\] is 1, not a route: a list of indices"),
        (SHOPS, [[1], ["Ben"]], r"routes\[1\] is \['Ben'\], not a route: a list of indices"),
        (SHOPS, [[1, 2.5]], r"routes\[0\] is \[1, 2.5\], not a route: a list of indices"),
        (SHOPS, 3, "routes is 3, not a list of routes"),
        ("shops.csv", [[1]], "instance is 'shops.csv', not an Instance"),
    ],
)
def test_the_checker_names_what_is_no_route(instance: object, routes: object, message: str) -> None:
    """What cannot be checked is refused with the argument and its value."""
    with pytest.raises(TypeError, match=message):
        dact.check(instance, routes)


def test_short_texts() -> None:
    """Instances, sets and results tell their figures, not their arrays."""
    assert repr(SHOPS) == "Instance('shops', cvrp, 3 customers, capacity 2, euclidean)"
    instances = generate_set("tsp", 20, 2, seed=1)
    assert repr(instances) == "InstanceSet('tsp20_seed1', tsp, 2 instances of size 20)"
    result = dact.solve(SHOPS, steps=20)
    assert re.fullmatch(r"Result\('shops', cvrp, 3 customers, cost 10, 2 routes, [\d.]+ s\)", repr(result))
    globe = Instance.from_arrays([[50.0, 5], [51, 5], [51, 6]], latlon=True, name="a\n")
    tour = dact.solve(replace(globe, best_known=200.0), steps=1)
    assert re.fullmatch(r"Result\('a\\n', tsp, 3 nodes, cost [\d.]+ km, gap [\d.]+ %, [\d.]+ s\)", repr(tour))


def test_demands_without_a_capacity() -> None:
    """Whoever has arrays is told of an argument, not of a line in a file."""
    for make in (Instance.from_arrays, Instance.from_matrix):
        with pytest.raises(dact.InputError, match="demands are given, but no capacity: pass one, such as capacity=50"):
            make([[0, 1], [1, 0]], demand=[0, 1])


def test_numbers_of_numpy() -> None:
    """NumPy's numbers are as good as Python's."""
    assert dact.solve(SHOPS, steps=np.int64(3), target=np.float32(1), seed=np.int32(2)).seed == 2


@pytest.mark.parametrize("search", ["hybrid", "policy"])
def test_a_callback_sees_the_search_and_stops_it(search: str) -> None:
    """What `watch` is called with tells of steps and costs; where it returns True the search ends."""
    seen: list[tuple[int, float]] = []

    def watch(snapshot: Snapshot) -> bool:
        seen.append((snapshot.steps, snapshot.cost))
        return len(seen) == 3

    instances = [generate_set("cvrp", 10, 1, seed=1)[0], SHOPS]
    results = dact.solve(instances, search=search, steps=10**6, watch=watch)
    assert len(seen) == 3
    assert [result.instance.name for result in results] == [instances[0].name]
    assert (results[0].interrupted, results[0].feasible, results[0].steps) == (True, True, seen[-1][0])
    assert seen[0][1] >= seen[-1][1] >= results[0].cost - 1e-4


def test_frames_need_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pandas, one sentence says what is missing."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pandas is not installed, which to_frame needs"):
        dact.solve(SHOPS, steps=1).to_frame()


def test_frames() -> None:
    """A row for each stop; legs add up to the cost."""
    pytest.importorskip("pandas")
    result = dact.solve(SHOPS, steps=20)
    frame = result.to_frame()
    assert list(frame.columns) == ["route", "stop", "name", "load", "leg", "distance"]
    assert frame["leg"].sum() == pytest.approx(result.cost)
    assert set(frame["name"]) == set(SHOPS.names)
