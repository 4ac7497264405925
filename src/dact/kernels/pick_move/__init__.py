"""Draw a pair of positions from the softmax over the open pairs of clip * tanh(pair logits), or take the best.

Open are pairs (first, second) of different positions, not the last move in either order, and feasible ones.
A draw takes two uniform numbers: the first inverts the distribution of the first position, the second that of
the second position given the first.
"""

from dact.kernels.pick_move.reference import Capacity, Feasible, fold_heads, open_pairs, pick_move_reference

__all__ = ["Capacity", "Feasible", "fold_heads", "open_pairs", "pick_move_reference"]
