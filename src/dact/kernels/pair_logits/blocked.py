"""For CPUs, without gradients: the hidden units of a block of pairs at a time, small enough for the cache.

Units are kept as (unit, pair), so that each layer is one wide matrix product per block, into the same memory.
A last row of ones carries the biases: they are columns of the weights, and cost no pass of their own.
"""

import torch
from torch import Tensor

from dact.kernels.pair_logits.reference import Aggregation

# Pairs in a block: their 2 x 33 hidden units in float32 take 1 MiB, which stays in a core's second-level cache.
BLOCK = 4096


def pair_logits_blocked(query_BHNK: Tensor, key_BHNK: Tensor, network: Aggregation) -> Tensor:
    """Row by row: scores of all heads, then the network on blocks of pairs."""
    rows, heads, size, _ = query_BHNK.shape
    pairs = size * size
    w1 = torch.cat((network.w1, network.b1.unsqueeze(1)), dim=1)
    w2 = torch.cat((network.w2, network.b2.unsqueeze(1)), dim=1)
    score = query_BHNK.new_ones(heads + 1, pairs)
    block = min(BLOCK, pairs)
    first = query_BHNK.new_ones(len(w1) + 1, block)
    second = query_BHNK.new_empty(len(w2), block)
    logit_BP = query_BHNK.new_empty(rows, pairs)
    for row in range(rows):
        torch.bmm(query_BHNK[row], key_BHNK[row].transpose(1, 2), out=score[:heads].view(heads, size, size))
        for start in range(0, pairs, block):
            end = min(start + block, pairs)
            into, onward = first[:, : end - start], second[:, : end - start]
            torch.mm(w1, score[:, start:end], out=into[:-1]).relu_()
            torch.mm(w2, into, out=onward).relu_()
            torch.mv(onward.t(), network.w3[0], out=logit_BP[row, start:end])
    return logit_BP.view(rows, size, size).add_(network.b3)
