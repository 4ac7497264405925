"""Insert: take the first node out and put it right after the second."""

import torch
from torch import Tensor

from dact import tours


def insert(tour_BN: Tensor, move_B2: Tensor) -> Tensor:
    """The tours with the node at position `first` moved to just after the one at `second`."""
    first_B1, second_B1 = move_B2[:, :1], move_B2[:, 1:]
    place_N = torch.arange(tour_BN.shape[1], device=tour_BN.device)
    forward_B1 = first_B1 < second_B1
    # Where it lands: the nodes in between close the gap by moving one place towards it.
    landing_B1 = torch.where(forward_B1, second_B1, torch.minimum(second_B1 + 1, first_B1))
    shift_left_BN = forward_B1 & (place_N >= first_B1) & (place_N < landing_B1)
    shift_right_BN = ~forward_B1 & (place_N > landing_B1) & (place_N <= first_B1)
    source_BN = place_N + shift_left_BN.long() - shift_right_BN.long()
    source_BN = torch.where(place_N == landing_B1, first_B1, source_BN)
    return tours.anchor(tour_BN.gather(1, source_BN))
