"""What encoders share: settings, the interface, and matrices that act on every aspect at once.

Shape letters: S aspects, B rows, N tour length, F features, D width, H heads of an aspect, K head width.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dact.policy.norm import NORMS, make_norm
from dact.policy.sizes import check_sizes


@dataclass(frozen=True, kw_only=True)
class EncoderConfig:
    """Sizes of the encoder; the defaults are the paper's."""

    dim: int = 64
    layers: int = 3
    heads: int = 4
    hidden: int = 64
    norm: str = "instance"
    """`instance`: as in the authors' code; `layer`: as in the paper."""

    def __post_init__(self) -> None:
        check_sizes(self, "encoder", "dim", "layers", "heads", "hidden")
        if self.dim < 2:
            raise ValueError("encoder dim is 1, but positions need at least 2")
        if self.dim % self.heads:
            raise ValueError(f"encoder dim {self.dim} is not a multiple of its {self.heads} heads")
        if self.norm not in NORMS:
            raise ValueError(f"encoder norm '{self.norm}' is not one of {', '.join(NORMS)}")


class Encoder(nn.Module):
    """`forward(features_BNF, place_ND)` gives aspects_SBND, in tour order; `aspects` is S."""

    aspects: int

    def __init__(self, features: int, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Linear(features, config.dim, bias=False)

    def has_kernels(self, length: int) -> bool:
        """Are there kernels, with gradients, for tours of this length in half precision?"""
        return False


def matrices(aspects: int, inputs: int, outputs: int) -> nn.Parameter:
    """(S, inputs, outputs), uniform within 1 / sqrt(inputs) as in the authors' code."""
    bound = inputs**-0.5
    return nn.Parameter(torch.empty(aspects, inputs, outputs).uniform_(-bound, bound))


def project(x_SBND: Tensor, weight_SDE: Tensor, bias_S1E: Tensor | None = None) -> Tensor:
    """Each aspect through its own matrix: (S, B, N, E)."""
    parts = _parts(x_SBND)
    flat = x_SBND.reshape(x_SBND.shape[0] * parts, -1, x_SBND.shape[3])
    weight = _repeated(weight_SDE, parts)
    out = torch.bmm(flat, weight) if bias_S1E is None else torch.baddbmm(_repeated(bias_S1E, parts), flat, weight)
    return out.view(*x_SBND.shape[:3], weight_SDE.shape[2])


def _parts(x_SBND: Tensor) -> int:
    """How many products the rows are cut into.

    A weight's gradient is a product of a tall and a wide matrix: few outputs, each a sum over all nodes of all rows.
    On a GPU one product would occupy a few multiprocessors; cut into parts, whose gradients are added, it fills it.
    """
    if not (x_SBND.is_cuda and torch.is_grad_enabled()):
        return 1
    rows = x_SBND.shape[1]
    return next(parts for parts in range(64, 0, -1) if rows % parts == 0)


def _repeated(matrix_SXE: Tensor, parts: int) -> Tensor:
    if parts == 1:
        return matrix_SXE
    return matrix_SXE.unsqueeze(1).expand(-1, parts, -1, -1).reshape(-1, *matrix_SXE.shape[1:])


def split_heads(x: Tensor, parts: int, heads: int) -> Tensor:
    """The last dimension as (parts, heads, K)."""
    return x.view(*x.shape[:-1], parts, heads, x.shape[-1] // (parts * heads))


class FeedForward(nn.Module):
    """A two-layer network per aspect, with skip connection and norm (Eqs. 5 and 6)."""

    def __init__(self, aspects: int, config: EncoderConfig) -> None:
        super().__init__()
        self.into_SDC = matrices(aspects, config.dim, config.hidden)
        self.into_bias_S1C = nn.Parameter(torch.zeros(aspects, 1, config.hidden).uniform_(-0.1, 0.1))
        self.out_SCD = matrices(aspects, config.hidden, config.dim)
        self.out_bias_S1D = nn.Parameter(torch.zeros(aspects, 1, config.dim).uniform_(-0.1, 0.1))
        self.norm = make_norm(config.norm, aspects, config.dim)

    def forward(self, x_SBND: Tensor) -> Tensor:
        """LN(x + FFN(x))."""
        hidden_SBNC = project(x_SBND, self.into_SDC, self.into_bias_S1C).relu_()
        normed: Tensor = self.norm(x_SBND, project(hidden_SBNC, self.out_SCD, self.out_bias_S1D))
        return normed
