"""What the first layer computes for the places alone: the same for every row, so it is made once per length.

Shape letters: as in reference.py, with H heads and P >= N positions, padded with zeros.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

from dact.kernels.dual_layer.reference import DualLayer


class PlaceConstants(NamedTuple):
    """The position aspect's part in a first layer."""

    weight_HPP: Tensor
    """By which places attend to places."""
    reference_HPK: Tensor
    """What nodes gather from places."""
    sum_ND: Tensor
    """Places and what they gather from places, in float32: their aspect before the first norm, but for the nodes."""


@torch.no_grad()
def place_constants(
    place_ND: Tensor, layer: DualLayer, *, heads: int, padded: int, dtype: torch.dtype
) -> PlaceConstants:
    """Of a table of places and the weights of the first layer."""
    size, width = place_ND.shape
    parts_4HNK = (place_ND @ layer.packed_SDE[1]).view(size, 4, heads, -1).permute(1, 2, 0, 3)
    query_HNK, key_HNK, value_HNK, reference_HNK = parts_4HNK
    weight_HNN = (query_HNK @ key_HNK.transpose(1, 2) * (width // heads) ** -0.5).softmax(2)
    gathered_ND = (weight_HNN @ value_HNK).transpose(0, 1).flatten(1)
    more = padded - size
    return PlaceConstants(
        pad(weight_HNN, (0, more, 0, more)).to(dtype),
        pad(reference_HNK, (0, 0, 0, more)).to(dtype),
        place_ND + gathered_ND @ layer.out_SED[1, :width],
    )
