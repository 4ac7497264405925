"""The state of a search before its first step."""

import torch
from torch import Tensor

from dact.kernels.records import SearchState

__all__ = ["SearchState", "start_state"]


def start_state(tour_BN: Tensor, cost_B: Tensor, stream_B: Tensor) -> SearchState:
    """The state before the first step."""
    return SearchState(
        tour_BN=tour_BN,
        cost_B=cost_B,
        incumbent_BN=tour_BN,
        incumbent_cost_B=cost_B,
        stall_B=torch.zeros_like(cost_B, dtype=torch.long),
        last_move_B2=torch.full_like(tour_BN[:, :2], -1),
        stream_B=stream_B,
    )
