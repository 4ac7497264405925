"""Skip connection and normalisation after each sub-layer, of two kinds, on (S, B, N, D) stacks of aspects."""

from typing import Any

import torch
from torch import Tensor, nn

from dact.kernels.add_norm import add_norm

NORMS = ("instance", "layer")


class InstanceNorm(nn.Module):
    """One mean and unbiased variance over all nodes and features of an instance; nothing learnt (authors' code)."""

    def forward(self, x_SBND: Tensor, y_SBND: Tensor) -> Tensor:
        """norm(x + y), each aspect of each row on its own."""
        return add_norm(x_SBND, y_SBND)


class LayerNorm(nn.Module):
    """Mean and variance over the features of a node, learnt scale and shift per aspect (the paper's)."""

    def __init__(self, aspects: int, dim: int) -> None:
        super().__init__()
        self.scale_S11D = nn.Parameter(torch.ones(aspects, 1, 1, dim))
        self.shift_S11D = nn.Parameter(torch.zeros(aspects, 1, 1, dim))

    def forward(self, x_SBND: Tensor, y_SBND: Tensor) -> Tensor:
        """norm(x + y), each node on its own."""
        plain_SBND = torch.nn.functional.layer_norm(x_SBND + y_SBND, x_SBND.shape[-1:])
        return plain_SBND * self.scale_S11D + self.shift_S11D


def make_norm(kind: str, aspects: int, dim: int) -> nn.Module:
    """The module for a name in NORMS."""
    makers: dict[str, Any] = {"instance": InstanceNorm, "layer": lambda: LayerNorm(aspects, dim)}
    return makers[kind]()  # type: ignore[no-any-return]
