"""What tests of kernels compare, and how."""

import torch
from torch import Tensor


def distance(left: Tensor, right: Tensor) -> float:
    """Relative distance, infinite where something is not a number."""
    left, right = left.detach().double(), right.detach().double()
    value = float((left - right).norm() / right.norm().clamp(min=1e-30))
    return value if value == value else float("inf")


def aspects(rows: int, size: int, device: str) -> Tensor:
    """(2, B, N, D) with large entries, so that attention is not flat."""
    torch.manual_seed(size)
    return 3 * torch.randn(2, rows, size, 64, device=device)
