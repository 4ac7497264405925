"""Forms that make rounds of kick and descent: against the reference, on odd instances, whole and in pieces."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest
import torch
from descent_cases import (
    CASES,
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
)

from dact.kernels.descent.job import COUNTS, KICKS, KickConfig, Rows, tour_cost
from dact.kernels.descent.moves import codes, cut
from dact.kernels.descent.reference import best_moves_reference, candidates_reference, make_moves_reference

FAILED = 1e300
MOVES = COUNTS.index("moves")


@pytest.mark.parametrize("name", CASES)
def test_descents(form: Form, name: str) -> None:
    """A descent gives a feasible tour with its cost, no worse; every move gained; the reference finds no other."""
    batch, tour_BN = CASES[name], starts(CASES[name])
    terrain = terrain_of(batch, tour_BN)
    rows = begin(terrain, tour_BN)
    before_R = rows.cost_R3[:, 0].clone()
    finish(form, descent(terrain, rows))
    assert is_tour(batch, rows.best_RN).all()
    assert torch.equal(rows.best_RN, rows.work_RN)
    assert torch.equal(rows.best_RN, rows.current_RN)
    assert is_cost(rows.cost_R3[:, 2], terrain, rows.best_RN).all()
    assert (before_R - rows.cost_R3[:, 2] >= rows.count_R6[:, MOVES] * terrain.least_I.double()).all()
    end_RN = settled(form, terrain, tour_BN)
    gain_R, _ = best_moves_reference(terrain, end_RN, torch.arange(ROWS), every_code(terrain))
    assert (gain_R <= terrain.least_I + slack(terrain)).all()


@pytest.mark.parametrize("kick", KICKS)
@pytest.mark.parametrize("name", CASES)
def test_kicks(form: Form, name: str, kick: str) -> None:
    """Kicks of all kinds leave feasible tours with their costs, or say that they failed; rounds after them as well."""
    batch, tour_BN = CASES[name], starts(CASES[name])
    terrain = terrain_of(batch, tour_BN, neighbours=8)
    rows = begin(terrain, tour_BN)
    finish(form, descent(terrain, rows))
    first_R = rows.cost_R3[:, 2].clone()
    settings = KickConfig(kick=kick, size=4, window=6, reach=1.0)
    for rounds in range(1, 4):
        form(descent(terrain, rows, settings=settings, rounds=rounds, looks=1))
        failed_R = rows.cost_R3[:, 0] == FAILED
        assert (is_tour(batch, rows.work_RN) & is_cost(rows.cost_R3[:, 0], terrain, rows.work_RN) | failed_R).all()
        finish(form, descent(terrain, rows, settings=settings, rounds=rounds))
    finish(form, descent(terrain, rows, settings=settings, rounds=12, temperature=0.01))
    for tour_RN, cost_R in ((rows.best_RN, rows.cost_R3[:, 2]), (rows.current_RN, rows.cost_R3[:, 1])):
        assert is_tour(batch, tour_RN).all()
        assert is_cost(cost_R, terrain, tour_RN).all()
    assert (rows.cost_R3[:, 2] <= first_R).all()
    assert (rows.count_R6[:, 0] == 12).all()


@pytest.mark.parametrize("kick", KICKS)
@pytest.mark.parametrize("name", [name for name, batch in CASES.items() if batch.customers <= 5])
def test_kicks_beyond_the_tour(form: Form, name: str, kick: str) -> None:
    """Kicks that are larger than the instance leave feasible tours too."""
    batch, tour_BN = CASES[name], starts(CASES[name])
    terrain = terrain_of(batch, tour_BN, neighbours=8)
    rows = begin(terrain, tour_BN)
    finish(form, descent(terrain, rows, settings=KickConfig(kick=kick, size=20, window=200), rounds=12))
    assert is_tour(batch, rows.best_RN).all()
    assert is_tour(batch, rows.work_RN).all()


@pytest.mark.parametrize("kick", KICKS)
@pytest.mark.parametrize("name", ["tsp of 33", "cvrp of 21", "cvrp, asymmetric matrix"])
def test_launches_in_pieces(form: Form, name: str, kick: str) -> None:
    """Many launches of a few looks bring every row to exactly the point to which one launch brings it."""
    tour_BN = starts(CASES[name])
    terrain = terrain_of(CASES[name], tour_BN, neighbours=10)
    ends = []
    for looks in (100_000, 7):
        rows = begin(terrain, tour_BN)
        settings = KickConfig(kick=kick, size=4, window=6)
        finish(form, descent(terrain, rows, settings=settings, rounds=10, looks=looks, temperature=0.02, cooling=-0.1))
        ends.append(rows)
    assert same(*ends)
    assert ends[0].count_R6[:, MOVES].min() > 0


@pytest.mark.parametrize("kick", KICKS)
@pytest.mark.parametrize("name", ["tsp of 33", "tsp, asymmetric matrix", "cvrp of 53", "cvrp, whole asymmetric matrix"])
@pytest.mark.parametrize("pair", list(combinations(FORMS, 2)), ids="-".join)
def test_forms_agree(form_named: Callable[[str], Form], pair: tuple[str, str], name: str, kick: str) -> None:
    """Two forms bring every row to exactly the same point, by the same moves."""
    tour_BN = starts(CASES[name])
    terrain, ends = terrain_of(CASES[name], tour_BN, neighbours=10), []
    for form in map(form_named, pair):
        ends.append(begin(terrain, tour_BN))
        settings = KickConfig(kick=kick, size=4, window=6)
        finish(form, descent(terrain, ends[-1], settings=settings, rounds=30, temperature=0.02, cooling=-0.1))
    assert same(*ends)


@pytest.mark.parametrize("kick", KICKS)
@pytest.mark.parametrize("name", ["tsp of 33", "cvrp of 53"])
@pytest.mark.parametrize("pair", list(combinations(FORMS, 2)), ids="-".join)
def test_forms_agree_on_centres(form_named: Callable[[str], Form], pair: tuple[str, str], name: str, kick: str) -> None:
    """Two forms draw the same customers from a table of centres."""
    tour_BN = starts(CASES[name])
    terrain, ends = terrain_of(CASES[name], tour_BN, neighbours=10), []
    table_RC = torch.randint(terrain.depots, terrain.nodes, (ROWS, 7), generator=torch.Generator().manual_seed(1))
    for form in map(form_named, pair):
        ends.append(replace(begin(terrain, tour_BN), centre_RC=table_RC.to(torch.uint16)))
        settings = KickConfig(kick=kick, size=4, window=6)
        finish(form, descent(terrain, ends[-1], settings=settings, rounds=20, temperature=0.02))
    assert same(*ends)


def test_kicks_begin_at_their_centres(form: Form) -> None:
    """A ruin of one string of one node takes out the customer that the table names."""
    tour_BN = starts(CASES["cvrp of 53"])
    terrain = terrain_of(CASES["cvrp of 53"], tour_BN, neighbours=10)
    named_R1 = terrain.depots + torch.arange(ROWS).unsqueeze(1)
    rows = replace(begin(terrain, tour_BN), centre_RC=named_R1.to(torch.uint16))
    finish(form, descent(terrain, rows))
    before_RN = rows.work_RN.long()
    form(descent(terrain, rows, settings=KickConfig(kick="ruin", size=1, window=1), rounds=1, looks=1))
    for before_N, after_N, named in zip(before_RN, rows.work_RN.long(), named_R1.flatten(), strict=True):
        assert torch.equal(before_N[before_N != named], after_N[after_N != named])


@pytest.mark.parametrize("name", ["tsp of 33", "cvrp of 21"])
def test_rows_beside_do_not_matter(form: Form, name: str) -> None:
    """A row comes to the same end alone, and among others in any order."""
    tour_BN = starts(CASES[name])
    terrain = terrain_of(CASES[name], tour_BN, neighbours=10)
    order_R = torch.tensor([2, 0, 1])
    together, turned, alone = (begin(terrain, tour_BN[x], x) for x in (torch.arange(3), order_R, order_R[:1]))
    for rows in (together, turned, alone):
        finish(form, descent(terrain, rows, rounds=10, looks=100 + len(rows.work_RN)))
    assert same(Rows(**{name: x[order_R] for name, x in vars(together).items()}), turned)
    assert same(Rows(**{name: x[:1] for name, x in vars(turned).items()}), alone)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_asymmetric_instances_beside_do_not_matter(form: Form, problem: str) -> None:
    """A row with a symmetric matrix comes to the same end alone as beside one whose matrix is asymmetric."""
    whole, one_way = CASES[f"{problem}, whole matrix"], CASES[f"{problem}, whole asymmetric matrix"]
    assert whole.distance_INN is not None
    assert one_way.distance_INN is not None
    both = replace(
        whole,
        distance_INN=torch.cat((whole.distance_INN, one_way.distance_INN)),
        matrix_B=torch.tensor([0, 1, 0]),
    )
    tour_BN = starts(whole)
    together, alone = (terrain_of(batch, tour_BN, neighbours=10) for batch in (both, whole))
    assert together.one_way_I.tolist() == [0, 1, 0]
    ends = [begin(terrain, tour_BN) for terrain in (together, alone)]
    for terrain, rows in zip((together, alone), ends, strict=True):
        finish(form, descent(terrain, rows, settings=KickConfig(kick="pairs", size=4), rounds=20, temperature=0.02))
    kept_R = torch.tensor([0, 2])
    assert same(*(Rows(**{name: x[kept_R] for name, x in vars(rows).items()}) for rows in ends))


def test_a_ruin_that_cannot_be_repaired(form: Form) -> None:
    """Where customers cannot be put back, the row goes back to its current tour."""
    batch, tour_BN = CASES["cvrp, full vehicles"], starts(CASES["cvrp, full vehicles"])
    terrain = terrain_of(batch, tour_BN, neighbours=10)
    rows = begin(terrain, tour_BN)
    finish(form, descent(terrain, rows))
    failures = 0
    for rounds in range(1, 21):
        kept_RN, kept_R = rows.current_RN.clone(), rows.cost_R3[:, 1].clone()
        form(descent(terrain, rows, rounds=rounds, looks=1))
        failed_R = rows.cost_R3[:, 0] == FAILED
        finish(form, descent(terrain, rows, rounds=rounds))
        assert torch.equal(rows.work_RN[failed_R], kept_RN[failed_R])
        assert torch.equal(rows.cost_R3[failed_R, 0], kept_R[failed_R])
        failures += int(failed_R.sum())
    assert failures > 10
    assert is_tour(batch, rows.best_RN).all()


@pytest.mark.parametrize("seed", [33, 42, 48])
def test_large_whole_numbers(form: Form, seed: int) -> None:
    """Descents over whole numbers that float32 rounds do not run in circles."""
    generator = torch.Generator().manual_seed(seed)
    matrix_NN = 10**8 + torch.randint(0, 1000, (25, 25), generator=generator)
    matrix_NN = torch.maximum(matrix_NN, matrix_NN.t()).fill_diagonal_(0)
    demand_C = torch.randint(1, 9, (24,), generator=generator)
    batch = delivering(torch.rand(25, 2), demand_C, 25, 9, matrix_NN)
    tour_BN = starts(batch)
    terrain = terrain_of(batch, tour_BN)
    rows = begin(terrain, tour_BN)
    finish(form, descent(terrain, rows))
    after_R, before_R = (tour_cost(terrain, tour_RN, torch.arange(ROWS)) for tour_RN in (rows.best_RN, tour_BN))
    assert (after_R <= before_R).all()


def test_the_usual_moves(form: Form) -> None:
    """A descent tries the kinds of moves that it is given, and no others."""
    tour_BN = starts(CASES["cvrp of 21"])
    terrain, source_R = terrain_of(CASES["cvrp of 21"], tour_BN), torch.arange(ROWS)
    for neighbourhood in ("two_opt", "or_opt", "swap", "two_opt_star"):
        chosen, tour_RN = codes((neighbourhood,), routes=True), tour_BN
        for _ in range(20):
            rows = begin(terrain, tour_RN)
            finish(form, descent(terrain, rows, kinds=chosen))
            tour_RN = rows.best_RN.long()
        assert (best_moves_reference(terrain, tour_RN, source_R, chosen)[0] <= 2 * terrain.least_I).all()
        assert (best_moves_reference(terrain, tour_RN, source_R, every_code(terrain))[0] > terrain.least_I).any()


@pytest.mark.parametrize("seed", range(4))
def test_ties_go_to_the_lowest_number(form: Form, seed: int) -> None:
    """Of a customer's moves that gain the same, the first is made, in the order of edges cut, partners and kinds."""
    generator = torch.Generator().manual_seed(seed)
    matrix_NN = torch.randint(1, 4, (16, 16), generator=generator).fill_diagonal_(0)
    batch = delivering(
        torch.rand(16, 2), torch.ones(15, dtype=torch.int32), 4, 5, torch.maximum(matrix_NN, matrix_NN.t())
    )
    tour_BN, chosen = starts(batch, seed), codes(routes=True)
    terrain, rows = terrain_of(batch, tour_BN), begin(terrain_of(batch, tour_BN), tour_BN)
    form(descent(terrain, rows, kinds=chosen, looks=1))
    move_RC6, gain_RC = candidates_reference(terrain, tour_BN, torch.arange(ROWS), chosen)
    move_RUWV6, gain_RUWV = (x.view(ROWS, 15, 16, len(chosen), *x.shape[2:]) for x in (move_RC6, gain_RC))
    ordered = [(w, k) for edges in range(3) for w in range(15) for k, code in enumerate(chosen) if cut(code) == edges]
    w_M, k_M = torch.tensor([*ordered, *((15, k) for k in range(len(chosen)))]).unbind(1)
    gain_RM = gain_RUWV[:, 0, w_M, k_M]
    # The first of equals: argmax of PyTorch may be any.
    first_R = (gain_RM == gain_RM.amax(1, keepdim=True)).int().cummax(1).values.eq(0).sum(1)
    expected_RN = make_moves_reference(tour_BN, move_RUWV6[:, 0, w_M, k_M][torch.arange(ROWS), first_R])
    gains_R = gain_RM.amax(1) > 0
    assert torch.equal(rows.work_RN.long(), torch.where(gains_R.unsqueeze(1), expected_RN, tour_BN))
    assert ((gain_RM == gain_RM.amax(1, keepdim=True)).sum(1) > 1).any()
    assert gains_R.any()
