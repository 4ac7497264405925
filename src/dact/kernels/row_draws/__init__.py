"""A random stream for each row, so that a row's draws do not depend on the other rows of its batch.

A stream is a 64-bit counter with a constant increment; a number is the hashed counter (Steele, Lea and Flood, "Fast
splittable
pseudorandom number generators", 2014). So the search of a row is the same in any batch, shard or process.
"""

from torch import Tensor

from dact.kernels.launch import runs_triton
from dact.kernels.row_draws.reference import DRAWS, STEP, many_draws, new_streams, row_draws_reference, streams


def row_draws(stream_B: Tensor) -> Tensor:
    """(2, B) float64 in [0, 1): the draws of one step; one kernel on GPUs, else plain PyTorch."""
    if runs_triton(stream_B):
        from dact.kernels.row_draws.triton_impl import row_draws_triton

        return row_draws_triton(stream_B)
    return row_draws_reference(stream_B)


__all__ = ["DRAWS", "STEP", "many_draws", "new_streams", "row_draws", "row_draws_reference", "streams"]
