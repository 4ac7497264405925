"""The two normalisations that follow each sub-layer, on (S, B, N, D) stacks of aspects."""

from typing import Any

import torch
from torch import Tensor, nn

NORMS = ("instance", "layer")


class InstanceNorm(nn.Module):
    """One mean and unbiased variance over all nodes and features of an instance; nothing learnt (authors' code)."""

    def forward(self, x_SBND: Tensor) -> Tensor:
        """Each aspect of each row on its own."""
        centred_SBND = x_SBND - x_SBND.mean(dim=(2, 3), keepdim=True)
        count = x_SBND.shape[2] * x_SBND.shape[3]
        # By hand: `torch.var_mean` over two dimensions is twenty times slower on a CPU.
        variance = centred_SBND.square().sum(dim=(2, 3), keepdim=True) / (count - 1)
        return centred_SBND * (variance + 1e-5).rsqrt()


class LayerNorm(nn.Module):
    """Mean and variance over the features of a node, learnt scale and shift per aspect (the paper's)."""

    def __init__(self, aspects: int, dim: int) -> None:
        super().__init__()
        self.scale_S11D = nn.Parameter(torch.ones(aspects, 1, 1, dim))
        self.shift_S11D = nn.Parameter(torch.zeros(aspects, 1, 1, dim))

    def forward(self, x_SBND: Tensor) -> Tensor:
        """Each node on its own."""
        plain_SBND = torch.nn.functional.layer_norm(x_SBND, x_SBND.shape[-1:])
        return plain_SBND * self.scale_S11D + self.shift_S11D


def make_norm(kind: str, aspects: int, dim: int) -> nn.Module:
    """The module for a name in NORMS."""
    makers: dict[str, Any] = {"instance": InstanceNorm, "layer": lambda: LayerNorm(aspects, dim)}
    return makers[kind]()  # type: ignore[no-any-return]
