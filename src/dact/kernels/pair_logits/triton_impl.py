"""Pair logits on the GPU, forward and backward, a tile of pairs at a time; hidden units never leave the chip.

The backward kernel recomputes them, leaves the gradient of the scores (B, H, N, N) for two batched matrix
products, and adds up weight gradients over the tiles of each program, so that their sum has a fixed order.
Shape letters: as in tile.py, with B rows, H heads, N positions, G programs.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import MULTIPROCESSORS, float32_precision, triton_dtype
from dact.kernels.pair_logits.reference import Aggregation
from dact.kernels.pair_logits.tile import SLOTS, hidden_units, load_network, load_slots, pair_scores

TILE = 16
FORWARD_WARPS = 4
BACKWARD_WARPS = 8
PROGRAMS = MULTIPROCESSORS * 4
"""Programs of the backward kernel, each with its own partial sums."""


@triton.jit
def _tile(index, tiles):
    """Row, first tile, second tile of a running index."""
    return (index // (tiles * tiles)).to(tl.int64), (index // tiles) % tiles, index % tiles


@triton.jit
def _forward_kernel(
    query_ptr, key_ptr, w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, b3_ptr, logit_ptr, N,
    H: tl.constexpr, K: tl.constexpr, C: tl.constexpr, L: tl.constexpr, T: tl.constexpr, TILES: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    PARTS: tl.constexpr = L // H
    row = (tl.program_id(0) // TILES).to(tl.int64)
    first_T = (tl.program_id(0) % TILES) * T + tl.arange(0, T)
    w1_LC, b1_C, w2_CC, b2_C, w3_C = load_network(w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, H, PARTS, L, C, DTYPE)
    b3 = tl.load(b3_ptr).to(tl.float32)
    heads = row * H * N * K
    query_LTK = load_slots(query_ptr + heads, 0, N * K, K, first_T, N, H, PARTS, L, K // PARTS).to(DTYPE)
    for tile in range(TILES):
        second_T = tile * T + tl.arange(0, T)
        key_LTK = load_slots(key_ptr + heads, 0, N * K, K, second_T, N, H, PARTS, L, K // PARTS).to(DTYPE)
        score_PL = pair_scores(query_LTK, key_LTK, T, T, L, DTYPE, PRECISION)
        _, second_PC = hidden_units(score_PL, w1_LC, b1_C, w2_CC, b2_C, DTYPE, PRECISION)
        logit_TT = tl.reshape(tl.sum(second_PC * w3_C[None, :], 1) + b3, (T, T))
        inside_TT = (first_T < N)[:, None] & (second_T < N)[None, :]
        tl.store(logit_ptr + row * N * N + first_T[:, None] * N + second_T[None, :], logit_TT, mask=inside_TT)


@triton.jit
def _by_warp(value_PC, W: tl.constexpr):
    """(W, Q, C): the pairs that each of W warps holds after a matrix product, 16 at a time in turn."""
    R: tl.constexpr = value_PC.shape[0] // (16 * W)
    C: tl.constexpr = value_PC.shape[1]
    return tl.reshape(tl.permute(tl.reshape(value_PC, (R, W, 16, C)), (1, 0, 2, 3)), (W, R * 16, C))


@triton.jit
def _sum_pairs(value_PC, W: tl.constexpr):
    """(W, C): sums over the pairs of each warp."""
    return tl.sum(_by_warp(value_PC, W), 1)


@triton.jit
def _add_outer(left_PC, right_PD, sum_WCD, W: tl.constexpr, PRECISION: tl.constexpr):
    """Add the products left^T right over the pairs of each warp."""
    left_WCQ = tl.permute(_by_warp(left_PC, W), (0, 2, 1))
    return tl.dot(left_WCQ, _by_warp(right_PD, W), sum_WCD, input_precision=PRECISION)


@triton.jit
def _backward_kernel(
    query_ptr, key_ptr, w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, grad_ptr, scale_ptr,
    score_grad_ptr, w1_grad_ptr, w2_grad_ptr, rows_grad_ptr, b3_grad_ptr, N, tiles, total,
    H: tl.constexpr, K: tl.constexpr, C: tl.constexpr, L: tl.constexpr, T: tl.constexpr, W: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    PARTS: tl.constexpr = L // H
    program = tl.program_id(0)
    unit_C = tl.arange(0, C)
    head_H = tl.arange(0, H)
    slot_L = tl.arange(0, L)
    w1_LC, b1_C, w2_CC, b2_C, w3_C = load_network(w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, H, PARTS, L, C, DTYPE)
    w1_CH = tl.load(w1_ptr + unit_C[:, None] * H + head_H[None, :]).to(DTYPE)
    scale = tl.load(scale_ptr)
    w1_grad_WCL = tl.zeros((W, C, L), tl.float32)
    w2_grad_WCC = tl.zeros((W, C, C), tl.float32)
    b1_grad_WC = tl.zeros((W, C), tl.float32)
    b2_grad_WC = tl.zeros((W, C), tl.float32)
    w3_grad_WC = tl.zeros((W, C), tl.float32)
    b3_grad = 0.0
    for index in range(program, total, tl.num_programs(0)):
        row, first_tile, second_tile = _tile(index, tiles)
        first_T = first_tile * T + tl.arange(0, T)
        second_T = second_tile * T + tl.arange(0, T)
        inside_TT = (first_T < N)[:, None] & (second_T < N)[None, :]
        pair_TT = first_T[:, None] * N + second_T[None, :]
        heads = row * H * N * K
        query_LTK = load_slots(query_ptr + heads, 0, N * K, K, first_T, N, H, PARTS, L, K // PARTS).to(DTYPE)
        key_LTK = load_slots(key_ptr + heads, 0, N * K, K, second_T, N, H, PARTS, L, K // PARTS).to(DTYPE)
        score_PL = pair_scores(query_LTK, key_LTK, T, T, L, DTYPE, PRECISION)
        first_PC, second_PC = hidden_units(score_PL, w1_LC, b1_C, w2_CC, b2_C, DTYPE, PRECISION)
        grad_TT = tl.load(grad_ptr + row * N * N + pair_TT, mask=inside_TT, other=0.0).to(tl.float32) * scale
        grad_P = tl.reshape(grad_TT, (T * T,))
        b3_grad += tl.sum(grad_P, 0)
        w3_grad_WC += _sum_pairs(second_PC * grad_P[:, None], W)
        second_grad_PC = tl.where(second_PC > 0, grad_P[:, None] * w3_C[None, :], 0.0)
        b2_grad_WC += _sum_pairs(second_grad_PC, W)
        second_grad_PC = second_grad_PC.to(DTYPE)
        w2_grad_WCC = _add_outer(second_grad_PC, first_PC, w2_grad_WCC, W, PRECISION)
        first_grad_PC = tl.dot(second_grad_PC, tl.trans(w2_CC), input_precision=PRECISION)
        first_grad_PC = tl.where(first_PC > 0, first_grad_PC, 0.0)
        b1_grad_WC += _sum_pairs(first_grad_PC, W)
        first_grad_PC = first_grad_PC.to(DTYPE)
        w1_grad_WCL = _add_outer(first_grad_PC, score_PL, w1_grad_WCL, W, PRECISION)
        score_grad_PH = tl.dot(first_grad_PC, w1_CH, input_precision=PRECISION)
        score_grad_TTH = tl.reshape(score_grad_PH.to(DTYPE), (T, T, H))
        target_TTH = pair_TT[:, :, None] + head_H[None, None, :] * N * N
        tl.store(score_grad_ptr + row * H * N * N + target_TTH, score_grad_TTH, mask=inside_TT[:, :, None])
    part_W = program * W + tl.arange(0, W)
    unit_WC = part_W[:, None] * C + unit_C[None, :]
    tl.store(w1_grad_ptr + unit_WC[:, :, None] * L + slot_L[None, None, :], w1_grad_WCL)
    tl.store(w2_grad_ptr + unit_WC[:, :, None] * C + unit_C[None, None, :], w2_grad_WCC)
    row_WC = part_W[:, None] * 3 * C + unit_C[None, :]
    tl.store(rows_grad_ptr + row_WC, b1_grad_WC)
    tl.store(rows_grad_ptr + row_WC + C, b2_grad_WC)
    tl.store(rows_grad_ptr + row_WC + 2 * C, w3_grad_WC)
    tl.store(b3_grad_ptr + program, b3_grad)


def _shape(query_BHNK: Tensor, network: Aggregation) -> dict[str, Any]:
    """The sizes that kernels are compiled for; a ValueError for those they cannot handle."""
    heads, width, hidden = query_BHNK.shape[1], query_BHNK.shape[3], network.w2.shape[0]
    if not fits(heads, width, hidden):
        raise ValueError(f"no kernel for {heads} heads of {width} and {hidden} hidden units")
    return {"H": heads, "K": width, "C": hidden, "L": SLOTS, "T": TILE}


def fits(heads: int, width: int, hidden: int) -> bool:
    """Do the kernels handle these sizes? Slots of a head need 16 numbers each, and powers of two throughout."""
    slot = width * heads // SLOTS
    powers = all(number & (number - 1) == 0 for number in (heads, width, hidden))
    return powers and heads <= SLOTS and slot >= 16 and hidden >= 16


def forward(query_BHNK: Tensor, key_BHNK: Tensor, network: Aggregation, dtype: torch.dtype, precision: str) -> Tensor:
    """(B, N, N) float32 logits; matrix products take their inputs in `dtype` and add up in float32."""
    rows, _, size, _ = query_BHNK.shape
    tiles = triton.cdiv(size, TILE)
    logit_BNN = torch.empty(rows, size, size, device=query_BHNK.device)
    shape = _shape(query_BHNK, network)
    _forward_kernel[(rows * tiles,)](
        query_BHNK.contiguous(), key_BHNK.contiguous(), *(x.contiguous() for x in network), logit_BNN, size,
        **shape, TILES=tiles, DTYPE=triton_dtype(dtype), PRECISION=precision, num_warps=FORWARD_WARPS, num_stages=1,
    )  # fmt: skip
    return logit_BNN


def backward(
    grad_BNN: Tensor, query_BHNK: Tensor, key_BHNK: Tensor, network: Aggregation, dtype: torch.dtype, precision: str
) -> tuple[Tensor, ...]:
    """Float32 gradients of query, key and the six tensors of the network."""
    rows, heads, size, _ = query_BHNK.shape
    hidden, tiles = network.w2.shape[0], triton.cdiv(size, TILE)
    total = rows * tiles * tiles
    programs = min(total, PROGRAMS)
    query, key = query_BHNK.contiguous(), key_BHNK.contiguous()
    scale, unscale = _scales(grad_BNN, dtype)
    score_grad = torch.empty(rows, heads, size, size, device=query.device, dtype=dtype)
    parts = programs * BACKWARD_WARPS
    w1_grad = torch.empty(parts, hidden, SLOTS, device=query.device)
    w2_grad = torch.empty(parts, hidden, hidden, device=query.device)
    rows_grad = torch.empty(parts, 3, hidden, device=query.device)
    b3_grad = torch.empty(programs, device=query.device)
    _backward_kernel[(programs,)](
        query, key, *(x.contiguous() for x in network[:5]), grad_BNN.contiguous(), scale,
        score_grad, w1_grad, w2_grad, rows_grad, b3_grad, size, tiles, total,
        **_shape(query, network), W=BACKWARD_WARPS, DTYPE=triton_dtype(dtype), PRECISION=precision,
        num_warps=BACKWARD_WARPS, num_stages=1,
    )  # fmt: skip
    query_grad = torch.matmul(score_grad, key.to(dtype)).float()
    key_grad = torch.matmul(score_grad.transpose(2, 3), query.to(dtype)).float()
    b1_grad, b2_grad, w3_grad = rows_grad.sum(0).unbind(0)
    w1_grad = w1_grad.sum(0).view(hidden, heads, SLOTS // heads).sum(2)
    network_grad = (w1_grad, b1_grad, w2_grad.sum(0), b2_grad, w3_grad[None], b3_grad.sum(0, keepdim=True))
    return tuple(grad * unscale for grad in (query_grad, key_grad, *network_grad))


def _scales(grad_BNN: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Factors that scale gradients into float16's range and back."""
    if dtype != torch.float16:
        one = torch.ones((), device=grad_BNN.device)
        return one, one
    largest = grad_BNN.abs().amax().float().clamp(min=1e-30)
    return largest.reciprocal(), largest


class _PairLogits(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, dtype: torch.dtype, precision: str, *network: Tensor) -> Tensor:  # noqa: ANN401
        ctx.save_for_backward(query, key, *network)
        ctx.dtype, ctx.precision = dtype, precision
        return forward(query, key, Aggregation(*network), dtype, precision)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:  # noqa: ANN401
        query, key, *network = ctx.saved_tensors
        grads = backward(grad, query, key, Aggregation(*network), ctx.dtype, ctx.precision)
        query_grad, key_grad, *network_grad = (
            each.to(x.dtype) for each, x in zip(grads, (query, key, *network), strict=True)
        )
        return query_grad, key_grad, None, None, *network_grad


def pair_logits_triton(
    query_BHNK: Tensor,
    key_BHNK: Tensor,
    network: Aggregation,
    dtype: torch.dtype | None = None,
    precision: str | None = None,
) -> Tensor:
    """(B, N, N) float32 logits with gradients; `dtype` (the query's if None) is that of the matrix products."""
    dtype, precision = dtype or query_BHNK.dtype, precision or float32_precision()
    logit: Tensor = _PairLogits.apply(query_BHNK, key_BHNK, dtype, precision, *network)
    return logit
