"""One step: which moves are open, the move, and what comes of it. No step talks to the host."""

from dataclasses import replace

import torch
from torch import Tensor

from dact.kernels.make_move import betters
from dact.kernels.row_draws import STEP
from dact.operators import Operator
from dact.problems import Batch, Problem
from dact.search.state import SearchState


def open_moves(problem: Problem, batch: Batch, tour_BN: Tensor, last_move_B2: Tensor, operator: Operator) -> Tensor:
    """(B, N, N) bool: feasible pairs, without the diagonal and without the last pair in either order."""
    size = batch.length
    open_BNN = torch.ones(size, size, dtype=torch.bool, device=batch.device).fill_diagonal_(False)
    feasible_BNN = problem.allowed_moves(batch, tour_BN, operator)
    if feasible_BNN is not None:
        open_BNN = feasible_BNN & open_BNN
    first_BN, second_BN = tour_BN == last_move_B2[:, :1], tour_BN == last_move_B2[:, 1:]
    last_BNN = first_BN.unsqueeze(2) & second_BN.unsqueeze(1)
    return open_BNN & ~(last_BNN | last_BNN.transpose(1, 2))


def step(operator: Operator, batch: Batch, state: SearchState, move_B2: Tensor) -> tuple[SearchState, Tensor]:
    """The state after the move, and the reward: by how much it bettered the incumbent (section 3)."""
    tour_BN = operator(state.tour_BN, move_B2)
    cost_B = batch.cost(tour_BN)
    better_B = betters(cost_B, state.incumbent_cost_B)
    incumbent_cost_B = torch.where(better_B, cost_B, state.incumbent_cost_B)
    after = SearchState(
        tour_BN=tour_BN,
        cost_B=cost_B,
        incumbent_BN=torch.where(better_B.unsqueeze(1), tour_BN, state.incumbent_BN),
        incumbent_cost_B=incumbent_cost_B,
        stall_B=torch.where(better_B, 0, state.stall_B + 1),
        last_move_B2=state.tour_BN.gather(1, move_B2),
        stream_B=state.stream_B + STEP,
    )
    return after, state.incumbent_cost_B - incumbent_cost_B


def restart(state: SearchState, patience: int) -> SearchState:
    """Rows that have not improved for `patience` steps go back to their incumbent."""
    tired_B = state.stall_B >= patience
    return replace(
        state,
        tour_BN=torch.where(tired_B.unsqueeze(1), state.incumbent_BN, state.tour_BN),
        cost_B=torch.where(tired_B, state.incumbent_cost_B, state.cost_B),
        stall_B=torch.where(tired_B, 0, state.stall_B),
    )
