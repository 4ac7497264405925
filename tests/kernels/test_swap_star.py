"""Exchanges of two customers between routes (SWAP*): the reference against brute force, the forms against it."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise, product

import pytest
import torch
from descent_cases import (
    CASES,
    FORMS,
    ROWS,
    Form,
    begin,
    descent,
    every_code,
    finish,
    is_cost,
    is_tour,
    same,
    slack,
    starts,
    terrain_of,
)

from dact.kernels.descent.job import COUNTS, KickConfig, Terrain
from dact.kernels.descent.reference import best_moves_reference
from dact.kernels.descent.reference_swaps import best_swaps_reference

CVRP = [name for name in CASES if name.startswith("cvrp")]
ALWAYS = 1e9
"""A margin that every descent is within."""


def best_by_force(terrain: Terrain, tour: list[int], row: int) -> float:
    """What the best exchange gains, by making all of them at all places."""
    view = terrain.xy_IN2[row] if terrain.distance_MNN is None else None
    table_NN = torch.cdist(view.double(), view.double()) if view is not None else terrain.distance_MNN[0].double()
    demand, room = terrain.demand_IN[row].tolist(), int(terrain.capacity_I[row])
    routes: list[list[int]] = []
    for node in tour:
        routes.append([]) if node < terrain.depots else routes[-1].append(node)

    def length(route: list[int]) -> float:
        return sum(float(table_NN[a, b]) for a, b in pairwise([0, *route, 0]))

    def least(route: list[int], node: int) -> float:
        return min(length([*route[:k], node, *route[k:]]) for k in range(len(route) + 1))

    best = -torch.inf
    for one, other in product(routes, routes):
        for u, v in product(one, other):
            more = demand[v] - demand[u]
            if one is other or sum(demand[x] for x in one) + more > room or sum(demand[x] for x in other) - more > room:
                continue
            rest, others = [x for x in one if x != u], [x for x in other if x != v]
            best = max(best, length(one) + length(other) - least(rest, v) - least(others, u))
    return best


@pytest.mark.parametrize("name", CVRP)
def test_the_reference_against_brute_force(name: str) -> None:
    """The best exchange gains what the best of all exchanges at all places gains."""
    tour_BN = starts(CASES[name])
    if tour_BN.shape[1] > 40:
        tour_BN = tour_BN[:1]
    terrain = terrain_of(CASES[name], starts(CASES[name]))
    found_R = best_swaps_reference(terrain, tour_BN, torch.arange(len(tour_BN)))
    forced = [best_by_force(terrain, tour, row) for row, tour in enumerate(tour_BN.tolist())]
    torch.testing.assert_close(found_R, torch.tensor(forced, dtype=torch.float64), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", CVRP)
def test_descents_end_without_exchanges(form: Form, name: str) -> None:
    """A descent with exchanges gives a feasible tour with its cost; the reference finds no exchange that gains."""
    batch, tour_BN = CASES[name], starts(CASES[name])
    terrain = terrain_of(batch, tour_BN)
    for _ in range(20):
        rows = begin(terrain, tour_BN)
        finish(form, descent(terrain, rows, margin=ALWAYS))
        assert is_tour(batch, rows.best_RN).all()
        assert is_cost(rows.cost_R3[:, 2], terrain, rows.best_RN).all()
        tour_BN = rows.best_RN.long()
    assert (best_swaps_reference(terrain, tour_BN, torch.arange(ROWS)) <= terrain.least_I + 4 * slack(terrain)).all()
    gain_R, _ = best_moves_reference(terrain, tour_BN, torch.arange(ROWS), every_code(terrain))
    assert (gain_R <= terrain.least_I + slack(terrain)).all()


def test_exchanges_gain_where_other_moves_do_not(form: Form) -> None:
    """Some local optima of the other moves have an exchange that gains, and descents with exchanges are better."""
    costs = []
    for margin in (0.0, ALWAYS):
        tour_BN = starts(CASES["cvrp of 52"])
        terrain = terrain_of(CASES["cvrp of 52"], tour_BN)
        rows = begin(terrain, tour_BN)
        finish(form, descent(terrain, rows, margin=margin))
        if not margin:
            gain_R = best_swaps_reference(terrain, rows.best_RN.long(), torch.arange(ROWS))
            assert (gain_R > terrain.least_I + slack(terrain)).any()
        costs.append(float(rows.cost_R3[:, 2].sum()))
    assert costs[1] < costs[0]


@pytest.mark.parametrize("neighbours", [0, 5])
def test_rounds_with_exchanges(form: Form, neighbours: int) -> None:
    """Rounds with exchanges keep feasible tours with their costs, whatever the number of looks in a launch."""
    batch, tour_BN = CASES["cvrp of 53"], starts(CASES["cvrp of 53"])
    terrain = terrain_of(batch, tour_BN, neighbours)
    ends = []
    for looks in (7, 5_000):
        rows = begin(terrain, tour_BN)
        settings = KickConfig(size=3, window=5)
        launch = descent(terrain, rows, settings=settings, rounds=30, looks=looks, margin=0.02, temperature=0.01)
        finish(form, launch)
        for tour_RN, cost_R in ((rows.best_RN, rows.cost_R3[:, 2]), (rows.current_RN, rows.cost_R3[:, 1])):
            assert is_tour(batch, tour_RN).all()
            assert is_cost(cost_R, terrain, tour_RN).all()
        ends.append(rows)
    assert same(*ends)


@pytest.mark.parametrize("neighbours", [0, 8])
@pytest.mark.parametrize("name", CVRP)
@pytest.mark.parametrize("pair", list(combinations(FORMS, 2)), ids="-".join)
def test_forms_agree(form_named: Callable[[str], Form], pair: tuple[str, str], name: str, neighbours: int) -> None:
    """Two forms make the same exchanges, with and without a price of overload."""
    tour_BN = starts(CASES[name])
    terrain = terrain_of(CASES[name], tour_BN, neighbours)
    for kick, others in (("ruin", {"margin": ALWAYS}), ("nearby", {"margin": 0.05, "overload": 0.5})):
        ends = []
        for form in map(form_named, pair):
            rows = begin(terrain, tour_BN)
            settings = KickConfig(kick=kick, size=4, window=6, reach=0)
            finish(form, descent(terrain, rows, settings=settings, rounds=40, temperature=0.02, **others))
            ends.append(rows)
        assert same(*ends)


@pytest.mark.parametrize("kick", ["ruin", "nearby"])
@pytest.mark.parametrize("overload", [0.0, 0.5])
@pytest.mark.parametrize("pair", list(combinations(FORMS, 2)), ids="-".join)
def test_forms_agree_after_every_launch(
    form_named: Callable[[str], Form], pair: tuple[str, str], overload: float, kick: str
) -> None:
    """Two forms are at the same point after every few looks, which routes have changed included."""
    tour_BN = starts(CASES["cvrp of 53"])
    terrain = terrain_of(CASES["cvrp of 53"], tour_BN, 8)
    settings = KickConfig(kick=kick, size=4, window=6, reach=0)
    ends = [begin(terrain, tour_BN) for _ in pair]
    for _ in range(400):
        for form, rows in zip(map(form_named, pair), ends, strict=True):
            form(descent(terrain, rows, settings=settings, rounds=99, looks=3, margin=ALWAYS, overload=overload))
        assert same(*ends)
    assert ends[0].count_R6[:, 0].min() > 1


def test_pairs_of_long_routes_take_more_looks(form: Form) -> None:
    """So that launches are not much longer where routes are long: this one ends after two routes of 26 customers."""
    batch, tour_BN = CASES["cvrp of 52"], starts(CASES["cvrp of 52"])
    batch = replace(batch, capacity_B=torch.full_like(batch.capacity_B, 10_000))
    customer_C = torch.arange(batch.depots, batch.length)
    half = torch.cat((torch.tensor([0]), customer_C[:26], torch.tensor([1]), customer_C[26:]))
    tour_BN = torch.cat((half, torch.arange(2, batch.depots))).expand(len(tour_BN), -1)
    terrain, settings = terrain_of(batch, tour_BN), KickConfig(reach=0)
    rows = begin(terrain, tour_BN)
    rows.dirty_RW.zero_()
    rows.touched_RD.fill_(1)
    form(descent(terrain, rows, settings=settings, looks=26 * 26 // 32, margin=ALWAYS))
    assert (rows.count_R6[:, COUNTS.index("looks")] == 0).all()
    assert (rows.count_R6[:, COUNTS.index("moves")] <= 1).all()
