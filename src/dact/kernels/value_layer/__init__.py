"""The critic's layer: self-attention, norm, feed-forward, norm, and the mean over positions.

    x = both aspects of a position side by side
    y = norm(x + attention(x packed^T) out^T)
    z = norm(y + relu(y into^T + into_bias) onward^T + onward_bias)
    result = mean of z over positions

`norm` has one mean and one unbiased variance over all positions and features of a row. The aspects get no gradient:
the critic does not train the encoder.
"""

from torch import Tensor

from dact.kernels.launch import runs_triton
from dact.kernels.value_layer.reference import ValueLayer, value_layer_reference


def value_layer(aspects_SBND: Tensor, layer: ValueLayer, heads: int) -> Tensor:
    """(B, W) in float32: the kernels on GPUs for tours they have room for, else plain PyTorch."""
    if runs_triton(aspects_SBND):
        from dact.kernels.value_layer.fused import fits, value_layer_fused

        if fits(aspects_SBND, layer, heads):
            mean_BW: Tensor = value_layer_fused(aspects_SBND, layer, heads)
            return mean_BW
    return value_layer_reference(aspects_SBND, layer, heads)


__all__ = ["ValueLayer", "value_layer", "value_layer_reference"]
