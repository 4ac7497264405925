"""The truth: plain PyTorch."""

from torch import Tensor

EPSILON = 1e-5


def add_norm_reference(x_SBND: Tensor, y_SBND: Tensor) -> Tensor:
    """By hand: `torch.var_mean` over two dimensions is twenty times slower on a CPU."""
    sum_SBND = x_SBND + y_SBND
    centred_SBND = sum_SBND - sum_SBND.mean(dim=(2, 3), keepdim=True)
    count = x_SBND.shape[2] * x_SBND.shape[3]
    variance = centred_SBND.square().sum(dim=(2, 3), keepdim=True) / (count - 1)
    return centred_SBND * (variance + EPSILON).rsqrt()
