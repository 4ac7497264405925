"""A layer's backward pass in three kernels; softmax weights and hidden units are recomputed.

    feed-forward   gradient of the result -> of the sum before the first norm        programs of one aspect
    attention      -> gradients of queries, keys, values, references                 programs of one head and aspect
    projections    -> gradient of the input (projection.py)                          programs of one aspect

Programs go through the batch in strides and add up weight gradients on the chip. What each has added up is summed in
the end, in a fixed order: the same inputs give the same bits. Gradients travel in the dtype of the products, scaled
so that the largest one that comes in is TOP; where float16 cannot hold a number, it takes its largest instead.
Shape letters: as in reference.py, with H heads, M queries of a tile, T programs that share the rows.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.dual_layer.forward import Kept, Launch, LayerWeights, settings_of
from dact.kernels.dual_layer.parts import (
    lines,
    matrix,
    norm_gradient,
    rows_of,
    saturated,
    seen,
    softmax2,
    start,
    tile,
)
from dact.kernels.launch import MULTIPROCESSORS

TOP = 16.0
"""Largest incoming gradient after scaling: 2^12 times below the largest number of float16, 2^18 times above the
smallest that it holds in full."""
SHORT_ATTENTION, LONG_ATTENTION = Launch(64, 4, 1), Launch(128, 8, 1)
"""Lines are those of a tile of queries: all there are. On an H200 tiles of 64 queries that pass 128 keys, in a loop or
one after the other, end in an illegal access, though no pointer leaves its tensor (Triton 3.6)."""
FEED_FORWARD = Launch(128, 8, 2)


@triton.jit
def _feed_forward_kernel(
    grad_ptr, largest_ptr, normed_ptr, result_ptr, rate_ptr, into_ptr, into_bias_ptr, onward_ptr,
    sum_grad_ptr, part_ptr, part_stride, rows, N, groups,
    G: tl.constexpr, P: tl.constexpr, D: tl.constexpr, H: tl.constexpr, C: tl.constexpr, T: tl.constexpr,
    TOP: tl.constexpr, SCALED: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """From the gradient of the layer's result to that of the sum before its first norm."""
    aspect, part = tl.program_id(0) % 2, tl.program_id(0) // 2
    into_DC, onward_CD = matrix(into_ptr + aspect * D * C, D, C), matrix(onward_ptr + aspect * C * D, C, D)
    into_bias_C = tl.load(into_bias_ptr + aspect * C + tl.arange(0, C))
    scale = 1.0 if SCALED else TOP / tl.maximum(tl.load(largest_ptr), 1e-30)
    count = N * D * 1.0
    into_grad_DC = tl.zeros((D, C), tl.float32)
    onward_grad_CD = tl.zeros((C, D), tl.float32)
    into_bias_grad_C = tl.zeros((C,), tl.float32)
    onward_bias_grad_D = tl.zeros((D,), tl.float32)
    for group in range(part, groups, T):
        on_R, inside_R = lines(group, 0, rows, N, G, P, G * P)
        first, row_R = (start(group, N, G) + aspect * rows * N) * D, rows_of(group, 0, G, P, G * P)
        grad_RD = tl.load(tile(grad_ptr + first, on_R, D), mask=inside_R[:, None], other=0.0) * scale
        grad_RD = saturated(grad_RD, DTYPE).to(tl.float32)
        result_RD = tl.load(tile(result_ptr + first, on_R, D), mask=inside_R[:, None], other=0.0).to(tl.float32)
        normed_RD = tl.load(tile(normed_ptr + first, on_R, D), mask=inside_R[:, None], other=0.0)

        rate_R = tl.load(rate_ptr + (2 + aspect) * rows + row_R, mask=inside_R, other=0.0)
        grad_RD = norm_gradient(grad_RD, result_RD, rate_R, inside_R, count, G, P)
        half_RD = saturated(grad_RD, DTYPE)
        hidden_RC = tl.dot(normed_RD, into_DC, input_precision=PRECISION) + into_bias_C[None, :]
        hidden_RC = tl.maximum(hidden_RC, 0.0).to(DTYPE)
        onward_grad_CD = tl.dot(tl.trans(hidden_RC), half_RD, onward_grad_CD, input_precision=PRECISION)
        onward_bias_grad_D += tl.sum(grad_RD, 0)
        hidden_grad_RC = tl.dot(half_RD, tl.trans(onward_CD), input_precision=PRECISION)
        hidden_grad_RC = tl.where(hidden_RC > 0, hidden_grad_RC, 0.0)
        into_bias_grad_C += tl.sum(hidden_grad_RC, 0)
        hidden_half_RC = saturated(hidden_grad_RC, DTYPE)
        into_grad_DC = tl.dot(tl.trans(normed_RD), hidden_half_RC, into_grad_DC, input_precision=PRECISION)
        grad_RD = tl.dot(hidden_half_RC, tl.trans(into_DC), grad_RD, input_precision=PRECISION)

        rate_R = tl.load(rate_ptr + aspect * rows + row_R, mask=inside_R, other=0.0)
        grad_RD = norm_gradient(grad_RD, normed_RD.to(tl.float32), rate_R, inside_R, count, G, P)
        tl.store(tile(sum_grad_ptr + first, on_R, D), saturated(grad_RD, DTYPE), mask=inside_R[:, None])
    # A part is (into, into's bias, onward, onward's bias), each of both aspects.
    part_ptr += part * part_stride
    tl.store(tile(part_ptr + aspect * D * C, tl.arange(0, D), C), into_grad_DC)
    part_ptr += 2 * D * C
    tl.store(part_ptr + aspect * C + tl.arange(0, C), into_bias_grad_C)
    part_ptr += 2 * C
    tl.store(tile(part_ptr + aspect * C * D, tl.arange(0, C), D), onward_grad_CD)
    part_ptr += 2 * C * D
    tl.store(part_ptr + aspect * D + tl.arange(0, D), onward_bias_grad_D)


@triton.jit
def _attended(
    own_ptr, other_ptr, on_R, inside_R, project_ptr, reference_ptr,
    D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """(R, K) each: keys and values of an aspect's own lines, and referential values of the other's."""
    own_RD = tl.load(tile(own_ptr, on_R, D), mask=inside_R[:, None], other=0.0)
    key_RK = tl.dot(own_RD, matrix(project_ptr + D * K, D, K), input_precision=PRECISION).to(DTYPE)
    value_RK = tl.dot(own_RD, matrix(project_ptr + 2 * D * K, D, K), input_precision=PRECISION).to(DTYPE)
    other_RD = tl.load(tile(other_ptr, on_R, D), mask=inside_R[:, None], other=0.0)
    reference_RK = tl.dot(other_RD, matrix(reference_ptr, D, K), input_precision=PRECISION).to(DTYPE)
    return key_RK, value_RK, reference_RK


@triton.jit
def _gathering(
    grad_ptr, on_M, inside_M, out_ptr, weight_MR, value_RK, value_grad_RK, out_grad_DK,
    D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Values gathered by weights and multiplied by rows of an output matrix, given the gradient of the product: the
    gradient of what was gathered, the mean gradient of each line's weights, and the sums of the values' gradient and
    of the rows' (turned) with more added."""
    grad_MD = tl.load(tile(grad_ptr, on_M, D), mask=inside_M[:, None], other=0.0)
    out_KD = matrix(out_ptr, K, D)
    grad_MK = saturated(tl.dot(grad_MD, tl.trans(out_KD), input_precision=PRECISION), DTYPE)
    value_grad_RK = tl.dot(tl.trans(weight_MR), grad_MK, value_grad_RK, input_precision=PRECISION)
    gathered_MK = tl.dot(weight_MR, value_RK, input_precision=PRECISION)
    mean_M = tl.sum(gathered_MK * grad_MK, 1)
    out_grad_DK = tl.dot(tl.trans(grad_MD), gathered_MK.to(DTYPE), out_grad_DK, input_precision=PRECISION)
    return grad_MK, mean_M, value_grad_RK, out_grad_DK


@triton.jit
def _softmax2_gradient(weight_MR, weight_grad_MR, mean_M):
    """Gradient of softmax2's scores from that of its weights and the weights' mean of it."""
    LN2: tl.constexpr = 0.6931471805599453
    return weight_MR * LN2 * (weight_grad_MR - mean_M[:, None])


@triton.jit
def _attention_kernel(
    x_ptr, sum_grad_ptr, project_ptr, out_ptr, packed_grad_ptr, part_ptr, part_stride, rows, N, groups,
    G: tl.constexpr, P: tl.constexpr, M: tl.constexpr, D: tl.constexpr, H: tl.constexpr, C: tl.constexpr,
    T: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One head of one aspect's scores: from the gradient of the sum before the first norm to those of query, key,
    value and the other aspect's referential value, and of the rows of both aspects' output matrices.

    Keys stay here while tiles of M queries pass.
    """
    R: tl.constexpr = G * P
    K: tl.constexpr = D // H
    aspect, head, part = tl.program_id(0) % 2, (tl.program_id(0) // 2) % H, tl.program_id(0) // (2 * H)
    own_ptr = project_ptr + (aspect * H + head) * 4 * D * K
    reference_ptr = project_ptr + (((1 - aspect) * H + head) * 4 + 3) * D * K
    own_row, seen_row = (2 * aspect * H + head) * K, ((3 - 2 * aspect) * H + head) * K
    column_K = head * 4 * K + tl.arange(0, K)
    own_out_DK = tl.zeros((D, K), tl.float32)
    seen_out_DK = tl.zeros((D, K), tl.float32)
    for group in range(part, groups, T):
        on_R, inside_R = lines(group, 0, rows, N, G, P, R)
        first = start(group, N, G)
        own, other = first + aspect * rows * N, first + (1 - aspect) * rows * N
        key_RK, value_RK, reference_RK = _attended(
            x_ptr + own * D, x_ptr + other * D, on_R, inside_R, own_ptr, reference_ptr, D, K, DTYPE, PRECISION
        )
        key_grad_RK = tl.zeros((R, K), tl.float32)
        value_grad_RK = tl.zeros((R, K), tl.float32)
        reference_grad_RK = tl.zeros((R, K), tl.float32)
        own_packed_ptr, other_packed_ptr = packed_grad_ptr + own * 4 * D, packed_grad_ptr + other * 4 * D
        for begin in range(0, R, M):
            on_M, inside_M = lines(group, begin, rows, N, G, P, M)
            own_MD = tl.load(tile(x_ptr + own * D, on_M, D), mask=inside_M[:, None], other=0.0)
            query_MK = tl.dot(own_MD, matrix(own_ptr, D, K), input_precision=PRECISION).to(DTYPE)
            weight_MR = softmax2(query_MK, key_RK, seen(begin, N, P, M, R), PRECISION).to(DTYPE)
            own_grad_MK, mean_M, value_grad_RK, own_out_DK = _gathering(
                sum_grad_ptr + own * D, on_M, inside_M, out_ptr + own_row * D, weight_MR,
                value_RK, value_grad_RK, own_out_DK, D, K, DTYPE, PRECISION,
            )  # fmt: skip
            seen_grad_MK, more_M, reference_grad_RK, seen_out_DK = _gathering(
                sum_grad_ptr + other * D, on_M, inside_M, out_ptr + seen_row * D, weight_MR,
                reference_RK, reference_grad_RK, seen_out_DK, D, K, DTYPE, PRECISION,
            )  # fmt: skip
            weight_grad_MR = tl.dot(own_grad_MK, tl.trans(value_RK), input_precision=PRECISION)
            weight_grad_MR = tl.dot(seen_grad_MK, tl.trans(reference_RK), weight_grad_MR, input_precision=PRECISION)
            score_grad_MR = saturated(_softmax2_gradient(weight_MR, weight_grad_MR, mean_M + more_M), DTYPE)
            query_grad_MK = saturated(tl.dot(score_grad_MR, key_RK, input_precision=PRECISION), DTYPE)
            target_MK = on_M[:, None] * 4 * D + column_K[None, :]
            tl.store(own_packed_ptr + target_MK, query_grad_MK, mask=inside_M[:, None])
            key_grad_RK = tl.dot(tl.trans(score_grad_MR), query_MK, key_grad_RK, input_precision=PRECISION)
        target_RK = on_R[:, None] * 4 * D + column_K[None, :]
        tl.store(own_packed_ptr + target_RK + K, saturated(key_grad_RK, DTYPE), mask=inside_R[:, None])
        tl.store(own_packed_ptr + target_RK + 2 * K, saturated(value_grad_RK, DTYPE), mask=inside_R[:, None])
        tl.store(other_packed_ptr + target_RK + 3 * K, saturated(reference_grad_RK, DTYPE), mask=inside_R[:, None])
    # What was added up is turned: rows of the output matrices are its columns.
    turned_DK = tl.arange(0, K)[None, :] * D + tl.arange(0, D)[:, None]
    part_ptr += part * part_stride
    tl.store(part_ptr + own_row * D + turned_DK, own_out_DK)
    tl.store(part_ptr + seen_row * D + turned_DK, seen_out_DK)


def extents(weights: LayerWeights) -> list[int]:
    """How many numbers each of a layer's parameters has, in their order."""
    packed = weights.packed
    matrices = (packed.project_SH4DK, packed.out_SED, packed.into_SDC, packed.into_bias_SC, packed.onward_SCD)
    return [x.numel() for x in (*matrices, packed.onward_bias_SD)]


def make_parts(layers: int, rows: int, weights: LayerWeights) -> Tensor:
    """Room for the sums of every program, (layers, T, X): X numbers are a layer's parameters one after the other."""
    parts = min(rows, MULTIPROCESSORS // 2)
    return torch.empty(layers, parts, sum(extents(weights)), device=weights.back_SED.device)


def backward(
    grad_SBND: Tensor, largest: Tensor | None, kept: Kept, weights: LayerWeights, part_TX: Tensor, precision: str
) -> tuple[Tensor, Tensor]:
    """Gradients of the sum before the first norm, (S, B, N, D), and of the projections, (S, B, N, 4 D).

    `largest` is the greatest absolute value of a gradient yet to be scaled. Sums go to `part_TX`, but for those of
    the projections' matrices.
    """
    sum_grad = _feed_forward(grad_SBND, largest, kept, weights, part_TX, precision)
    _, rows, size, width = sum_grad.shape
    launch = SHORT_ATTENTION if size <= SHORT_ATTENTION.lines else LONG_ATTENTION
    packed, settings = weights.packed, settings_of(size, weights.packed, precision, launch)
    packed_grad = torch.empty(2, rows, size, 4 * width, device=sum_grad.device, dtype=sum_grad.dtype)
    _attention_kernel[(2 * settings["H"] * len(part_TX),)](
        kept.x_SBND, sum_grad, packed.project_SH4DK, packed.out_SED, packed_grad,
        part_TX[:, packed.project_SH4DK.numel() :], part_TX.stride(0), rows, size, triton.cdiv(rows, settings["G"]),
        T=len(part_TX), M=launch.lines, **settings,
    )  # fmt: skip
    return sum_grad, packed_grad


def _feed_forward(
    grad_SBND: Tensor, largest: Tensor | None, kept: Kept, weights: LayerWeights, part_TX: Tensor, precision: str
) -> Tensor:
    _, rows, size, _ = kept.x_SBND.shape
    packed = weights.packed
    settings = settings_of(size, packed, precision, FEED_FORWARD)
    sum_grad = torch.empty(kept.x_SBND.shape, device=grad_SBND.device, dtype=kept.x_SBND.dtype)
    _feed_forward_kernel[(2 * len(part_TX),)](
        grad_SBND, largest, kept.normed_SBND, kept.result_SBND, kept.rate_2SB,
        packed.into_SDC, packed.into_bias_SC, packed.onward_SCD, sum_grad,
        part_TX[:, sum(extents(weights)[:2]) :], part_TX.stride(0), rows, size, triton.cdiv(rows, settings["G"]),
        T=len(part_TX), TOP=TOP, SCALED=largest is None, **settings,
    )  # fmt: skip
    return sum_grad
