"""One encoder layer of both aspects: dual-aspect attention, norm, feed-forward, norm (Eqs. 5-10).

    scores_s = query_s key_s^T / sqrt(K)         per aspect s and head
    own_s, other_t = softmax(scores_s) (value_s, reference_t)        t: the other aspect
    y_s = norm(x_s + [own_s, other_s] out_s)
    z_s = norm(y_s + relu(y_s into_s + into_bias_s) onward_s + onward_bias_s)

`norm` has one mean and one unbiased variance over all positions and features of a row's aspect.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from dact.kernels.dual_layer.reference import DualLayer, dual_layer_reference
from dact.kernels.launch import HAS_TRITON, runs_triton


def has_kernels(size: int, width: int, heads: int, hidden: int) -> bool:
    """Are there kernels for these sizes?"""
    if not HAS_TRITON:
        return False
    from dact.kernels.dual_layer.triton_impl import fits

    return fits(size, width, heads, hidden)


def half_precision(features_BNF: Tensor) -> torch.dtype | None:
    """The dtype in which `encode` is to work: autocast's, on GPUs; else None."""
    kind = features_BNF.device.type
    asked = runs_triton(features_BNF) and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if asked else None


def encode(
    features_BNF: Tensor,
    place_ND: Tensor,
    embed_DF: Tensor,
    layers: Sequence[DualLayer],
    heads: int,
    dtype: torch.dtype,
) -> Tensor:
    """(2, B, N, D) aspects after all layers, by kernels that multiply in `dtype`.

    With gradients on, the result is float32, and so is the gradient that comes back; else it has the dtype given.
    """
    from dact.kernels.dual_layer.training import encode_triton, encode_without_gradients

    encode_ = encode_triton if torch.is_grad_enabled() else encode_without_gradients
    aspects_SBND: Tensor = encode_(features_BNF, place_ND, embed_DF, layers, heads, dtype)
    return aspects_SBND


__all__ = ["DualLayer", "dual_layer_reference", "encode", "half_precision", "has_kernels"]
