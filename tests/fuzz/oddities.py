"""Instances of odd shapes and units, and settings to solve them with."""

import numpy as np
import torch
from hypothesis import strategies as st

from dact.instances import STARTS, Instance
from dact.instances.distances import RULES
from dact.instances.instance import least_vehicles
from dact.operators import OPERATORS
from dact.pipeline import SEARCHES

UNITS = st.sampled_from([1e-9, 1e-3, 1.0, 7.0, 1e3, 1e6, 1e11])
LOAD_UNITS = st.sampled_from([1, 1, 3, 10**6, 2**30, 10**11])
DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]

OWN: dict[str, dict[str, st.SearchStrategy[object]]] = {
    "policy": {
        "operator": st.sampled_from(["auto", *OPERATORS]),
        "augment": st.sampled_from([1, 1, 2, 8]),
        "patience": st.sampled_from([1, 3, 250]),
        "weights": st.sampled_from([None, "untrained"]),
    },
    "hybrid": {
        "walks": st.sampled_from([1, 2, 5]),
        "neighbours": st.sampled_from([1, 2, 10]),
        "temperature": st.sampled_from([0.0, 1.0]),
    },
}
"""Settings that only one method reads."""


@st.composite
def points(draw: st.DrawFn, count: int) -> np.ndarray:
    """Scattered, on a line, on a grid, in few places, in one place, or one of them far away."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from(["scattered", "line", "grid", "few", "one", "far"]))
    found = rng.random((count, 2))
    if kind == "line":
        found = np.outer(rng.random(count), rng.random(2))
    elif kind == "grid":
        found = rng.integers(0, 4, (count, 2)).astype(float)
    elif kind == "few":
        found = found[rng.integers(0, min(count, 3), count)]
    elif kind == "one":
        found = np.full((count, 2), rng.random())
    elif kind == "far":
        found[-1] = 8.0
    return found


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """A problem with a rule of its own, in units of its own."""
    problem = draw(st.sampled_from(["tsp", "cvrp"]))
    count = draw(st.integers(1 if problem == "tsp" else 2, 13))
    rule = draw(st.sampled_from([*sorted(RULES), *["explicit"] * 4]))
    place = draw(points(count)) * (10 if rule.startswith(("geo", "great")) else draw(UNITS))
    shape: dict[str, object] = {"coordinates": place}
    if rule == "explicit":
        gaps = np.abs(place[:, None] - place[None]).sum(axis=2).clip(max=1e12)
        if draw(st.booleans()):
            gaps = gaps - np.triu(gaps) / 4
        shape = {"matrix": np.floor(gaps) if draw(st.booleans()) else gaps}
    loads = draw(demands(count)) if problem == "cvrp" else {}
    found = Instance(name="odd", problem=problem, rule=rule, **shape, **loads)
    return (
        found.with_vehicles(least_vehicles(found) + draw(st.integers(0, 2))) if loads and draw(st.booleans()) else found
    )


@st.composite
def given_routes(draw: st.DrawFn, instance: Instance) -> list[list[int]] | None:
    """None, or a start of one's own: customers in any order, each on a route of its own where that is allowed."""
    if instance.vehicles or not draw(st.booleans()):
        return None
    depot = instance.facts.depot
    order = draw(st.permutations(range(int(depot), instance.size)))
    return [[node] for node in order] if depot else [order]


@st.composite
def demands(draw: st.DrawFn, count: int) -> dict[str, object]:
    """Zeros, ones, or anything; a capacity that is just enough, or plenty."""
    most = draw(st.sampled_from([0, 1, 9]))
    unit = draw(LOAD_UNITS)
    demand = [0, *draw(st.lists(st.integers(0, most), min_size=count - 1, max_size=count - 1))]
    least = max(max(demand), 1) * unit
    capacity = draw(st.sampled_from([least, least + unit // 2, least + unit, max(sum(demand), 1) * unit, 10**12]))
    return {"demand": np.array(demand) * unit, "capacity": min(max(capacity, least), 10**12)}


@st.composite
def settings_of_a_solve(draw: st.DrawFn) -> dict[str, object]:
    """Every search method, start, operator and device there is. A new method belongs into OWN."""
    search = draw(st.sampled_from(sorted(SEARCHES)))
    common = {
        "start": st.sampled_from(STARTS),
        "steps": st.integers(0, 12),
        "seed": st.integers(0, 2**63 - 1),
        "device": st.sampled_from(DEVICES),
    }
    return {"search": search} | draw(st.fixed_dictionaries(common | OWN[search]))
