"""Reference in plain PyTorch.

Shape letters: S aspects, B rows, N positions, D width of an aspect, W = S * D, H heads, K head width.
"""

from typing import NamedTuple

from torch import Tensor
from torch.nn import functional

from dact.kernels.add_norm import add_norm_reference
from dact.kernels.dual_attention import attend


class ValueLayer(NamedTuple):
    """Weights as `nn.Linear` has them: (outputs, inputs), and biases."""

    packed: Tensor
    """(3 H K, W): queries, keys, values of all heads."""
    out: Tensor
    """(W, H K)."""
    into: Tensor
    into_bias: Tensor
    onward: Tensor
    onward_bias: Tensor


def value_layer_reference(aspects_SBND: Tensor, layer: ValueLayer, heads: int) -> Tensor:
    """(B, W), in the precision of the weights."""
    x_BNW = aspects_SBND.detach().to(layer.packed.dtype).permute(1, 2, 0, 3).flatten(2)
    packed_BNE = functional.linear(x_BNW, layer.packed)
    query, key, value = packed_BNE.view(*x_BNW.shape[:2], 3, heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
    seen_BNE = attend(query, key, value).transpose(1, 2).flatten(2)
    x_BNW = _normed(x_BNW, functional.linear(seen_BNE, layer.out))
    hidden_BNW = functional.linear(x_BNW, layer.into, layer.into_bias).relu()
    return _normed(x_BNW, functional.linear(hidden_BNW, layer.onward, layer.onward_bias)).mean(1)


def _normed(x_BNW: Tensor, y_BNW: Tensor) -> Tensor:
    return add_norm_reference(x_BNW.unsqueeze(0), y_BNW.unsqueeze(0)).squeeze(0)
