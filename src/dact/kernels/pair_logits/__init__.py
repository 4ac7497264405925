"""From queries and keys of several heads to one number per pair of positions.

    score_h[i, j] = query_h[i] . key_h[j]        H heads (those of every aspect together)
    logit[i, j]   = W3 relu(W2 relu(W1 score[i, j] + b1) + b2) + b3

`query_BHNK` and `key_BHNK` have N positions and K numbers per head; the result is (B, N, N).
"""

import torch
from torch import Tensor

from dact.kernels.pair_logits.blocked import pair_logits_blocked
from dact.kernels.pair_logits.reference import Aggregation, pair_logits_reference


def pair_logits(query_BHNK: Tensor, key_BHNK: Tensor, network: Aggregation) -> Tensor:
    """The reference where gradients flow, else a form that never holds the hidden units of all pairs."""
    if torch.is_grad_enabled() or query_BHNK.device.type != "cpu":
        return pair_logits_reference(query_BHNK, key_BHNK, network)
    return pair_logits_blocked(query_BHNK, key_BHNK, network)


__all__ = ["Aggregation", "pair_logits", "pair_logits_blocked", "pair_logits_reference"]
