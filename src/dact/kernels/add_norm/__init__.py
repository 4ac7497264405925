"""Skip connection and norm: (x + y), centred and divided by one standard deviation per aspect and row.

c = x + y - mean(x + y),    out = c / sqrt(sum(c^2) / (count - 1) + 1e-5)      over all count = N * D numbers of a row
"""

from torch import Tensor

from dact.kernels.add_norm.reference import EPSILON, add_norm_reference
from dact.kernels.launch import runs_triton


def add_norm(x_SBND: Tensor, y_SBND: Tensor) -> Tensor:
    """The kernel on GPUs for rows it has room for, else plain PyTorch."""
    if runs_triton(x_SBND):
        from dact.kernels.add_norm.triton_impl import add_norm_triton, fits

        if fits(x_SBND, y_SBND):
            out_SBND: Tensor = add_norm_triton(x_SBND, y_SBND)
            return out_SBND
    return add_norm_reference(x_SBND, y_SBND)


__all__ = ["EPSILON", "add_norm", "add_norm_reference"]
