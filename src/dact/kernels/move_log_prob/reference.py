"""Reference in plain PyTorch, all pairs at once.

Shape letters: S aspects, B rows, N positions, H heads of an aspect, K numbers per head, E = H * K.
"""

import torch
from torch import Tensor

from dact.kernels.pair_logits.reference import Aggregation, pair_logits_reference, split_by_head

# Finite, so that gradients of the entropy are finite; its exponential is exactly zero next to any open logit.
FORBIDDEN = -1e9


def move_log_prob_reference(
    query_SBNE: Tensor, key_SBNE: Tensor, network: Aggregation, *, clip: float, open_BNN: Tensor, move_B2: Tensor
) -> tuple[Tensor, Tensor]:
    """Log-probability of each row's move and entropy of its distribution. Keys may be shared by an aspect's heads."""
    logit_BNN = clip * torch.tanh(pair_logits_reference(*split_by_head(query_SBNE, key_SBNE, network), network))
    logit_BP = logit_BNN.masked_fill(~open_BNN, FORBIDDEN).flatten(1)
    log_BP = logit_BP.log_softmax(1)
    chosen_B1 = move_B2[:, :1] * open_BNN.shape[2] + move_B2[:, 1:]
    return log_BP.gather(1, chosen_B1).squeeze(1), -(log_BP.exp() * log_BP).sum(1)
