"""Skip connection and norm on the GPU, forward and backward: a program per aspect and row.

With g the incoming gradient, out the result and r the inverse deviation, the gradient of x and of y is
r * (g - mean(g) - out * sum(g * out) / (count - 1)). Shape letters: P numbers of a row (padded).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.add_norm.reference import EPSILON
from dact.kernels.launch import power_of_two

MOST = 16384
"""Numbers of a row that fit a program's registers."""


@triton.jit
def _forward_kernel(x_ptr, y_ptr, out_ptr, rate_ptr, count, EPSILON: tl.constexpr, P: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place_P = tl.arange(0, P)
    inside_P = place_P < count
    x_P = tl.load(x_ptr + row * count + place_P, mask=inside_P, other=0.0).to(tl.float32)
    y_P = tl.load(y_ptr + row * count + place_P, mask=inside_P, other=0.0).to(tl.float32)
    sum_P = x_P + y_P
    centred_P = tl.where(inside_P, sum_P - tl.sum(sum_P, 0) / count, 0.0)
    rate = tl.rsqrt(tl.sum(centred_P * centred_P, 0) / (count - 1) + EPSILON)
    tl.store(out_ptr + row * count + place_P, centred_P * rate, mask=inside_P)
    tl.store(rate_ptr + row, rate)


@triton.jit
def _backward_kernel(grad_ptr, out_ptr, rate_ptr, sum_grad_ptr, count, P: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    place_P = tl.arange(0, P)
    inside_P = place_P < count
    grad_P = tl.load(grad_ptr + row * count + place_P, mask=inside_P, other=0.0).to(tl.float32)
    out_P = tl.load(out_ptr + row * count + place_P, mask=inside_P, other=0.0).to(tl.float32)
    along = tl.sum(grad_P * out_P, 0) / (count - 1)
    value_P = tl.load(rate_ptr + row) * (grad_P - tl.sum(grad_P, 0) / count - out_P * along)
    tl.store(sum_grad_ptr + row * count + place_P, value_P, mask=inside_P)


def fits(x_SBND: Tensor, y_SBND: Tensor) -> bool:
    """Can a program hold a row?"""
    return x_SBND[0, 0].numel() <= MOST and x_SBND.dtype == y_SBND.dtype != torch.float64


def _warps(padded: int) -> int:
    return min(16, max(1, padded // 512))


def forward(x_SBND: Tensor, y_SBND: Tensor) -> tuple[Tensor, Tensor]:
    """The normed sum, and the inverse deviation of each aspect and row."""
    aspects, rows, size, width = x_SBND.shape
    count = size * width
    out = torch.empty(aspects, rows, size, width, device=x_SBND.device, dtype=x_SBND.dtype)
    rate = torch.empty(aspects * rows, device=x_SBND.device)
    padded = power_of_two(count)
    _forward_kernel[(aspects * rows,)](
        x_SBND.contiguous(), y_SBND.contiguous(), out, rate, count, EPSILON=EPSILON, P=padded, num_warps=_warps(padded)
    )
    return out, rate


def backward(grad_SBND: Tensor, out_SBND: Tensor, rate: Tensor) -> Tensor:
    """The gradient of the sum."""
    count = out_SBND[0, 0].numel()
    padded = power_of_two(count)
    sum_grad = torch.empty(out_SBND.shape, device=out_SBND.device, dtype=out_SBND.dtype)
    _backward_kernel[(rate.numel(),)](
        grad_SBND.contiguous(), out_SBND, rate, sum_grad, count, P=padded, num_warps=_warps(padded)
    )
    return sum_grad


class _AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:  # noqa: ANN401
        out, rate = forward(x, y)
        ctx.save_for_backward(out, rate)
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # noqa: ANN401
        out, rate = ctx.saved_tensors
        sum_grad = backward(grad, out, rate)
        return sum_grad, sum_grad


def add_norm_triton(x_SBND: Tensor, y_SBND: Tensor) -> Tensor:
    """The normed sum, with gradients."""
    out: Tensor = _AddNorm.apply(x_SBND, y_SBND)
    return out
