"""Reference in plain PyTorch: the sum of hashed legs, which wraps around.

A leg has no direction, copies of the depot are one place, and a leg between two of them counts nothing. So whole routes
may be turned round or change places without changing the number, also where lengths depend on the direction.
"""

import torch
from torch import Tensor

from dact.kernels.row_draws.reference import mixed

HALF = 32
"""Bits of a node in the number of a leg."""


def fingerprints_reference(tour_BN: Tensor, depots: int) -> Tensor:
    """(B,) int64, equal for tours with the same legs; others are equal with a chance of about 2^-64."""
    place_BN = (tour_BN - max(0, depots - 1)).clamp(min=0)
    next_BN = place_BN.roll(-1, dims=1)
    low_BN, high_BN = torch.minimum(place_BN, next_BN), torch.maximum(place_BN, next_BN)
    leg_BN = mixed((low_BN << HALF) + high_BN)
    return torch.where(low_BN == high_BN, 0, leg_BN).sum(1)
