"""Routes that are overloaded on the way, for a price: every form, and the reference."""

import pytest
import torch
from descent_cases import (
    CASES,
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
from torch import Tensor

from dact.kernels.descent.job import KickConfig, Rows, Terrain, tour_cost
from dact.kernels.descent.reference import best_moves_reference, candidates_reference, make_moves_reference
from dact.kernels.descent.reference_swaps import best_swaps_reference

CVRP = [name for name in CASES if name.startswith("cvrp")]
SMALL = [name for name in CVRP if CASES[name].length <= 23]
KICK = KickConfig(size=3, window=5)
EVERY_R = torch.arange(ROWS)


def overload(terrain: Terrain, tour_RN: Tensor) -> Tensor:
    """(R,) how far the routes of each tour exceed the capacity, counted route by route."""
    found = []
    for row, tour in enumerate(tour_RN.long().tolist()):
        loads: list[int] = []
        for node in tour:
            if node < terrain.depots:
                loads.append(0)
            loads[-1] += int(terrain.demand_IN[row, node])
        found.append(sum(max(0, load - int(terrain.capacity_I[row])) for load in loads))
    return torch.tensor(found, dtype=torch.float64)


def priced(terrain: Terrain, tour_RN: Tensor, price_R: Tensor) -> Tensor:
    """(R,) the cost of each tour with the price of its overload."""
    return tour_cost(terrain, tour_RN.long(), EVERY_R) + price_R * overload(terrain, tour_RN)


def prices(terrain: Terrain, tour_RN: Tensor) -> Tensor:
    """(R,) low enough for overload to pay here and there."""
    return 0.3 * tour_cost(terrain, tour_RN, EVERY_R) / terrain.demand_IN.sum(1).clamp(min=1)


def rounds(form: Form, terrain: Terrain, tour_RN: Tensor, looks: int = 5_000, **others: object) -> Rows:
    """Rows after sixty rounds."""
    rows = begin(terrain, tour_RN)
    launch = descent(terrain, rows, settings=KICK, rounds=60, looks=looks, **{"temperature": 0.05, **others})
    finish(form, launch)
    return rows


@pytest.mark.parametrize("name", SMALL)
def test_gains_with_a_price(name: str) -> None:
    """What a candidate gains is the difference of costs with the price of overload, from overloaded tours too."""
    tour_RN = starts(CASES[name])
    terrain = terrain_of(CASES[name], tour_RN)
    price_R = prices(terrain, tour_RN)
    for _ in range(3):
        move_RC6, gain_RC = candidates_reference(terrain, tour_RN, EVERY_R, every_code(terrain), price_R)
        before_R, step = priced(terrain, tour_RN, price_R), max(1, move_RC6.shape[1] // 150)
        for which in range(0, move_RC6.shape[1], step):
            after_RN = make_moves_reference(tour_RN, move_RC6[:, which])
            there_R = gain_RC[:, which] > -torch.inf
            gain_R = before_R - priced(terrain, after_RN, price_R)
            torch.testing.assert_close(gain_RC[there_R, which], gain_R[there_R], rtol=1e-6, atol=1e-6)
        # On from the tour that gains most, without regard to lengths: one with much overload.
        more_R = torch.stack([overload(terrain, make_moves_reference(tour_RN, m)) for m in move_RC6.unbind(1)[::step]])
        tour_RN = make_moves_reference(tour_RN, move_RC6[EVERY_R, step * more_R.argmax(0)])


@pytest.mark.parametrize("name", CVRP)
def test_descents_with_a_price(form: Form, name: str) -> None:
    """They end where the references find nothing to gain at that price, and with that cost."""
    tour_RN = starts(CASES[name])
    terrain = terrain_of(CASES[name], tour_RN)
    price_R = prices(terrain, tour_RN)
    for _ in range(20):
        rows = begin(terrain, tour_RN)
        rows.price_R3[:, 0] = price_R
        rows.cost_R3[:, 0] = priced(terrain, tour_RN, price_R)
        finish(form, descent(terrain, rows, overload=1.0, margin=1e9))
        error_R = (rows.cost_R3[:, 1] - priced(terrain, rows.current_RN, price_R)).abs()
        assert (error_R <= slack(terrain) + 1e-5 * rows.cost_R3[:, 1]).all()
        tour_RN = rows.current_RN.long()
    nothing_R = terrain.least_I + 4 * slack(terrain) + 1e-5 * rows.cost_R3[:, 1]
    gain_R, _ = best_moves_reference(terrain, tour_RN, EVERY_R, every_code(terrain), price_R)
    assert (gain_R <= nothing_R).all()
    assert (best_swaps_reference(terrain, tour_RN, EVERY_R, price_R) <= nothing_R).all()


@pytest.mark.parametrize("margin", [0.0, 1e9])
def test_rounds_with_a_price(form: Form, margin: float) -> None:
    """The best tour is never overloaded, current ones sometimes are; looks in a launch do not matter."""
    batch, tour_RN = CASES["cvrp of 53"], starts(CASES["cvrp of 53"])
    terrain = terrain_of(batch, tour_RN, 8)
    ends, overloaded = [], 0.0
    for looks in (7, 5_000):
        rows = rounds(form, terrain, tour_RN, looks, overload=0.2, margin=margin)
        assert is_tour(batch, rows.best_RN).all()
        assert is_cost(rows.cost_R3[:, 2], terrain, rows.best_RN).all()
        overloaded += float(overload(terrain, rows.current_RN).sum())
        price_R = rows.price_R3[:, 0]
        assert (price_R > 0).all()
        torch.testing.assert_close(
            rows.cost_R3[:, 1], priced(terrain, rows.current_RN, price_R), rtol=1e-5, atol=float(slack(terrain).max())
        )
        ends.append(rows)
    assert overloaded > 0
    assert same(*ends)


def test_the_first_descent_has_no_price(form: Form) -> None:
    """So that there is an answer after it: a local optimum within the capacity."""
    batch, tour_RN = CASES["cvrp of 52"], starts(CASES["cvrp of 52"])
    terrain, ends = terrain_of(batch, tour_RN), []
    for price in (0.0, 0.1):
        rows = begin(terrain, tour_RN)
        finish(form, descent(terrain, rows, overload=price))
        ends.append(rows)
    assert torch.equal(ends[0].best_RN, ends[1].best_RN)
    assert is_tour(batch, ends[1].best_RN).all()
    mean_R = ends[1].cost_R3[:, 1] / terrain.demand_IN.sum(1)
    torch.testing.assert_close(ends[1].price_R3[:, 0], 0.1 * mean_R)


def test_the_price_moves(form: Form) -> None:
    """A low price rises while tours are overloaded, a high one falls."""
    tour_RN = starts(CASES["cvrp of 53"])
    terrain = terrain_of(CASES["cvrp of 53"], tour_RN, 8)
    unit_R = rounds(form, terrain, tour_RN).cost_R3[:, 2] / terrain.demand_IN.sum(1)
    assert (rounds(form, terrain, tour_RN, overload=1e-4).price_R3[:, 0] > 1.1e-4 * unit_R).all()
    assert (rounds(form, terrain, tour_RN, overload=1e4).price_R3[:, 0] < 0.95e4 * unit_R).all()


@pytest.mark.parametrize(("name", "bound"), [("cvrp, full vehicles", 1e6), ("cvrp, no demands", 1e-3)])
def test_the_price_is_bounded(form: Form, name: str, bound: float) -> None:
    """It does not rise for ever where kicks overload full vehicles, nor fall to nothing without demands."""
    tour_RN = starts(CASES[name])
    terrain = terrain_of(CASES[name], tour_RN)
    rows = begin(terrain, tour_RN)
    finish(form, descent(terrain, rows, settings=KICK, overload=1.0))
    unit_R = rows.cost_R3[:, 1] / terrain.demand_IN.sum(1).clamp(min=1)
    rows.price_R3[:, 0] = bound * unit_R
    for _ in range(19):  # rounds, the next of which moves the price; none was within the capacity, or all were
        rows.price_R3[:, 1] = 0 if bound > 1 else 19
        rows.price_R3[:, 2] = 19
        finish(form, descent(terrain, rows, settings=KICK, rounds=int(rows.count_R6[0, 0]) + 1, overload=1.0))
    torch.testing.assert_close(rows.price_R3[:, 0], bound * unit_R, rtol=0.05, atol=0)
    assert is_tour(CASES[name], rows.best_RN).all()
