"""From queries and keys of several heads to one number per pair of positions.

    score_h[i, j] = query_h[i] . key_h[j]        H heads (those of every aspect together)
    logit[i, j]   = W3 relu(W2 relu(W1 score[i, j] + b1) + b2) + b3

`query_BHNK` and `key_BHNK` have N positions and K numbers per head; the result is (B, N, N).
"""

import torch
from torch import Tensor

from dact.kernels.launch import runs_triton
from dact.kernels.pair_logits.blocked import pair_logits_blocked
from dact.kernels.pair_logits.reference import Aggregation, pair_logits_reference


def pair_logits(query_BHNK: Tensor, key_BHNK: Tensor, network: Aggregation) -> Tensor:
    """The kernel on GPUs, the reference if gradients are needed, otherwise the blocked form, which takes less
    memory."""
    if runs_triton(query_BHNK) and query_BHNK.dtype != torch.float64:
        from dact.kernels.pair_logits.triton_impl import fits, pair_logits_triton

        if fits(query_BHNK.shape[1], query_BHNK.shape[3], network.w2.shape[0]):
            logit_BNN: Tensor = pair_logits_triton(query_BHNK, key_BHNK, network)
            return logit_BNN
    # Mixed dtypes mean autocast, which the blocked form's in-place products do not support.
    if torch.is_grad_enabled() or query_BHNK.device.type != "cpu" or query_BHNK.dtype != network.w1.dtype:
        return pair_logits_reference(query_BHNK, key_BHNK, network)
    return pair_logits_blocked(query_BHNK, key_BHNK, network)


__all__ = ["Aggregation", "pair_logits", "pair_logits_blocked", "pair_logits_reference"]
