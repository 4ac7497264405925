"""The kernels of the critic's layer: a program per row, or per row and head, all of it on the chip.

Shape letters: N positions (padded), Q queries worked on at a time, H heads, K head width (padded), P columns a head has
in memory, W width.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.add_norm import EPSILON
from dact.kernels.launch import power_of_two, triton_dtype


class Cut(NamedTuple):
    """Block sizes of the attention."""

    warps: int
    queries: int
    """Worked on at a time: their scores against all keys stay in registers."""


FORWARD = {16: Cut(1, 16), 32: Cut(1, 32), 64: Cut(4, 64), 128: Cut(4, 64), 256: Cut(8, 32)}
BACKWARD = {16: Cut(1, 16), 32: Cut(1, 32), 64: Cut(4, 64), 128: Cut(8, 128), 256: Cut(8, 16)}
"""By padded length."""


@triton.jit
def _head(ptr, row, head, part, place_N, size, PARTS: tl.constexpr, H: tl.constexpr, P: tl.constexpr, K: tl.constexpr):
    """(N, K) pointers to one part of one head."""
    start = ptr + row * size * PARTS * H * P + (part * H + head) * P
    return start + place_N[:, None] * (PARTS * H * P) + tl.arange(0, K)[None, :]


@triton.jit
def _weights(query_QK, key_NK, inside_N, SCALE: tl.constexpr, PRECISION: tl.constexpr):
    """(Q, N) softmax weights in float32; columns beyond the tour have none."""
    score_QN = tl.dot(query_QK, tl.trans(key_NK), input_precision=PRECISION) * SCALE
    score_QN = tl.where(inside_N[None, :], score_QN, float("-inf"))
    mass_QN = tl.exp(score_QN - tl.max(score_QN, 1)[:, None])
    return mass_QN / tl.sum(mass_QN, 1)[:, None]


@triton.jit
def _attend_kernel(
    packed_ptr, seen_ptr, size,
    H: tl.constexpr, P: tl.constexpr, K: tl.constexpr, N: tl.constexpr, Q: tl.constexpr,
    SCALE: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    row, head = (tl.program_id(0) // H).to(tl.int64), tl.program_id(0) % H
    place_N = tl.arange(0, N)
    inside_N = place_N < size
    column_K = tl.arange(0, K) < P
    mask_NK = inside_N[:, None] & column_K[None, :]
    key_NK = tl.load(_head(packed_ptr, row, head, 1, place_N, size, 3, H, P, K), mask=mask_NK, other=0.0).to(DTYPE)
    value_NK = tl.load(_head(packed_ptr, row, head, 2, place_N, size, 3, H, P, K), mask=mask_NK, other=0.0).to(DTYPE)
    for start in range(0, N, Q):
        place_Q = start + tl.arange(0, Q)
        mask_QK = (place_Q < size)[:, None] & column_K[None, :]
        query_QK = tl.load(_head(packed_ptr, row, head, 0, place_Q, size, 3, H, P, K), mask=mask_QK, other=0.0)
        weight_QN = _weights(query_QK.to(DTYPE), key_NK, inside_N, SCALE, PRECISION).to(DTYPE)
        seen_QK = tl.dot(weight_QN, value_NK, input_precision=PRECISION)
        tl.store(_head(seen_ptr, row, head, 0, place_Q, size, 1, H, P, K), seen_QK, mask=mask_QK)


@triton.jit
def _attend_grad_kernel(
    packed_ptr, seen_grad_ptr, packed_grad_ptr, size,
    H: tl.constexpr, P: tl.constexpr, K: tl.constexpr, N: tl.constexpr, Q: tl.constexpr,
    SCALE: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    row, head = (tl.program_id(0) // H).to(tl.int64), tl.program_id(0) % H
    place_N = tl.arange(0, N)
    inside_N = place_N < size
    column_K = tl.arange(0, K) < P
    mask_NK = inside_N[:, None] & column_K[None, :]
    key_NK = tl.load(_head(packed_ptr, row, head, 1, place_N, size, 3, H, P, K), mask=mask_NK, other=0.0).to(DTYPE)
    value_NK = tl.load(_head(packed_ptr, row, head, 2, place_N, size, 3, H, P, K), mask=mask_NK, other=0.0).to(DTYPE)
    key_grad_NK = tl.zeros((N, K), tl.float32)
    value_grad_NK = tl.zeros((N, K), tl.float32)
    for start in range(0, N, Q):
        place_Q = start + tl.arange(0, Q)
        mask_QK = (place_Q < size)[:, None] & column_K[None, :]
        query_QK = tl.load(_head(packed_ptr, row, head, 0, place_Q, size, 3, H, P, K), mask=mask_QK, other=0.0)
        query_QK = query_QK.to(DTYPE)
        grad_QK = tl.load(_head(seen_grad_ptr, row, head, 0, place_Q, size, 1, H, P, K), mask=mask_QK, other=0.0)
        grad_QK = grad_QK.to(DTYPE)
        weight_QN = _weights(query_QK, key_NK, inside_N, SCALE, PRECISION)
        value_grad_NK = tl.dot(tl.trans(weight_QN.to(DTYPE)), grad_QK, value_grad_NK, input_precision=PRECISION)
        weight_grad_QN = tl.dot(grad_QK, tl.trans(value_NK), input_precision=PRECISION)
        inner_Q = tl.sum(weight_grad_QN * weight_QN, 1)
        score_grad_QN = (weight_QN * (weight_grad_QN - inner_Q[:, None]) * SCALE).to(DTYPE)
        query_grad_QK = tl.dot(score_grad_QN, key_NK, input_precision=PRECISION)
        key_grad_NK = tl.dot(tl.trans(score_grad_QN), query_QK, key_grad_NK, input_precision=PRECISION)
        tl.store(_head(packed_grad_ptr, row, head, 0, place_Q, size, 3, H, P, K), query_grad_QK, mask=mask_QK)
    tl.store(_head(packed_grad_ptr, row, head, 1, place_N, size, 3, H, P, K), key_grad_NK, mask=mask_NK)
    tl.store(_head(packed_grad_ptr, row, head, 2, place_N, size, 3, H, P, K), value_grad_NK, mask=mask_NK)


@triton.jit
def _norm_kernel(
    x_ptr, y_ptr, out_ptr, rate_ptr, mean_ptr, size,
    EPSILON: tl.constexpr, N: tl.constexpr, W: tl.constexpr, KEEP: tl.constexpr, POOL: tl.constexpr,
):  # fmt: skip
    """The normed sum x + y. `KEEP`: it is stored, with the inverse deviation. `POOL`: its mean over positions is."""
    row = tl.program_id(0).to(tl.int64)
    place_N, column_W = tl.arange(0, N), tl.arange(0, W)
    inside = (place_N < size)[:, None]
    within = row * size * W + place_N[:, None] * W + column_W[None, :]
    sum_NW = tl.load(x_ptr + within, mask=inside, other=0.0).to(tl.float32)
    sum_NW += tl.load(y_ptr + within, mask=inside, other=0.0).to(tl.float32)
    count = 1.0 * size * W  # a size of 1 is a plain number here
    away_NW = tl.where(inside, sum_NW - tl.sum(tl.sum(sum_NW, 1), 0) / count, 0.0)
    rate = tl.rsqrt(tl.sum(tl.sum(away_NW * away_NW, 1), 0) / (count - 1) + EPSILON)
    if KEEP:
        tl.store(out_ptr + within, away_NW * rate, mask=inside)
        tl.store(rate_ptr + row, rate)
    if POOL:
        tl.store(mean_ptr + row * W + column_W, tl.sum(away_NW, 0) * (rate / size))


@triton.jit
def _norm_grad_kernel(
    grad_ptr, out_ptr, rate_ptr, sum_grad_ptr, top_ptr, bias_ptr, size,
    N: tl.constexpr, W: tl.constexpr, POOL: tl.constexpr,
):  # fmt: skip
    """The gradient of x + y. `POOL`: from that of the means, over the `top` one, and added up over positions too."""
    row = tl.program_id(0).to(tl.int64)
    place_N, column_W = tl.arange(0, N), tl.arange(0, W)
    inside = (place_N < size)[:, None]
    within = row * size * W + place_N[:, None] * W + column_W[None, :]
    if POOL:
        grad_W = tl.load(grad_ptr + row * W + column_W) / tl.maximum(tl.load(top_ptr), 1e-30)
        grad_NW = tl.where(inside, tl.broadcast_to(grad_W[None, :], (N, W)), 0.0)
    else:
        grad_NW = tl.load(grad_ptr + within, mask=inside, other=0.0).to(tl.float32)
    out_NW = tl.load(out_ptr + within, mask=inside, other=0.0).to(tl.float32)
    count = 1.0 * size * W  # a size of 1 is a plain number here
    mean = tl.sum(tl.sum(grad_NW, 1), 0) / count
    along = tl.sum(tl.sum(grad_NW * out_NW, 1), 0) / (count - 1)
    value_NW = tl.where(inside, tl.load(rate_ptr + row) * (grad_NW - mean - out_NW * along), 0.0)
    tl.store(sum_grad_ptr + within, value_NW, mask=inside)
    if POOL:
        tl.store(bias_ptr + row * 2 * W + column_W, tl.sum(value_NW, 0))


@triton.jit
def _relu_grad_kernel(grad_ptr, hidden_ptr, bias_ptr, size, N: tl.constexpr, W: tl.constexpr):
    """Zero the gradient in place where the ReLU gave zero, and sum it over positions."""
    row = tl.program_id(0).to(tl.int64)
    place_N, column_W = tl.arange(0, N), tl.arange(0, W)
    inside = (place_N < size)[:, None]
    within = row * size * W + place_N[:, None] * W + column_W[None, :]
    awake = tl.load(hidden_ptr + within, mask=inside, other=0.0) > 0
    grad_NW = tl.where(awake, tl.load(grad_ptr + within, mask=inside, other=0.0).to(tl.float32), 0.0)
    tl.store(grad_ptr + within, grad_NW, mask=inside)
    tl.store(bias_ptr + row * 2 * W + W + column_W, tl.sum(grad_NW, 0))


def _attention_settings(
    packed_BNE: Tensor, heads: int, width: int, precision: str, cuts: dict[int, Cut]
) -> dict[str, Any]:
    stride, padded = packed_BNE.shape[2] // (3 * heads), power_of_two(packed_BNE.shape[1])
    return {
        "H": heads, "P": stride, "K": power_of_two(stride), "N": padded, "Q": cuts[padded].queries,
        "SCALE": width**-0.5, "DTYPE": triton_dtype(packed_BNE.dtype), "PRECISION": precision,
        "num_warps": cuts[padded].warps, "num_stages": 1,
    }  # fmt: skip


def attend(packed_BNE: Tensor, heads: int, width: int, precision: str) -> Tensor:
    """(B, N, H P): what each head sees, heads of `width` numbers in P columns."""
    rows, size, columns = packed_BNE.shape
    seen_BNE = torch.empty(rows, size, columns // 3, device=packed_BNE.device, dtype=packed_BNE.dtype)
    settings = _attention_settings(packed_BNE, heads, width, precision, FORWARD)
    _attend_kernel[(rows * heads,)](packed_BNE, seen_BNE, size, **settings)
    return seen_BNE


def attend_grad(seen_grad_BNE: Tensor, packed_BNE: Tensor, heads: int, width: int, precision: str) -> Tensor:
    """The gradient of the packed projections."""
    rows, size, columns = packed_BNE.shape
    grad_BNE = torch.empty(rows, size, columns, device=packed_BNE.device, dtype=packed_BNE.dtype)
    settings = _attention_settings(packed_BNE, heads, width, precision, BACKWARD)
    _attend_grad_kernel[(rows * heads,)](packed_BNE, seen_grad_BNE, grad_BNE, size, **settings)
    return grad_BNE


def _row_settings(x_BNW: Tensor) -> dict[str, Any]:
    padded, width = power_of_two(x_BNW.shape[1]), x_BNW.shape[2]
    return {"N": padded, "W": width, "num_warps": min(32, max(2, padded * width // 1024))}


def norm(x_BNW: Tensor, y_BNW: Tensor, *, pool: bool, keep: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """The normed sum, the inverse deviations (B,) and the means over positions (B, W), each if asked for."""
    rows, _, width = x_BNW.shape
    out_BNW = torch.empty(x_BNW.shape if keep else 0, device=x_BNW.device, dtype=x_BNW.dtype)
    rate_B = torch.empty(rows if keep else 0, device=x_BNW.device)
    mean_BW = torch.empty(rows if pool else 0, width, device=x_BNW.device)
    _norm_kernel[(rows,)](
        x_BNW, y_BNW, out_BNW, rate_B, mean_BW, x_BNW.shape[1],
        EPSILON=EPSILON, KEEP=keep, POOL=pool, **_row_settings(x_BNW),
    )  # fmt: skip
    return out_BNW, rate_B, mean_BW


def norm_grad(grad: Tensor, out_BNW: Tensor, rate_B: Tensor, top: Tensor, bias_B2W: Tensor, *, pool: bool) -> Tensor:
    """The gradient of the sum; with `pool` from that of the means, N / top times too large, and its sum in `bias`."""
    sum_grad = torch.empty(out_BNW.shape, device=out_BNW.device, dtype=out_BNW.dtype)
    _norm_grad_kernel[(len(out_BNW),)](
        grad, out_BNW, rate_B, sum_grad, top, bias_B2W, out_BNW.shape[1], POOL=pool, **_row_settings(out_BNW)
    )
    return sum_grad


def relu_grad_(grad_BNW: Tensor, hidden_BNW: Tensor, bias_B2W: Tensor) -> None:
    """In place; the sums over positions go to the second half of `bias`."""
    _relu_grad_kernel[(len(grad_BNW),)](grad_BNW, hidden_BNW, bias_B2W, grad_BNW.shape[1], **_row_settings(grad_BNW))
