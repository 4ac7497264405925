"""2-opt: reverse the span from the first node to the second, around the end of the tour if need be."""

import torch
from torch import Tensor


def span(first: Tensor, second: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Positions lo..hi whose reversal is the move, never position 0; lo > hi if nothing changes.

    Reversing a span or its complement gives the same cyclic tour, so a span that runs over position 0
    (it wraps, or starts there) is replaced by its complement, and the tour stays anchored.
    """
    over_start = (first > second) | (first == 0)
    low = torch.where(over_start, second + 1, first)
    high = torch.where(over_start, torch.where(first == 0, size, first) - 1, second)
    return low, high


def two_opt(tour_BN: Tensor, move_B2: Tensor) -> Tensor:
    """The tours with the span first..second reversed; (p, p) reverses one node, which is nothing."""
    size = tour_BN.shape[1]
    low_B1, high_B1 = span(move_B2[:, :1], move_B2[:, 1:], size)
    place_N = torch.arange(size, device=tour_BN.device)
    inside_BN = (place_N >= low_B1) & (place_N <= high_B1)
    return tour_BN.gather(1, torch.where(inside_BN, low_B1 + high_B1 - place_N, place_N))
