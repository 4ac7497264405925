"""For CPUs, without gradients: the hidden units of a block of pairs at a time, small enough for the cache."""

import torch
from torch import Tensor

from dact.kernels.pair_logits.reference import Aggregation

# Pairs in a block: their 2 x 32 hidden units in float32 take 1 MiB, which stays in a core's second-level cache.
BLOCK = 4096


def pair_logits_blocked(query_BHNK: Tensor, key_BHNK: Tensor, network: Aggregation) -> Tensor:
    """Hidden units are kept as (unit, pair), so that each layer is one wide matrix product per block."""
    rows, heads, size, _ = query_BHNK.shape
    score_BHP = (query_BHNK @ key_BHNK.transpose(2, 3)).view(rows, heads, size * size)
    logit_BP = query_BHNK.new_empty(rows, size * size)
    b1, b2 = network.b1.unsqueeze(1), network.b2.unsqueeze(1)
    for row in range(rows):
        for start in range(0, size * size, BLOCK):
            pairs = slice(start, start + BLOCK)
            hidden_CP = torch.mm(network.w1, score_BHP[row, :, pairs]).add_(b1).relu_()
            hidden_CP = torch.mm(network.w2, hidden_CP).add_(b2).relu_()
            torch.mv(hidden_CP.t(), network.w3[0], out=logit_BP[row, pairs])
    return logit_BP.view(rows, size, size).add_(network.b3)
