"""The decoder (section 4.3): max-pooling, multi-head compatibility, aggregation, C * tanh."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dact.kernels.context import contexts_and_queries
from dact.kernels.launch import runs_triton
from dact.kernels.move_log_prob import move_log_prob
from dact.kernels.pair_logits import Aggregation, pair_logits
from dact.kernels.pick_move import fold_heads
from dact.policy.distribution import PairDistribution
from dact.policy.encoders.base import matrices, project, split_heads
from dact.policy.sizes import check_sizes

LONGEST = 256
"""Longest tours whose log-probabilities are computed without all logits, by kernels/move_log_prob."""


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
        check_sizes(self, "decoder", "heads", "head_dim", "hidden")
        if not 0 < self.clip < math.inf:
            raise ValueError(f"decoder clip is {self.clip}, but must be positive and finite")


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
        scale = self.config.head_dim**-0.5
        query, key = self._heads(context_SBND, self.query_SDE * scale), self._heads(context_SBND, self.key_SDE)
        return self.config.clip * torch.tanh(pair_logits(query, key, self.network()))

    def log_prob(self, aspects_SBND: Tensor, open_BNN: Tensor, move_B2: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probability of each row's move among the open pairs, and the entropy, with gradients of both.

        Half-precision aspects are multiplied in half precision; losses should then be scaled up before `backward`,
        as float16 does not hold the small gradients of aspects.
        """
        if runs_triton(aspects_SBND) and aspects_SBND.dtype != torch.float64 and aspects_SBND.shape[2] <= LONGEST:
            return self.folded_log_prob(aspects_SBND, open_BNN, move_B2)
        moves = PairDistribution(self(aspects_SBND.to(self.local_SDD.dtype)), open_BNN)
        return moves.log_prob(move_B2), moves.entropy()

    def folded_log_prob(self, aspects_SBND: Tensor, open_BNN: Tensor, move_B2: Tensor) -> tuple[Tensor, Tensor]:
        """The same with query and key matrices folded into one: queries score against the contexts."""
        folded_SDE = fold_heads(self.query_SDE * self.config.head_dim**-0.5, self.key_SDE, self.config.heads)
        context_SBND, query_SBNE = contexts_and_queries(aspects_SBND, self.local_SDD, self.whole_SDD, folded_SDE)
        return move_log_prob(
            query_SBNE, context_SBND, self.network(), clip=self.config.clip, open_BNN=open_BNN, move_B2=move_B2
        )

    def network(self) -> Aggregation:
        """The weights that turn a pair's scores into its logit."""
        return Aggregation(
            *(self.first.weight, self.first.bias),
            *(self.second.weight, self.second.bias),
            *(self.third.weight, self.third.bias),
        )

    def _heads(self, context_SBND: Tensor, weight_SDE: Tensor) -> Tensor:
        """(B, S * heads, N, K)."""
        each = split_heads(project(context_SBND, weight_SDE), 1, self.config.heads).squeeze(3)
        return each.permute(1, 0, 3, 2, 4).flatten(1, 2)
