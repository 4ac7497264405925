"""Reference in plain PyTorch, all pairs at once. Shape letters: S aspects, H heads of an aspect, E = H * K."""

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


def split_by_head(query_SBNE: Tensor, key_SBNE: Tensor, network: Aggregation) -> tuple[Tensor, Tensor]:
    """Queries and keys as (B, S * H, N, K). Keys may be (S, B, N, K), shared by the heads of an aspect."""
    per = network.w1.shape[1] // query_SBNE.shape[0]
    width = query_SBNE.shape[3] // per
    query_SBNHK, key_SBNHK = (x.reshape(*x.shape[:3], -1, width) for x in (query_SBNE, key_SBNE))
    key_SBNHK = key_SBNHK.expand_as(query_SBNHK)
    query_BHNK, key_BHNK = (x.permute(1, 0, 3, 2, 4).flatten(1, 2) for x in (query_SBNHK, key_SBNHK))
    return query_BHNK, key_BHNK
