"""One step: what the policy sees, and the state after a move. Nothing here waits for the device."""

from collections.abc import Callable

from torch import Tensor

from dact.kernels.make_move import make_move
from dact.kernels.pick_move import Feasible
from dact.kernels.tour_view import tour_view
from dact.operators import Operator, two_opt
from dact.problems import Batch, Problem
from dact.search.state import SearchState

NEVER = 2**31 - 1
"""Patience of a search that does not go back to its incumbents."""
View = Callable[[Tensor, Batch, str, bool], tuple[Tensor, Feasible]]


def look(
    problem: Problem, batch: Batch, tour_BN: Tensor, operator: Operator, view: View = tour_view
) -> tuple[Tensor, Feasible]:
    """(B, N, F) node features and the feasible moves: both at once where a view knows the problem and the moves are
    2-opt's, else by the problem's own methods."""
    if problem.view is not None and operator is two_opt:
        return view(tour_BN, batch, problem.view, problem.idle)
    allowed_BNN = problem.allowed_moves(batch, tour_BN, operator)
    return problem.node_features(batch, tour_BN), Feasible(mask_BNN=allowed_BNN)


def step(
    operator: Operator, batch: Batch, state: SearchState, move_B2: Tensor, patience: int = NEVER
) -> tuple[SearchState, Tensor]:
    """The state after the move, and the reward: the decrease of the incumbent's cost (section 3)."""
    after = make_move(state, move_B2, batch, operator, patience)
    return after, state.incumbent_cost_B - after.incumbent_cost_B
