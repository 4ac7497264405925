"""Reference in plain PyTorch, one head after the other.

Shape letters: S = 2 aspects, B rows, N positions, D width, K head width, E a multiple of D, C hidden units.
"""

from typing import NamedTuple

import torch
from torch import Tensor

EPSILON = 1e-5


class DualLayer(NamedTuple):
    """Weights of a layer, stacked over the aspects; matrices multiply from the right."""

    packed_SDE: Tensor
    """Queries, keys, values, referential values, each of width D."""
    out_SED: Tensor
    """Rows of the heads that attend by an aspect's own scores, then of those that attend by the other's."""
    into_SDC: Tensor
    into_bias_S1C: Tensor
    onward_SCD: Tensor
    onward_bias_S1D: Tensor


def dual_layer_reference(x_SBND: Tensor, layer: DualLayer, heads: int) -> Tensor:
    """(S, B, N, D) after the layer."""
    query_SDD, key_SDD, value_SDD, reference_SDD = layer.packed_SDE.chunk(4, dim=2)
    width = x_SBND.shape[3] // heads
    added = torch.zeros_like(x_SBND)
    for head in range(heads):
        columns = slice(head * width, (head + 1) * width)
        own_rows, other_rows = columns, slice(columns.start + heads * width, columns.stop + heads * width)
        for aspect in (0, 1):
            other = 1 - aspect
            query_BNK = x_SBND[aspect] @ query_SDD[aspect, :, columns]
            key_BNK = x_SBND[aspect] @ key_SDD[aspect, :, columns]
            weight_BNN = (query_BNK @ key_BNK.transpose(1, 2) * width**-0.5).softmax(2)
            value_BNK = x_SBND[aspect] @ value_SDD[aspect, :, columns]
            reference_BNK = x_SBND[other] @ reference_SDD[other, :, columns]
            added[aspect] += weight_BNN @ value_BNK @ layer.out_SED[aspect, own_rows]
            added[other] += weight_BNN @ reference_BNK @ layer.out_SED[other, other_rows]
    x_SBND = _norm(x_SBND + added)
    hidden_SBNC = torch.relu(_per_aspect(x_SBND, layer.into_SDC) + layer.into_bias_S1C.unsqueeze(1))
    return _norm(x_SBND + _per_aspect(hidden_SBNC, layer.onward_SCD) + layer.onward_bias_S1D.unsqueeze(1))


def _per_aspect(x_SBND: Tensor, weight_SDE: Tensor) -> Tensor:
    return x_SBND @ weight_SDE.unsqueeze(1)


def _norm(x_SBND: Tensor) -> Tensor:
    variance, mean = torch.var_mean(x_SBND, dim=(2, 3), keepdim=True)
    return (x_SBND - mean) * (variance + EPSILON).rsqrt()
