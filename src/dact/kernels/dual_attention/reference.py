"""The truth: plain PyTorch."""

import torch
from torch import Tensor


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Softmax attention over the last two dimensions (N, K); values may be wider than keys.

    Written out: PyTorch's own falls back to a slow form on a CPU when the widths differ.
    """
    scores = (query * query.shape[-1] ** -0.5) @ key.transpose(-2, -1)
    seen: Tensor = scores.softmax(-1) @ value
    return seen


def dual_attention_reference(packed_SBNE: Tensor, heads: int) -> Tensor:
    """Each aspect attends once, with values twice as wide: its own beside the other's referential ones."""
    parts = packed_SBNE.view(*packed_SBNE.shape[:3], 4, heads, packed_SBNE.shape[3] // (4 * heads))
    query, key, value, reference = parts.permute(3, 0, 1, 4, 2, 5).unbind(0)
    both = torch.cat((value, reference.flip(0)), dim=4)
    own, other = attend(query, key, both).chunk(2, dim=4)
    return torch.cat((own, other.flip(0)), dim=2).transpose(2, 3).flatten(3)
