"""Swap: exchange the places of two nodes."""

import torch
from torch import Tensor

from dact import tours


def swap(tour_BN: Tensor, move_B2: Tensor) -> Tensor:
    """The tours with the nodes at positions `first` and `second` exchanged."""
    first_B1, second_B1 = move_B2[:, :1], move_B2[:, 1:]
    place_N = torch.arange(tour_BN.shape[1], device=tour_BN.device)
    source_BN = torch.where(place_N == first_B1, second_B1, torch.where(place_N == second_B1, first_B1, place_N))
    return tours.anchor(tour_BN.gather(1, source_BN))
