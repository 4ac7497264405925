"""The decoder (section 4.3): max-pooling, multi-head compatibility, aggregation, C * tanh."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dact.kernels.pair_logits import Aggregation, pair_logits
from dact.policy.encoders.base import matrices, project, split_heads


@dataclass(frozen=True, kw_only=True)
class DecoderConfig:
    """Sizes of the decoder; the defaults are the paper's, with the authors' head width."""

    heads: int = 4
    """Compatibility heads per aspect."""
    head_dim: int = 64
    hidden: int = 32
    """Width of the aggregation network."""
    clip: float = 6.0
    """C: logits stay within -C .. C."""

    def __post_init__(self) -> None:
        for field in ("heads", "head_dim", "hidden", "clip"):
            if getattr(self, field) <= 0:
                raise ValueError(f"decoder {field} is {getattr(self, field)}, but must be positive")


class Decoder(nn.Module):
    """From aspects to a logit for every pair of positions."""

    def __init__(self, aspects: int, dim: int, config: DecoderConfig) -> None:
        super().__init__()
        self.config = config
        self.local_SDD = matrices(aspects, dim, dim)
        self.whole_SDD = matrices(aspects, dim, dim)
        self.query_SDE = matrices(aspects, dim, config.heads * config.head_dim)
        self.key_SDE = matrices(aspects, dim, config.heads * config.head_dim)
        self.first = nn.Linear(aspects * config.heads, config.hidden)
        self.second = nn.Linear(config.hidden, config.hidden)
        self.third = nn.Linear(config.hidden, 1)

    def forward(self, aspects_SBND: Tensor) -> Tensor:
        """(B, N, N) logits of the moves (first, second), before any mask."""
        pooled_SB1D = aspects_SBND.amax(dim=2, keepdim=True)
        context_SBND = project(aspects_SBND, self.local_SDD) + project(pooled_SB1D, self.whole_SDD)
        network = Aggregation(
            *(self.first.weight, self.first.bias),
            *(self.second.weight, self.second.bias),
            *(self.third.weight, self.third.bias),
        )
        scale = self.config.head_dim**-0.5
        query, key = self._heads(context_SBND, self.query_SDE * scale), self._heads(context_SBND, self.key_SDE)
        return self.config.clip * torch.tanh(pair_logits(query, key, network))

    def _heads(self, context_SBND: Tensor, weight_SDE: Tensor) -> Tensor:
        """(B, S * heads, N, K)."""
        each = split_heads(project(context_SBND, weight_SDE), 1, self.config.heads).squeeze(3)
        return each.permute(1, 0, 3, 2, 4).flatten(1, 2)
