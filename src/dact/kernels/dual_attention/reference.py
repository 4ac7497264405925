"""Reference in plain PyTorch."""

import torch
from torch import Tensor


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Softmax attention over the last two dimensions (N, K); values may be wider than keys.

    Written out: PyTorch's own falls back to a slow form on a CPU when the widths differ.
    """
    *outer, size, width = query.shape
    flat_query, flat_key = query.reshape(-1, size, width), key.reshape(-1, size, width)
    nothing = query.new_empty(1, 1, 1)
    scores = torch.baddbmm(nothing, flat_query, flat_key.transpose(1, 2), beta=0, alpha=width**-0.5)
    seen = torch.bmm(scores.softmax(-1), value.reshape(-1, size, value.shape[-1]))
    return seen.view(*outer, size, value.shape[-1])


def dual_attention_reference(packed_SBNE: Tensor, heads: int) -> Tensor:
    """Each aspect attends once, with values twice as wide: its own beside the other's referential ones."""
    parts = packed_SBNE.view(*packed_SBNE.shape[:3], 4, heads, packed_SBNE.shape[3] // (4 * heads))
    query, key, value, reference = parts.permute(3, 0, 1, 4, 2, 5).unbind(0)
    both = torch.cat((value, reference.flip(0)), dim=4)
    own, other = attend(query, key, both).chunk(2, dim=4)
    return torch.cat((own, other.flip(0)), dim=2).transpose(2, 3).flatten(3)
