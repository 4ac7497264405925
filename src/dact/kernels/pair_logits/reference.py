"""Reference in plain PyTorch, all pairs at once."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional


class Aggregation(NamedTuple):
    """Weights of the aggregation network, each (out, in), with their biases."""

    w1: Tensor
    b1: Tensor
    w2: Tensor
    b2: Tensor
    w3: Tensor
    b3: Tensor


def pair_logits_reference(query_BHNK: Tensor, key_BHNK: Tensor, network: Aggregation) -> Tensor:
    """Scores of all heads, then the aggregation network on every pair."""
    score_BHNN = query_BHNK @ key_BHNK.transpose(2, 3)
    hidden_BNNC = torch.relu(functional.linear(score_BHNN.permute(0, 2, 3, 1), network.w1, network.b1))
    hidden_BNNC = torch.relu(functional.linear(hidden_BNNC, network.w2, network.b2))
    return functional.linear(hidden_BNNC, network.w3, network.b3).squeeze(-1)
