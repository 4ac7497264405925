"""Dual-aspect attention on the GPU, forward and backward: a program per aspect, row and head, all of it on the chip.

Reads the packed projections where they lie and writes results where the next product wants them, so that nothing is
permuted in device memory. The backward kernel recomputes the scores. Shape letters: N positions (padded), K head width.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import float32_precision, power_of_two, triton_dtype

LONGEST = 128


@triton.jit
def _program(rows, H: tl.constexpr):
    """Aspect, row and head of this program."""
    index = tl.program_id(0)
    return index // (rows * H), ((index // H) % rows).to(tl.int64), index % H


@triton.jit
def _head(pointer, aspect, row, head, part, rows, size, place_N, H: tl.constexpr, K: tl.constexpr, PARTS: tl.constexpr):
    """(N, K) pointers to one part of one head."""
    start = pointer + (aspect * rows + row) * size * PARTS * H * K + part * H * K + head * K
    return start + place_N[:, None] * PARTS * H * K + tl.arange(0, K)[None, :]


@triton.jit
def _weights(query_NK, key_NK, inside_N, SCALE: tl.constexpr, PRECISION: tl.constexpr):
    """(N, N) softmax weights in float32; columns beyond the tour have none."""
    score_NN = tl.dot(query_NK, tl.trans(key_NK), input_precision=PRECISION) * SCALE
    score_NN = tl.where(inside_N[None, :], score_NN, float("-inf"))
    mass_NN = tl.exp(score_NN - tl.max(score_NN, 1)[:, None])
    return mass_NN / tl.sum(mass_NN, 1)[:, None]


@triton.jit
def _forward_kernel(
    packed_ptr, merged_ptr, rows, size,
    H: tl.constexpr, K: tl.constexpr, N: tl.constexpr,
    SCALE: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    aspect, row, head = _program(rows, H)
    place_N = tl.arange(0, N)
    inside_N = place_N < size
    mask = inside_N[:, None]
    query_NK = tl.load(_head(packed_ptr, aspect, row, head, 0, rows, size, place_N, H, K, 4), mask=mask, other=0.0)
    key_NK = tl.load(_head(packed_ptr, aspect, row, head, 1, rows, size, place_N, H, K, 4), mask=mask, other=0.0)
    value_NK = tl.load(_head(packed_ptr, aspect, row, head, 2, rows, size, place_N, H, K, 4), mask=mask, other=0.0)
    other_NK = tl.load(_head(packed_ptr, 1 - aspect, row, head, 3, rows, size, place_N, H, K, 4), mask=mask, other=0.0)
    weight_NN = _weights(query_NK.to(DTYPE), key_NK.to(DTYPE), inside_N, SCALE, PRECISION).to(DTYPE)
    own_NK = tl.dot(weight_NN, value_NK.to(DTYPE), input_precision=PRECISION)
    seen_NK = tl.dot(weight_NN, other_NK.to(DTYPE), input_precision=PRECISION)
    tl.store(_head(merged_ptr, aspect, row, head, 0, rows, size, place_N, H, K, 2), own_NK, mask=mask)
    tl.store(_head(merged_ptr, 1 - aspect, row, head, 1, rows, size, place_N, H, K, 2), seen_NK, mask=mask)


@triton.jit
def _backward_kernel(
    packed_ptr, merged_grad_ptr, packed_grad_ptr, rows, size,
    H: tl.constexpr, K: tl.constexpr, N: tl.constexpr,
    SCALE: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    aspect, row, head = _program(rows, H)
    place_N = tl.arange(0, N)
    inside_N = place_N < size
    mask = inside_N[:, None]
    query_NK = tl.load(_head(packed_ptr, aspect, row, head, 0, rows, size, place_N, H, K, 4), mask=mask, other=0.0)
    key_NK = tl.load(_head(packed_ptr, aspect, row, head, 1, rows, size, place_N, H, K, 4), mask=mask, other=0.0)
    value_NK = tl.load(_head(packed_ptr, aspect, row, head, 2, rows, size, place_N, H, K, 4), mask=mask, other=0.0)
    other_NK = tl.load(_head(packed_ptr, 1 - aspect, row, head, 3, rows, size, place_N, H, K, 4), mask=mask, other=0.0)
    own_grad_NK = tl.load(
        _head(merged_grad_ptr, aspect, row, head, 0, rows, size, place_N, H, K, 2), mask=mask, other=0.0
    ).to(DTYPE)
    seen_grad_NK = tl.load(
        _head(merged_grad_ptr, 1 - aspect, row, head, 1, rows, size, place_N, H, K, 2), mask=mask, other=0.0
    ).to(DTYPE)
    query_NK, key_NK = query_NK.to(DTYPE), key_NK.to(DTYPE)
    weight_NN = _weights(query_NK, key_NK, inside_N, SCALE, PRECISION)
    turned_NN = tl.trans(weight_NN.to(DTYPE))
    value_grad_NK = tl.dot(turned_NN, own_grad_NK, input_precision=PRECISION)
    other_grad_NK = tl.dot(turned_NN, seen_grad_NK, input_precision=PRECISION)
    weight_grad_NN = tl.dot(own_grad_NK, tl.trans(value_NK.to(DTYPE)), input_precision=PRECISION)
    weight_grad_NN += tl.dot(seen_grad_NK, tl.trans(other_NK.to(DTYPE)), input_precision=PRECISION)
    inner_N = tl.sum(weight_grad_NN * weight_NN, 1)
    score_grad_NN = (weight_NN * (weight_grad_NN - inner_N[:, None]) * SCALE).to(DTYPE)
    query_grad_NK = tl.dot(score_grad_NN, key_NK, input_precision=PRECISION)
    key_grad_NK = tl.dot(tl.trans(score_grad_NN), query_NK, input_precision=PRECISION)
    tl.store(_head(packed_grad_ptr, aspect, row, head, 0, rows, size, place_N, H, K, 4), query_grad_NK, mask=mask)
    tl.store(_head(packed_grad_ptr, aspect, row, head, 1, rows, size, place_N, H, K, 4), key_grad_NK, mask=mask)
    tl.store(_head(packed_grad_ptr, aspect, row, head, 2, rows, size, place_N, H, K, 4), value_grad_NK, mask=mask)
    tl.store(_head(packed_grad_ptr, 1 - aspect, row, head, 3, rows, size, place_N, H, K, 4), other_grad_NK, mask=mask)


def fits(packed_SBNE: Tensor, heads: int) -> bool:
    """Two aspects, heads of 16 or more numbers, and a tour short enough for its scores to stay on the chip."""
    aspects, _, size, width = packed_SBNE.shape
    head = width // (4 * heads)
    powers = head & (head - 1) == 0 and heads & (heads - 1) == 0
    return aspects == 2 and size <= LONGEST and head >= 16 and powers and packed_SBNE.dtype != torch.float64


def _settings(packed_SBNE: Tensor, heads: int, dtype: torch.dtype, precision: str) -> dict[str, Any]:
    head, padded = packed_SBNE.shape[3] // (4 * heads), power_of_two(packed_SBNE.shape[2])
    return {
        "H": heads, "K": head, "N": padded, "SCALE": head**-0.5, "DTYPE": triton_dtype(dtype), "PRECISION": precision,
        "num_warps": {16: 1, 32: 1, 64: 4}.get(padded, 8), "num_stages": 1,
    }  # fmt: skip


def forward(packed_SBNE: Tensor, heads: int, dtype: torch.dtype, precision: str) -> Tensor:
    """(S, B, N, 2 D) in the dtype of the input; matrix products take `dtype` and add up in float32."""
    aspects, rows, size, width = packed_SBNE.shape
    merged = torch.empty(aspects, rows, size, width // 2, device=packed_SBNE.device, dtype=packed_SBNE.dtype)
    settings = _settings(packed_SBNE, heads, dtype, precision)
    _forward_kernel[(aspects * rows * heads,)](packed_SBNE.contiguous(), merged, rows, size, **settings)
    return merged


def backward(merged_grad: Tensor, packed_SBNE: Tensor, heads: int, dtype: torch.dtype, precision: str) -> Tensor:
    """The gradient of the packed projections."""
    aspects, rows, size, width = packed_SBNE.shape
    grad = torch.empty(aspects, rows, size, width, device=packed_SBNE.device, dtype=packed_SBNE.dtype)
    settings = _settings(packed_SBNE, heads, dtype, precision)
    grid = (aspects * rows * heads,)
    _backward_kernel[grid](packed_SBNE.contiguous(), merged_grad.contiguous(), grad, rows, size, **settings)
    return grad


class _DualAttention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, packed: Tensor, heads: int, dtype: torch.dtype, precision: str) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(packed)
        ctx.settings = (heads, dtype, precision)
        return forward(packed, heads, dtype, precision)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # noqa: ANN401
        (packed,) = ctx.saved_tensors
        return backward(grad, packed, *ctx.settings), None, None, None


def dual_attention_triton(
    packed_SBNE: Tensor, heads: int, dtype: torch.dtype | None = None, precision: str | None = None
) -> Tensor:
    """(S, B, N, 2 D) with gradients; `dtype` (the input's if None) is that of the matrix products."""
    dtype, precision = dtype or packed_SBNE.dtype, precision or float32_precision()
    merged: Tensor = _DualAttention.apply(packed_SBNE, heads, dtype, precision)
    return merged
