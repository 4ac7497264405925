"""Log-probability of a move and entropy of the policy, with gradients, for training.

    logit[i, j] = clip * tanh(W3 relu(W2 relu(W1 score[i, j] + b1) + b2) + b3)
    log_prob    = logit[move] - log sum of exp(logit) over the open pairs

`query_SBNE` is (aspects, rows, positions, heads * width), as the projections leave it, and so is `key_SBNE`, or
(.., width) where the heads of an aspect share their keys. Scores are those of kernels/pair_logits.
"""

import torch
from torch import Tensor

from dact.kernels.launch import float32_precision, runs_triton
from dact.kernels.move_log_prob.reference import move_log_prob_reference
from dact.kernels.pair_logits.reference import Aggregation


def move_log_prob(
    query_SBNE: Tensor, key_SBNE: Tensor, network: Aggregation, *, clip: float, open_BNN: Tensor, move_B2: Tensor
) -> tuple[Tensor, Tensor]:
    """log_prob_B and entropy_B in float32: by the kernels on GPUs, where they handle the sizes.

    Where PyTorch may round float32 products to TF32, the kernels take float16, which has as many digits: they scale
    gradients into its range.
    """
    tensors = (query_SBNE, key_SBNE, network)
    if runs_triton(query_SBNE) and query_SBNE.dtype != torch.float64:
        from dact.kernels.move_log_prob.pairs import fits
        from dact.kernels.move_log_prob.triton_impl import move_log_prob_triton

        if fits(query_SBNE, network):
            rounded = query_SBNE.dtype == torch.float32 and float32_precision() == "tf32"
            dtype = torch.float16 if rounded else query_SBNE.dtype
            log_prob_B, entropy_B = move_log_prob_triton(
                *tensors, clip=clip, open_BNN=open_BNN, move_B2=move_B2, dtype=dtype
            )
            return log_prob_B, entropy_B
    return move_log_prob_reference(*tensors, clip=clip, open_BNN=open_BNN, move_B2=move_B2)


__all__ = ["Aggregation", "move_log_prob", "move_log_prob_reference"]
