"""What the search knows at a moment, one entry per row."""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class SearchState:
    """Current tours, the best tours found so far (incumbents), and how long ago those were found."""

    tour_BN: Tensor
    cost_B: Tensor
    incumbent_BN: Tensor
    incumbent_cost_B: Tensor
    stall_B: Tensor
    """Steps since the incumbent was last bettered."""
    last_move_B2: Tensor
    """The *nodes* of the last move, whose positions may have changed since; -1 before the first."""
    stream_B: Tensor
    """Where each row's own stream of random numbers stands (`dact.kernels.row_draws`)."""


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
