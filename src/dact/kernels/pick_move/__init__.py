"""Draw a pair of positions from the softmax over the open pairs of clip * tanh(pair logits), or take the best.

Open are pairs (first, second) of different positions, not the last move in either order, and feasible ones.
A draw takes two uniform numbers: the first inverts the distribution of the first position, the second that of
the second position given the first. The kernels do all of it at once and hold nothing of size N x N; the parts
`open_pairs`, `draw_pair` and `best_pair` are for callers that have the logits.
"""

from torch import Tensor

from dact.kernels.launch import runs_triton
from dact.kernels.pick_move.moves import ALL_MOVES, Feasible, feasible_moves, idle_moves, open_pairs_reference
from dact.kernels.pick_move.reference import best_pair, draw_new, draw_pair, fold_heads, pick_move_reference
from dact.kernels.pick_move.tabu import TRIES, Tabu


def open_pairs(tour_BN: Tensor, last_move_B2: Tensor, feasible: Feasible) -> Tensor:
    """(B, N, N) bool: pairs that may be drawn; one kernel on GPUs, else plain PyTorch."""
    if runs_triton(tour_BN):
        from dact.kernels.pick_move.opened import open_pairs_triton

        return open_pairs_triton(tour_BN, last_move_B2, feasible)
    return open_pairs_reference(tour_BN, last_move_B2, feasible)


__all__ = [
    "ALL_MOVES",
    "TRIES",
    "Feasible",
    "Tabu",
    "best_pair",
    "draw_new",
    "draw_pair",
    "feasible_moves",
    "fold_heads",
    "idle_moves",
    "open_pairs",
    "open_pairs_reference",
    "pick_move_reference",
]
