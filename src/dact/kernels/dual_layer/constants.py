"""The first layer's results that depend on positions only: equal for all rows, so computed once per length.

Numbers are rounded where the kernel without constants rounds them: training does not use constants, and must get the
same probabilities as the search. Products of rounded numbers are exact in TF32 too.
Shape letters: as in reference.py, with H heads and P >= N positions, padded with zeros.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from dact.kernels.dual_layer.reference import DualLayer


class PlaceConstants(NamedTuple):
    """The position aspect's part in a first layer."""

    weight_HPP: Tensor
    """By which places attend to places, relative to the largest of a line."""
    share_HP: Tensor
    """Of one in the sum of a line's weights, in float32."""
    reference_HPK: Tensor
    """What nodes gather from places."""
    place_ND: Tensor
    """The places themselves, rounded, in float32."""
    gathered_HPK: Tensor
    """What places gather from places."""
    sum_ND: Tensor
    """Places and what they gather from places, in float32: their aspect before the first norm, but for the nodes."""


@torch.no_grad()
def place_constants(
    place_ND: Tensor, layer: DualLayer, *, heads: int, padded: int, dtype: torch.dtype
) -> PlaceConstants:
    """Of a table of places and the weights of the first layer."""
    size, width = place_ND.shape
    place_ND, out_DD = (_rounded(x, dtype) for x in (place_ND, layer.out_SED[1, :width]))
    project_D4HK = layer.packed_SDE[1].reshape(width, 4, heads, -1).clone()
    # As in `pack`: scores are exponents of two.
    project_D4HK[:, 0] *= (width // heads) ** -0.5 / math.log(2)
    parts_4HNK = torch.einsum("nd,dphk->phnk", place_ND, _rounded(project_D4HK, dtype))
    query_HNK, key_HNK, value_HNK, reference_HNK = _rounded(parts_4HNK, dtype)
    score_HNN = query_HNK @ key_HNK.mT
    mass_HNN = (score_HNN - score_HNN.amax(2, keepdim=True)).exp2()
    weight_HNN, share_HN = _rounded(mass_HNN, dtype), 1 / mass_HNN.sum(2)
    gathered_HNK = _rounded(weight_HNN @ value_HNK * share_HN.unsqueeze(2), dtype)
    more = padded - size
    return PlaceConstants(
        pad(weight_HNN, (0, more, 0, more)).to(dtype),
        pad(share_HN, (0, more)),
        pad(reference_HNK, (0, 0, 0, more)).to(dtype).contiguous(),
        place_ND,
        pad(gathered_HNK, (0, 0, 0, more)).to(dtype),
        place_ND + gathered_HNK.transpose(0, 1).flatten(1) @ out_DD,
    )


def _rounded(x: Tensor, dtype: torch.dtype) -> Tensor:
    """A float32 copy of numbers that the dtype can hold."""
    return x.to(dtype, copy=True).float()
