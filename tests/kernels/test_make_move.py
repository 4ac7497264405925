"""Making moves: the kernel against plain PyTorch."""

from dataclasses import replace

import pytest
import torch

from begun import begun
from dact.kernels.make_move import KERNELS, make_move_reference
from dact.operators import OPERATORS, Operator
from dact.problems import PROBLEMS, Batch
from dact.search import SearchState
from dact.training.buffers import fields, snapshot

pytest.importorskip("triton")


def on(state: SearchState, device: str) -> SearchState:
    """The state on another device."""
    return SearchState(**{name: x.to(device) for name, x in fields(state).items()})


def random_state(batch: Batch, problem_name: str, generator: torch.Generator) -> SearchState:
    """Random tours; some incumbents are better and some rows are about to go back to theirs."""
    state, other = (begun(problem_name, batch, seed=seed) for seed in range(2))
    stall_B = torch.randint(0, 4, (batch.rows,), generator=generator)
    return SearchState(
        # Away from ties, which rounding would decide.
        tour_BN=state.tour_BN, cost_B=state.cost_B, incumbent_BN=other.tour_BN, incumbent_cost_B=other.cost_B + 1e-3,
        stall_B=stall_B, last_move_B2=state.last_move_B2, stream_B=state.stream_B,
    )  # fmt: skip


@pytest.mark.parametrize("operator", list(KERNELS), ids=list(KERNELS.values()))
@pytest.mark.parametrize("own_distances", [False, True])
@pytest.mark.parametrize("size", [5, 15, 17, 31, 33, 63, 65, 1023, 1025, 1100])
@pytest.mark.usefixtures("poisoned")
def test_make_move(operator: Operator, own_distances: bool, size: int, device: str) -> None:
    """Kernel and reference agree on every field for pairs of all kinds, and leave the state before as it was."""
    from dact.kernels.make_move.triton_impl import make_move_triton

    generator = torch.Generator().manual_seed(size)
    batch = PROBLEMS["tsp"].sample(size, 24, generator)
    if own_distances:
        matrices = torch.rand(2, size, size, generator=generator)
        batch = replace(batch, distance_INN=matrices, matrix_B=torch.arange(24) % 2)
    state = random_state(batch, "tsp", generator)
    before = on(SearchState(**snapshot(fields(state))), device)
    move = torch.randint(0, size, (24, 2), generator=generator)
    move[:4] = torch.tensor([[0, 0], [0, size - 1], [size - 1, 0], [1, 0]])
    expected = make_move_reference(state, move, batch, operator, 3)
    actual = make_move_triton(before, move.to(device), batch.to(device), operator, 3)
    for name in fields(expected):
        truth, found = getattr(expected, name), getattr(actual, name)
        assert found.dtype == truth.dtype, name
        torch.testing.assert_close(found.cpu(), truth, rtol=1e-5, atol=1e-5, msg=name)
        assert torch.equal(getattr(before, name).cpu(), getattr(state, name)), name


def test_rounding_makes_no_incumbent(device: str) -> None:
    """A tour that is better by less than the rounding of costs leaves incumbent and stall as they are."""
    from dact.kernels.make_move.triton_impl import make_move_triton

    batch = PROBLEMS["tsp"].sample(7, 3, torch.Generator().manual_seed(0))
    state = begun("tsp", batch)
    # The move (0, 0) changes nothing; the incumbents cost as much as the tours, a little more, and more.
    claimed_B = state.cost_B * torch.tensor([1.0, 1 + 5e-7, 1 + 3e-6])
    state = replace(state, incumbent_BN=state.tour_BN.roll(1, 1), incumbent_cost_B=claimed_B)
    move, settings = torch.zeros(3, 2, dtype=torch.long), (OPERATORS["two_opt"], 9)
    truth = make_move_reference(state, move, batch, *settings)
    assert truth.stall_B.tolist() == [1, 1, 0]
    assert torch.equal(truth.incumbent_cost_B[:2], claimed_B[:2])
    actual = make_move_triton(on(state, device), move.to(device), batch.to(device), *settings)
    for name in ("incumbent_BN", "stall_B"):
        assert torch.equal(getattr(actual, name).cpu(), getattr(truth, name))


def test_unknown_operators_are_refused(device: str) -> None:
    """An operator without a kernel is named."""
    from dact.kernels.make_move.triton_impl import make_move_triton

    def or_opt(tour_BN: torch.Tensor, move_B2: torch.Tensor) -> torch.Tensor:
        return tour_BN

    batch = PROBLEMS["tsp"].sample(5, 1, torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match="operator 'or_opt' has no kernel"):
        make_move_triton(begun("tsp", batch), torch.zeros(1, 2, dtype=torch.long), batch, or_opt, 250)
