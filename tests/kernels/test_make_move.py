"""Making moves: the kernel against plain PyTorch, and that against the search's own step."""

from dataclasses import replace

import pytest
import torch

from begun import begun
from dact.kernels.make_move import OPERATORS, Costs, Search, make_move_reference
from dact.operators import OPERATORS as SEARCH_OPERATORS
from dact.problems import PROBLEMS, Batch
from dact.search import SearchState, restart, step

pytest.importorskip("triton")


def costs_of(batch: Batch) -> Costs:
    """How the batch measures tours."""
    return Costs(batch.coordinates_BN2, batch.scale_B, batch.distance_INN, batch.matrix_B)


def search_of(state: SearchState) -> Search:
    """The state with tensors of its own."""
    fields = (state.tour_BN, state.cost_B, state.incumbent_BN, state.incumbent_cost_B, state.stall_B)
    return Search(*(x.clone() for x in (*fields, state.last_move_B2, state.stream_B)))


def random_state(batch: Batch, problem_name: str, generator: torch.Generator) -> SearchState:
    """Random tours; some incumbents are better and some rows are about to go back to theirs."""
    state, other = (begun(problem_name, batch, seed=seed) for seed in range(2))
    stall_B = torch.randint(0, 4, (batch.rows,), generator=generator)
    return SearchState(
        # Away from ties, which rounding would decide.
        tour_BN=state.tour_BN, cost_B=state.cost_B, incumbent_BN=other.tour_BN, incumbent_cost_B=other.cost_B + 1e-3,
        stall_B=stall_B, last_move_B2=state.last_move_B2, stream_B=state.stream_B,
    )  # fmt: skip


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("own_distances", [False, True])
@pytest.mark.parametrize("size", [5, 15, 17, 31, 33, 63, 65, 1023, 1025, 1100])
def test_make_move(operator: str, own_distances: bool, size: int, device: str) -> None:
    """Kernel, reference and the search's step agree on every field for pairs of all kinds."""
    from dact.kernels.make_move.triton_impl import make_move_triton

    generator = torch.Generator().manual_seed(size)
    batch = PROBLEMS["tsp"].sample(size, 24, generator)
    if own_distances:
        matrices = torch.rand(2, size, size, generator=generator)
        parts = {"distance_INN": matrices, "matrix_B": torch.arange(24) % 2}
        batch = Batch(**{**vars(batch), **parts})
    state = random_state(batch, "tsp", generator)
    move = torch.randint(0, size, (24, 2), generator=generator)
    move[:4] = torch.tensor([[0, 0], [0, size - 1], [size - 1, 0], [1, 0]])
    after, _ = step(SEARCH_OPERATORS[operator], batch, state, move)
    expected = search_of(restart(after, 3))
    reference = make_move_reference(search_of(state), move, costs_of(batch), operator, 3)
    search = Search(*(x.to(device) for x in search_of(state)))
    actual = make_move_triton(search, move.to(device), costs_of(batch.to(device)), operator, 3)
    for name, *values in zip(Search._fields, expected, reference, actual, strict=True):
        for value in values[1:]:
            assert value.dtype == values[0].dtype, name
            torch.testing.assert_close(value.cpu(), values[0], rtol=1e-5, atol=1e-5, msg=name)


def test_rounding_makes_no_incumbent(device: str) -> None:
    """A tour that is better by less than the rounding of costs leaves incumbent and stall as they are."""
    from dact.kernels.make_move.triton_impl import make_move_triton

    batch = PROBLEMS["tsp"].sample(7, 3, torch.Generator().manual_seed(0))
    state = begun("tsp", batch)
    # The move (0, 0) changes nothing; the incumbents cost as much as the tours, a little more, and more.
    claimed_B = state.cost_B * torch.tensor([1.0, 1 + 5e-7, 1 + 3e-6])
    state = replace(state, incumbent_BN=state.tour_BN.roll(1, 1), incumbent_cost_B=claimed_B)
    move = torch.zeros(3, 2, dtype=torch.long)
    after, reward_B = step(SEARCH_OPERATORS["two_opt"], batch, state, move)
    assert after.stall_B.tolist() == [1, 1, 0]
    assert (reward_B > 0).tolist() == [False, False, True]
    assert torch.equal(after.incumbent_cost_B[:2], claimed_B[:2])
    expected, settings = search_of(after), ("two_opt", 9)
    reference = make_move_reference(search_of(state), move, costs_of(batch), *settings)
    search = Search(*(x.to(device) for x in search_of(state)))
    actual = make_move_triton(search, move.to(device), costs_of(batch.to(device)), *settings)
    for name in ("incumbent_BN", "stall_B"):
        assert torch.equal(getattr(reference, name), getattr(expected, name))
        assert torch.equal(getattr(actual, name).cpu(), getattr(expected, name))


def test_unknown_operators_are_refused(device: str) -> None:
    """An operator without a kernel is named."""
    from dact.kernels.make_move.triton_impl import make_move_triton

    batch = PROBLEMS["tsp"].sample(5, 1, torch.Generator().manual_seed(0))
    search = search_of(random_state(batch, "tsp", torch.Generator().manual_seed(0)))
    for make in (make_move_reference, make_move_triton):
        with pytest.raises(ValueError, match="or_opt"):
            make(search, torch.zeros(1, 2, dtype=torch.long), costs_of(batch), "or_opt", 3)
