"""Reference in plain PyTorch, for any operator.

Shape letters: B rows, N positions.
"""

from dataclasses import replace

import torch
from torch import Tensor

from dact.kernels.records import Instances, SearchState
from dact.kernels.row_draws import STEP
from dact.operators import Operator

LEAST_GAIN = 1e-6
"""A new incumbent must be better by more than this share of the cost: float32 sums of the same edges in another order
differ by less."""


def make_move_reference(
    state: SearchState, move_B2: Tensor, instances: Instances, operator: Operator, patience: int
) -> SearchState:
    """The state after the move of each row, a pair of positions."""
    tour_BN = operator(state.tour_BN, move_B2)
    after = accepted(state, tour_BN, instances.cost(tour_BN), patience)
    return replace(after, last_move_B2=state.tour_BN.gather(1, move_B2), stream_B=state.stream_B + STEP)


def accepted(state: SearchState, tour_BN: Tensor, cost_B: Tensor, patience: int) -> SearchState:
    """The state with the candidates as current tours: incumbents are updated, and a row without a new incumbent for
    `patience` candidates is reset to its incumbent. Last moves and random streams are unchanged."""
    better_B = cost_B < (1 - LEAST_GAIN) * state.incumbent_cost_B
    incumbent_BN = torch.where(better_B.unsqueeze(1), tour_BN, state.incumbent_BN)
    incumbent_cost_B = torch.where(better_B, cost_B, state.incumbent_cost_B)
    stall_B = torch.where(better_B, 0, state.stall_B + 1)
    tired_B = stall_B >= patience
    return replace(
        state,
        tour_BN=torch.where(tired_B.unsqueeze(1), incumbent_BN, tour_BN),
        cost_B=torch.where(tired_B, incumbent_cost_B, cost_B),
        incumbent_BN=incumbent_BN,
        incumbent_cost_B=incumbent_cost_B,
        stall_B=torch.where(tired_B, 0, stall_B),
    )
