"""The state of a search before its first step, and the recent tours that it may keep."""

from dataclasses import replace

import torch
from torch import Tensor

from dact.kernels.fingerprint import fingerprints
from dact.kernels.pick_move import Tabu
from dact.kernels.records import SearchState
from dact.operators import Operator

__all__ = ["SearchState", "remembered", "remembering", "start_state", "tabu_of"]


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


def remembering(state: SearchState, length: int, depots: int) -> SearchState:
    """The same, which keeps the fingerprints of so many tours from now on: its own, if it has kept as many so far."""
    kept = 0 if state.recent_BL is None else state.recent_BL.shape[1]
    if kept == length:
        return state
    if length == 0:
        return replace(state, recent_BL=None)
    recent_BL = torch.zeros(len(state.cost_B), length, dtype=torch.long, device=state.cost_B.device)
    return remembered(replace(state, recent_BL=recent_BL), depots)


def remembered(state: SearchState, depots: int) -> SearchState:
    """The same with its tours as the newest of the recent ones, if these are kept."""
    if state.recent_BL is None:
        return state
    newest_B1 = fingerprints(state.tour_BN, depots).unsqueeze(1)
    return replace(state, recent_BL=torch.cat((state.recent_BL[:, 1:], newest_B1), dim=1))


def tabu_of(state: SearchState, operator: Operator, depots: int) -> Tabu | None:
    """What the next move must not lead back to; None if recent tours are not kept."""
    if state.recent_BL is None:
        return None
    return Tabu(state.tour_BN, state.recent_BL, state.stream_B, operator, depots)
