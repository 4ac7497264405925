"""Reference in plain PyTorch, all pairs at once.

Shape letters: S aspects, B rows, N positions, H heads of an aspect, K numbers per head, E = H * K.
"""

import torch
from torch import Tensor

from dact.kernels.pair_logits.reference import Aggregation, pair_logits_reference

# Finite, so that gradients of the entropy are; its exponential is exactly zero beside any open logit.
FORBIDDEN = -1e9


def move_log_prob_reference(
    query_SBNE: Tensor, key_SBNE: Tensor, network: Aggregation, *, clip: float, open_BNN: Tensor, move_B2: Tensor
) -> tuple[Tensor, Tensor]:
    """Log-probability of each row's move and entropy of its distribution. Keys may be shared by an aspect's heads."""
    logit_BNN = clip * torch.tanh(pair_logits_reference(*_heads(query_SBNE, key_SBNE, network), network))
    logit_BP = logit_BNN.masked_fill(~open_BNN, FORBIDDEN).flatten(1)
    log_BP = logit_BP.log_softmax(1)
    chosen_B1 = move_B2[:, :1] * open_BNN.shape[2] + move_B2[:, 1:]
    return log_BP.gather(1, chosen_B1).squeeze(1), -(log_BP.exp() * log_BP).sum(1)


def _heads(query_SBNE: Tensor, key_SBNE: Tensor, network: Aggregation) -> tuple[Tensor, Tensor]:
    """Queries and keys as (B, S * H, N, K)."""
    per = network.w1.shape[1] // query_SBNE.shape[0]
    width = query_SBNE.shape[3] // per
    query_SBNHK, key_SBNHK = (x.reshape(*x.shape[:3], -1, width) for x in (query_SBNE, key_SBNE))
    key_SBNHK = key_SBNHK.expand_as(query_SBNHK)
    query_BHNK, key_BHNK = (x.permute(1, 0, 3, 2, 4).flatten(1, 2) for x in (query_SBNHK, key_SBNHK))
    return query_BHNK, key_BHNK
