"""Log-probability and entropy on the GPU: scores and hidden units never leave the chip.

With s = 1 / (1 + exp(2 x)) for the network's output x, tanh(x) is 1 - 2 s, so a pair's mass exp(logit - clip) is
exp(-2 clip s): bounded, without looking for a peak. A program adds up the masses of a tile of first positions, a
second kernel those of a row. Sums have a fixed order. The s of every open pair is kept if there will be gradients.
Shape letters: as in reference.py and pair_logits/tile.py; T first and J second positions of a tile.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import float32_precision, power_of_two
from dact.kernels.move_log_prob.backward import backward
from dact.kernels.move_log_prob.pairs import (
    How,
    Kept,
    Launch,
    Pairs,
    default_launch,
    first_units,
    fits,
    load_heads,
    pair_scores,
)
from dact.kernels.move_log_prob.reference import FORBIDDEN
from dact.kernels.pair_logits.reference import Aggregation
from dact.kernels.pair_logits.tile import load_network
from dact.kernels.pick_move.logits import relu

ROWS = 32
"""Rows of a program that joins partial sums."""


@triton.jit
def _sums_kernel(
    query_ptr, key_ptr, w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, b3_ptr, open_ptr, move_ptr, share_ptr, part_ptr,
    query_aspect, key_aspect, slope, parts, N,
    H: tl.constexpr, PER: tl.constexpr, K: tl.constexpr, KEY: tl.constexpr, C: tl.constexpr, L: tl.constexpr,
    T: tl.constexpr, J: tl.constexpr, FIRST: tl.constexpr, SECOND: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr, LOG2: tl.constexpr, FORBIDDEN: tl.constexpr, KEEP: tl.constexpr,
):  # fmt: skip
    """For a tile of first positions: the masses, the masses times s, and the exponent of the chosen pair."""
    row = (tl.program_id(0) // FIRST).to(tl.int64)
    first_T = (tl.program_id(0) % FIRST) * T + tl.arange(0, T)
    w1_LC, b1_C, w2_CC, b2_C, w3_C = load_network(w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, H, L // H, L, C, DTYPE)
    w3_C = (w3_C * (2 / LOG2)).to(DTYPE).to(tl.float32)
    b3 = tl.load(b3_ptr).to(tl.float32) * (2 / LOG2)
    chosen = (tl.load(move_ptr + 2 * row) * N + tl.load(move_ptr + 2 * row + 1)).to(tl.int32)
    query_ptr += row * N * PER * K
    query_HTK = load_heads(query_ptr, query_aspect, first_T, N, H, PER, K, PER * K, DTYPE)
    mass_TJ = tl.zeros((T, J), tl.float32)
    weighted_TJ = tl.zeros((T, J), tl.float32)
    exponent_TJ = tl.zeros((T, J), tl.float32)
    for tile in range(SECOND):
        second_J = tile * J + tl.arange(0, J)
        key_HJK = load_heads(key_ptr + row * N * KEY, key_aspect, second_J, N, H, PER, K, KEY, DTYPE)
        score_PL = pair_scores(query_HTK, key_HJK, L, DTYPE, PRECISION)
        first_PC = first_units(score_PL, w1_LC, b1_C, DTYPE, PRECISION)
        second_PC = relu(tl.dot(first_PC, w2_CC, input_precision=PRECISION) + b2_C[None, :], DTYPE)
        x_TJ = tl.reshape(tl.sum(second_PC.to(tl.float32) * w3_C[None, :], 1) + b3, (T, J))
        share_TJ = 1.0 / (1.0 + tl.exp2(x_TJ))
        pair_TJ = first_T[:, None] * N + second_J[None, :]
        inside_TJ = (first_T < N)[:, None] & (second_J < N)[None, :]
        open_TJ = tl.load(open_ptr + row * N * N + pair_TJ, mask=inside_TJ, other=0) != 0
        if KEEP:
            tl.store(share_ptr + row * N * N + pair_TJ, tl.where(open_TJ, share_TJ, -1.0), mask=inside_TJ)
        each_TJ = tl.where(open_TJ, -slope * share_TJ, FORBIDDEN)
        exponent_TJ += tl.where(inside_TJ & (pair_TJ == chosen), each_TJ, 0.0)
        each_TJ = tl.exp2(each_TJ)
        mass_TJ += each_TJ
        weighted_TJ += each_TJ * share_TJ
    target = part_ptr + tl.program_id(0)
    tl.store(target, tl.sum(mass_TJ))
    tl.store(target + parts, tl.sum(weighted_TJ))
    tl.store(target + 2 * parts, tl.sum(exponent_TJ))


@triton.jit
def _join_kernel(
    part_ptr, log_prob_ptr, entropy_ptr, total_ptr, slope, uniform, parts, rows,
    R: tl.constexpr, FIRST: tl.constexpr, F: tl.constexpr, LOG2: tl.constexpr,
):  # fmt: skip
    """The sums of R rows; a row without an open pair counts as uniform over all of them, as in the reference."""
    row_R = tl.program_id(0) * R + tl.arange(0, R)
    tile_F = tl.arange(0, F)
    part_RF = row_R[:, None] * FIRST + tile_F[None, :]
    inside_RF = (row_R < rows)[:, None] & (tile_F < FIRST)[None, :]
    total_R = tl.sum(tl.load(part_ptr + part_RF, mask=inside_RF, other=0.0), 1)
    weighted_R = tl.sum(tl.load(part_ptr + parts + part_RF, mask=inside_RF, other=0.0), 1)
    exponent_R = tl.sum(tl.load(part_ptr + 2 * parts + part_RF, mask=inside_RF, other=0.0), 1)
    some_R = total_R > 0
    safe_R = tl.where(some_R, total_R, 1.0)
    log_prob_R = tl.where(some_R, exponent_R * LOG2 - tl.log(safe_R), -uniform)
    entropy_R = tl.where(some_R, tl.log(safe_R) + slope * LOG2 * weighted_R / safe_R, uniform)
    tl.store(log_prob_ptr + row_R, log_prob_R, mask=row_R < rows)
    tl.store(entropy_ptr + row_R, entropy_R, mask=row_R < rows)
    tl.store(total_ptr + row_R, total_R, mask=row_R < rows)


def forward(pairs: Pairs, keep: bool) -> tuple[Tensor, Tensor, Kept]:
    """Log-probability and entropy of each row, and what the gradients will need."""
    _, rows, size, _ = pairs.query_SBNE.shape
    how, device, settings = pairs.how, pairs.query_SBNE.device, pairs.settings()
    launch = how.launch
    first, second = triton.cdiv(size, launch.first), triton.cdiv(size, launch.forward_second)
    share_BNN = torch.empty(rows if keep else 0, size, size, device=device)
    part_3BF = torch.empty(3, rows, first, device=device)
    _sums_kernel[(rows * first,)](
        *pairs.tensors(), how.open_BNN, how.move_B2, share_BNN, part_3BF,
        *pairs.aspect_strides(), how.slope(), rows * first, size,
        **settings, T=launch.first, J=launch.forward_second, FIRST=first, SECOND=second,
        FORBIDDEN=FORBIDDEN / settings["LOG2"], KEEP=keep,
        num_warps=launch.forward_warps, num_stages=launch.forward_stages,
    )  # fmt: skip
    log_prob_B, entropy_B, total_B = (torch.empty(rows, device=device) for _ in range(3))
    _join_kernel[(triton.cdiv(rows, ROWS),)](
        part_3BF, log_prob_B, entropy_B, total_B, how.slope(), 2 * math.log(size), rows * first, rows,
        R=ROWS, FIRST=first, F=power_of_two(first, 1), LOG2=settings["LOG2"], num_warps=1,
    )  # fmt: skip
    return log_prob_B, entropy_B, Kept(share_BNN, total_B, entropy_B)


class _MoveLogProb(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, how: How, query: Tensor, key: Tensor, *network: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ANN401
        pairs = Pairs(query, key, Aggregation(*network), how)
        log_prob_B, entropy_B, kept = forward(pairs, keep=any(ctx.needs_input_grad))
        ctx.save_for_backward(*kept, query, key, *network)
        ctx.how = how
        ctx.set_materialize_grads(False)
        return log_prob_B, entropy_B

    @staticmethod
    def backward(ctx: Any, grad_B: Tensor | None, entropy_grad_B: Tensor | None) -> Any:  # noqa: ANN401
        share_BNN, total_B, entropy_B, query, key, *network = ctx.saved_tensors
        pairs = Pairs(query, key, Aggregation(*network), ctx.how)
        grad_B = torch.zeros_like(total_B) if grad_B is None else grad_B
        return None, *backward(pairs, Kept(share_BNN, total_B, entropy_B), grad_B, entropy_grad_B)


def move_log_prob_triton(
    query_SBNE: Tensor,
    key_SBNE: Tensor,
    network: Aggregation,
    *,
    clip: float,
    open_BNN: Tensor,
    move_B2: Tensor,
    dtype: torch.dtype | None = None,
    precision: str | None = None,
    launch: Launch | None = None,
) -> tuple[Tensor, Tensor]:
    """As the reference, both with gradients; `dtype` (the query's if None) is that of the matrix products."""
    if not fits(query_SBNE, network):
        shape = f"{network.w1.shape[1]} heads in queries of {tuple(query_SBNE.shape)}"
        raise ValueError(f"no kernel for {shape} and {network.w2.shape[0]} hidden units")
    dtype, precision = dtype or query_SBNE.dtype, precision or float32_precision()
    how = How(open_BNN.contiguous(), move_B2.contiguous(), clip, dtype, precision, launch or default_launch(dtype))
    tensors = (x.contiguous() for x in (query_SBNE, key_SBNE, *network))
    log_prob_B, entropy_B = _MoveLogProb.apply(how, *tensors)
    return log_prob_B, entropy_B
