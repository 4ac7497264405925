"""Descents and rounds of every form on drawn instances: broken triangles, duplicates, zero demands, full vehicles."""

from collections.abc import Callable
from itertools import combinations, pairwise
from typing import NamedTuple

import pytest
import torch
from descent_cases import (
    FORMS,
    ROWS,
    Form,
    begin,
    delivering,
    descent,
    every_code,
    finish,
    is_cost,
    is_tour,
    same,
    settled,
    slack,
    starts,
    terrain_of,
    travelling,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from dact.kernels.descent.job import KICKS, KickConfig, Rows, Terrain, tour_cost
from dact.kernels.descent.reference import best_moves_reference, descend_reference
from dact.problems import PROBLEMS, Batch


class Case(NamedTuple):
    """Alike rows, feasible starts, a kick, and whether there are exchanges between routes and a price of overload."""

    batch: Batch
    tour_BN: Tensor
    kick: KickConfig
    others: dict[str, float]


@st.composite
def distances(draw: st.DrawFn, size: int) -> Tensor | None:
    """None for coordinates; else any numbers from 0 on, the same in both directions or not, whole or not."""
    kind = draw(st.sampled_from(["points", "symmetric", "one-way"]))
    if kind == "points":
        return None
    value_NN = torch.tensor(draw(st.lists(st.integers(0, 20), min_size=size**2, max_size=size**2))).view(size, size)
    value_NN = torch.maximum(value_NN, value_NN.t()) if kind == "symmetric" else value_NN
    return value_NN.float().fill_diagonal_(0) / draw(st.sampled_from([1, 7]))


@st.composite
def full_routes(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    """Demands of 1 to 4 routes, each of 1 to 4 customers that fill the vehicle exactly; and the capacity."""
    capacity = draw(st.integers(1, 12))
    cuts = draw(st.lists(st.lists(st.integers(0, capacity), max_size=3), min_size=1, max_size=4))
    edges = [[0, *sorted(cut), capacity] for cut in cuts]
    return [[high - low for low, high in pairwise(edge)] for edge in edges], capacity


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Instances of either problem with up to 16 customers, on a grid so small that points coincide."""
    routes, capacity = draw(full_routes()) if draw(st.booleans()) else ([], 0)
    size = 1 + sum(map(len, routes)) if routes else draw(st.integers(1, 12))
    point = st.tuples(st.integers(0, 3), st.integers(0, 3))
    points_N2 = torch.tensor(draw(st.lists(point, min_size=size, max_size=size))) / 3
    distance_NN = draw(distances(size))
    kinds = [kick for kick in KICKS if kick != "bridge" or not routes]
    kick = KickConfig(kick=draw(st.sampled_from(kinds)), size=draw(st.integers(1, 5)), window=draw(st.integers(1, 6)))
    if not routes:
        batch = travelling(points_N2, distance_NN)
        return Case(batch, starts(batch, seed=draw(st.integers(0, 99))), kick, {})
    demand_C = torch.tensor([demand for route in routes for demand in route])
    batch = delivering(points_N2, demand_C, capacity, len(routes) + draw(st.integers(0, 2)), distance_NN)
    customers = iter(range(1, size))
    given_routes = [[next(customers) for _ in route] for route in routes]
    others = {"margin": draw(st.sampled_from([0, 0.05, 1e9])), "overload": draw(st.sampled_from([0, 0.1, 10]))}
    return Case(batch, PROBLEMS["cvrp"].given_start(batch, [given_routes] * ROWS), kick, others)


@given(case=cases())
@settings(max_examples=15, deadline=None)
def test_the_reference(case: Case) -> None:
    """A descent by the reference ends in a feasible local optimum that costs no more."""
    terrain, source_R = terrain_of(case.batch, case.tour_BN), torch.arange(ROWS)
    end = descend_reference(terrain, case.tour_BN, source_R, every_code(terrain))
    assert end.optimal_R.all()
    assert is_tour(case.batch, end.tour_RN).all()
    assert (tour_cost(terrain, end.tour_RN, source_R) <= tour_cost(terrain, case.tour_BN, source_R)).all()
    assert (best_moves_reference(terrain, end.tour_RN, source_R, every_code(terrain))[0] <= terrain.least_I).all()


@pytest.mark.parametrize("name", FORMS)
def test_descents(form_named: Callable[[str], Form], name: str) -> None:
    """Descents of a form are feasible, cost what they say, and end where the reference finds no move that gains."""
    form = form_named(name)

    @given(case=cases())
    @settings(max_examples=30, deadline=None)
    def check(case: Case) -> None:
        terrain = terrain_of(case.batch, case.tour_BN)
        rows = begin(terrain, case.tour_BN)
        before_R = rows.cost_R3[:, 0].clone()
        finish(form, descent(terrain, rows))
        assert is_tour(case.batch, rows.best_RN).all()
        assert is_cost(rows.cost_R3[:, 2], terrain, rows.best_RN).all()
        assert (rows.cost_R3[:, 2] <= before_R).all()
        end_RN = settled(form, terrain, case.tour_BN)
        gain_R, _ = best_moves_reference(terrain, end_RN, torch.arange(ROWS), every_code(terrain))
        assert (gain_R <= terrain.least_I + slack(terrain)).all()

    check()


def after_rounds(form: Form, case: Case) -> tuple[Terrain, Rows]:
    """Some rounds that accept worse tours."""
    terrain = terrain_of(case.batch, case.tour_BN, neighbours=5)
    rows = begin(terrain, case.tour_BN)
    usual = {"settings": case.kick, "rounds": 8, "temperature": 0.05, "cooling": -0.1}
    finish(form, descent(terrain, rows, **usual, **case.others))
    return terrain, rows


@pytest.mark.parametrize("name", FORMS)
def test_rounds(form_named: Callable[[str], Form], name: str) -> None:
    """Rounds of a form stay feasible and cost what they say."""
    form = form_named(name)

    @given(case=cases())
    @settings(max_examples=60, deadline=None)
    def check(case: Case) -> None:
        terrain, rows = after_rounds(form, case)
        assert is_tour(case.batch, rows.best_RN).all()
        if case.others.get("overload"):  # gains with a price are not exact
            cost_R = tour_cost(terrain, rows.best_RN, torch.arange(ROWS))
            torch.testing.assert_close(rows.cost_R3[:, 2], cost_R, rtol=1e-5, atol=1e-4)
        else:
            assert is_tour(case.batch, rows.current_RN).all()
            assert is_cost(rows.cost_R3[:, 1], terrain, rows.current_RN).all()
            assert is_cost(rows.cost_R3[:, 2], terrain, rows.best_RN).all()
        assert (rows.count_R6[:, 0] == 8).all()

    check()


@pytest.mark.parametrize("pair", list(combinations(FORMS, 2)), ids="-".join)
def test_forms_agree(form_named: Callable[[str], Form], pair: tuple[str, str]) -> None:
    """Two forms come to exactly the same point."""
    one, other = map(form_named, pair)

    @given(case=cases())
    @settings(max_examples=60, deadline=None)
    def check(case: Case) -> None:
        assert same(after_rounds(one, case)[1], after_rounds(other, case)[1])

    check()
