"""The attention of both aspects (Eqs. 7-9), from packed projections to what the output matrices take.

`packed_SBNE` holds, per position, queries, keys, values and referential values of all heads side by side (E = 4 D).
The scores of an aspect weigh its own values and the other aspect's referential values; the result (S, B, N, 2 D) has,
for each aspect, what its own scores saw and then what the other's scores saw.
"""

from torch import Tensor

from dact.kernels.dual_attention.reference import attend, dual_attention_reference
from dact.kernels.launch import runs_triton


def dual_attention(packed_SBNE: Tensor, heads: int) -> Tensor:
    """The kernel on GPUs for tours it has room for, else plain PyTorch."""
    if runs_triton(packed_SBNE):
        from dact.kernels.dual_attention.triton_impl import dual_attention_triton, fits

        if fits(packed_SBNE, heads):
            merged_SBNE: Tensor = dual_attention_triton(packed_SBNE, heads)
            return merged_SBNE
    return dual_attention_reference(packed_SBNE, heads)


__all__ = ["attend", "dual_attention", "dual_attention_reference"]
