"""A random stream for each row: what a row draws does not depend on the rows beside it.

A stream is 64 bits that grow by a constant; a number is the stream mixed well (Steele, Lea and Flood, "Fast splittable
pseudorandom number generators", 2014). So whatever batch, shard or process a row is in, its search is the same.
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
