"""Helpers for launching Triton kernels. Triton is imported only when a kernel is launched."""

from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

MULTIPROCESSORS = 132
"""Multiprocessors of an H100 or H200, for choosing grid sizes; any number works."""
HAS_TRITON = find_spec("triton") is not None


def runs_triton(tensor: Tensor) -> bool:
    """Can Triton kernels run on the tensor's device?"""
    return tensor.is_cuda and HAS_TRITON


def float32_precision() -> str:
    """PyTorch's precision setting for float32 matrix products."""
    return "ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32"


def triton_dtype(dtype: torch.dtype) -> Any:  # noqa: ANN401
    """Triton's name for a dtype that may feed a matrix product."""
    import triton.language as tl

    names = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16, torch.float32: tl.float32}
    if dtype not in names:
        raise ValueError(f"kernels multiply float16, bfloat16 or float32, not {dtype}")
    return names[dtype]


def power_of_two(number: int, least: int = 16) -> int:
    """The smallest power of two that is neither below `number` nor below `least`."""
    return max(least, 1 << (number - 1).bit_length())
