"""One step of the search, by hand and by property."""

import pytest
import torch

from begun import begun, is_permutation, open_moves
from dact import tours
from dact.operators import OPERATORS, two_opt
from dact.problems import PROBLEMS, Batch, Tsp, capacity
from dact.search import SearchState, accepted, start_state, step

SQUARE = torch.tensor([[[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]]])


def square() -> tuple[Batch, SearchState]:
    """The unit square with its two diagonals in the tour: cost 2 + 2 sqrt 2, optimum 4."""
    batch = Batch(
        coordinates_BN2=SQUARE,
        scale_B=torch.ones(1),
        demand_BN=torch.zeros(1, 4, dtype=torch.int32),
        capacity_B=torch.zeros(1, dtype=torch.int32),
    )
    tour_BN = torch.tensor([[0, 1, 2, 3]])
    return batch, start_state(tour_BN, batch.cost(tour_BN), torch.zeros(1, dtype=torch.long))


def test_reward_is_the_fall_of_the_incumbent() -> None:
    """Uncrossing the square pays 2 sqrt 2 - 2; crossing it again pays nothing and keeps the incumbent."""
    batch, state = square()
    better, reward_B = step(two_opt, batch, state, torch.tensor([[1, 2]]))
    assert reward_B.item() == pytest.approx(2 * 2**0.5 - 2, abs=1e-6)
    worse, nothing_B = step(two_opt, batch, better, torch.tensor([[1, 2]]))
    assert nothing_B.item() == 0
    assert worse.incumbent_cost_B.item() == pytest.approx(4)
    assert worse.cost_B.item() == pytest.approx(2 + 2 * 2**0.5)
    assert worse.incumbent_BN.tolist() == better.tour_BN.tolist()
    assert (better.stall_B.item(), worse.stall_B.item()) == (0, 1)


def test_the_last_pair_is_closed_in_both_orders_wherever_its_nodes_are() -> None:
    """After a move the two *nodes* may not be picked again at once, whichever positions they have now."""
    batch, state = square()
    after, _ = step(two_opt, batch, state, torch.tensor([[1, 3]]))
    assert after.last_move_B2.tolist() == [[1, 3]]
    place = tours.position(after.tour_BN)[0]
    opened = open_moves(Tsp(), batch, after.tour_BN, after.last_move_B2, two_opt)[0]
    assert not opened[place[1], place[3]]
    assert not opened[place[3], place[1]]
    assert not opened.diagonal().any()
    assert int(opened.sum()) == 4 * 4 - 4 - 2


def test_before_the_first_step_only_the_diagonal_is_closed() -> None:
    """There is no last pair yet."""
    batch, state = square()
    assert int(open_moves(Tsp(), batch, state.tour_BN, state.last_move_B2, two_opt).sum()) == 4 * 4 - 4


def test_restart_after_patience_goes_back_to_the_incumbent() -> None:
    """A row that stalled `patience` steps takes its incumbent again and starts counting anew; others go on."""
    batch, state = square()
    better, _ = step(two_opt, batch, state, torch.tensor([[1, 2]]), patience=2)
    first, _ = step(two_opt, batch, better, torch.tensor([[1, 2]]), patience=2)
    assert torch.equal(first.tour_BN, state.tour_BN)
    again, _ = step(two_opt, batch, first, torch.tensor([[2, 2]]), patience=2)
    assert torch.equal(again.tour_BN, better.tour_BN)
    assert again.cost_B.item() == pytest.approx(4)
    assert again.stall_B.item() == 0


def test_candidates_of_any_origin_are_accepted_alike() -> None:
    """Better ones become incumbents, others count as stall, and moves and streams are left to the caller."""
    batch, state = square()
    better_BN = torch.tensor([[0, 2, 1, 3]])
    better = accepted(state, better_BN, batch.cost(better_BN), patience=2)
    assert torch.equal(better.incumbent_BN, better_BN)
    worse = accepted(better, state.tour_BN, state.cost_B, patience=2)
    assert torch.equal(worse.tour_BN, state.tour_BN)
    assert worse.stall_B.item() == 1
    back = accepted(worse, state.tour_BN, state.cost_B, patience=2)
    assert torch.equal(back.tour_BN, better_BN)
    assert torch.equal(back.last_move_B2, state.last_move_B2)
    assert torch.equal(back.stream_B, state.stream_B)


@pytest.mark.parametrize("operator_name", sorted(OPERATORS))
def test_random_walks_stay_feasible_and_costs_add_up(problem_name: str, batch: Batch, operator_name: str) -> None:
    """Over 40 random open moves: permutations, capacity, costs as recomputed, incumbents as seen, rewards as sums."""
    problem, operator = PROBLEMS[problem_name], OPERATORS[operator_name]
    generator = torch.Generator().manual_seed(2)
    state = begun(problem_name, batch)
    tour_BN = state.tour_BN
    lowest_B, paid_B = state.cost_B.clone(), torch.zeros(batch.rows)
    for _ in range(40):
        opened_BP = (
            open_moves(problem, batch, state.tour_BN, state.last_move_B2, operator)
            .expand(batch.rows, -1, -1)
            .flatten(1)
        )
        pick_B = torch.multinomial(opened_BP.float(), 1, generator=generator).squeeze(1)
        move_B2 = torch.stack((pick_B // batch.length, pick_B % batch.length), dim=1)
        state, reward_B = step(operator, batch, state, move_B2)
        paid_B += reward_B
        lowest_B = torch.minimum(lowest_B, state.cost_B)
        assert is_permutation(state.tour_BN).all()
        assert batch.depots == 0 or capacity.feasible(batch, state.tour_BN).all()
        torch.testing.assert_close(state.cost_B, batch.cost(state.tour_BN))
        torch.testing.assert_close(state.incumbent_cost_B, lowest_B)
        torch.testing.assert_close(batch.cost(state.incumbent_BN), lowest_B)
    torch.testing.assert_close(paid_B, batch.cost(tour_BN) - lowest_B, atol=1e-5, rtol=0)
