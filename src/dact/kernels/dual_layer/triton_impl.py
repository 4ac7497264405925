"""An encoder layer in one kernel: a program takes a few rows from end to end, and nothing of size N x N leaves it.

A program holds G rows of the batch, each padded to P positions, as R = G * P rows of its matrices. Positions
attend only to positions of their own row, and each row has norms of its own.
Shape letters: as in reference.py, with H heads.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import math
from dataclasses import dataclass
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.dual_layer.constants import PlaceConstants
from dact.kernels.dual_layer.parts import attend, attend_first
from dact.kernels.dual_layer.reference import EPSILON, DualLayer
from dact.kernels.launch import power_of_two, triton_dtype

LONGEST = 128
"""Positions that fit one program."""


@triton.jit
def _matrix(ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    return tl.load(ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])


@triton.jit
def _embedded(feature_ptr, embed_ptr, inside_R, R: tl.constexpr, F: tl.constexpr, D: tl.constexpr):
    """(R, D): the F features of each position times their rows of the embedding, in float32."""
    sum_RD = tl.zeros((R, D), tl.float32)
    for feature in tl.static_range(F):
        value_R = tl.load(feature_ptr + feature, mask=inside_R, other=0.0)
        sum_RD += value_R[:, None] * tl.load(embed_ptr + feature * D + tl.arange(0, D))[None, :]
    return sum_RD


@triton.jit
def _normed_with_rate(x_RD, inside_R, count, G: tl.constexpr, P: tl.constexpr, D: tl.constexpr, EPSILON: tl.constexpr):
    """Each of the G rows with mean 0 and variance 1 over its positions and features, zero in the padding; and the
    inverse deviations."""
    x_GPD = tl.reshape(tl.where(inside_R[:, None], x_RD, 0.0), (G, P, D))
    mean_G = tl.sum(tl.sum(x_GPD, 2), 1) / count
    away_GPD = x_GPD - mean_G[:, None, None]
    away_GPD = tl.where(tl.reshape(inside_R, (G, P))[:, :, None], away_GPD, 0.0)
    variance_G = tl.sum(tl.sum(away_GPD * away_GPD, 2), 1) / (count - 1)
    rate_G = tl.rsqrt(variance_G + EPSILON)
    return tl.reshape(away_GPD * rate_G[:, None, None], (G * P, D)), rate_G


@triton.jit
def _normed(x_RD, inside_R, count, G: tl.constexpr, P: tl.constexpr, D: tl.constexpr, EPSILON: tl.constexpr):
    """The same without the deviations."""
    return _normed_with_rate(x_RD, inside_R, count, G, P, D, EPSILON)[0]


@triton.jit
def _feed_forward(
    x_RD, into_ptr, into_bias_ptr, onward_ptr, onward_bias_ptr,
    D: tl.constexpr, C: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    hidden_RC = tl.dot(x_RD.to(DTYPE), _matrix(into_ptr, D, C), input_precision=PRECISION)
    hidden_RC = tl.maximum(hidden_RC + tl.load(into_bias_ptr + tl.arange(0, C))[None, :], 0.0).to(DTYPE)
    x_RD += tl.load(onward_bias_ptr + tl.arange(0, D))[None, :]
    return tl.dot(hidden_RC, _matrix(onward_ptr, C, D), x_RD, input_precision=PRECISION)


@triton.jit
def _layer_kernel(
    node_ptr, place_ptr, result_ptr, node_stride, place_stride, result_stride, embed_ptr, weight_ptr, share_ptr,
    reference_ptr, project_ptr, out_ptr, into_ptr, into_bias_ptr, onward_ptr, onward_bias_ptr, rows, N,
    F: tl.constexpr, G: tl.constexpr, P: tl.constexpr, D: tl.constexpr, H: tl.constexpr, C: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr, EPSILON: tl.constexpr,
):  # fmt: skip
    R: tl.constexpr = G * P
    K: tl.constexpr = D // H
    line_R = tl.arange(0, R)
    row_R = (tl.program_id(0) * G + line_R // P).to(tl.int64)
    place_R = line_R % P
    inside_R = (place_R < N) & (row_R < rows)
    within_RD = place_R[:, None] * D + tl.arange(0, D)[None, :]
    node_ptr += row_R * node_stride
    if F == 0:
        node_RD = tl.load(node_ptr[:, None] + within_RD, mask=inside_R[:, None], other=0.0)
    else:
        node_RD = _embedded(node_ptr + place_R * F, embed_ptr, inside_R, R, F, D)
    place_RD = tl.load(place_ptr + row_R[:, None] * place_stride + within_RD, mask=inside_R[:, None], other=0.0)
    # Lines beyond the last row see themselves, so that no line sees nothing.
    seen_RR = (line_R[:, None] // P == line_R[None, :] // P) & (place_R < N)[None, :]
    # Sums start from what is projected, as in training, which keeps the embedding rounded.
    node_RD = node_RD.to(DTYPE)
    node_sum_RD = node_RD.to(tl.float32)
    if weight_ptr is None:
        place_RD = place_RD.to(DTYPE)
    place_sum_RD = place_RD.to(tl.float32)
    for head in range(H):
        if weight_ptr is None:
            node_sum_RD, place_sum_RD = attend(
                node_RD, place_RD, node_sum_RD, place_sum_RD, project_ptr, out_ptr, head, seen_RR,
                P, H, D, K, DTYPE, PRECISION,
            )  # fmt: skip
        else:
            node_sum_RD, place_sum_RD = attend_first(
                node_RD, node_sum_RD, place_sum_RD, project_ptr, out_ptr, weight_ptr, share_ptr, reference_ptr, head,
                line_R, seen_RR, P, H, D, K, DTYPE, PRECISION,
            )  # fmt: skip
    count = (N * D).to(tl.float32)
    target_RD = row_R[:, None] * N * D + within_RD
    for aspect in tl.static_range(2):
        x_RD = node_sum_RD if aspect == 0 else place_sum_RD
        x_RD = _normed(x_RD, inside_R, count, G, P, D, EPSILON)
        x_RD = _feed_forward(
            x_RD, into_ptr + aspect * D * C, into_bias_ptr + aspect * C, onward_ptr + aspect * C * D,
            onward_bias_ptr + aspect * D, D, C, DTYPE, PRECISION,
        )  # fmt: skip
        x_RD = _normed(x_RD, inside_R, count, G, P, D, EPSILON)
        tl.store(
            result_ptr + aspect * result_stride + target_RD,
            x_RD.to(result_ptr.dtype.element_ty),
            mask=inside_R[:, None],
        )


class PackedLayer(NamedTuple):
    """A layer's weights in the order and dtype in which the kernel reads them."""

    project_SH4DK: Tensor
    """Per head: query (scaled for powers of two), key, value, reference."""
    out_SED: Tensor
    into_SDC: Tensor
    into_bias_SC: Tensor
    onward_SCD: Tensor
    onward_bias_SD: Tensor


def pack(layer: DualLayer, heads: int, dtype: torch.dtype) -> PackedLayer:
    """Pack the weights once for many calls. Matrices get the dtype of the products, biases stay float32."""
    width = layer.packed_SDE.shape[1] // heads
    project_SH4DK = layer.packed_SDE.view(2, -1, 4, heads, width).permute(0, 3, 2, 1, 4).clone()
    project_SH4DK[:, :, 0] *= width**-0.5 / math.log(2)
    return PackedLayer(
        project_SH4DK.to(dtype).contiguous(),
        layer.out_SED.to(dtype).contiguous(),
        layer.into_SDC.to(dtype).contiguous(),
        layer.into_bias_S1C.float().flatten(1).contiguous(),
        layer.onward_SCD.to(dtype).contiguous(),
        layer.onward_bias_S1D.float().flatten(1).contiguous(),
    )


def fits(size: int, width: int, heads: int, hidden: int) -> bool:
    """Does the kernel handle these sizes?"""
    powers = all(number & (number - 1) == 0 for number in (width, heads, hidden))
    return powers and size <= LONGEST and width <= 64 and width // heads >= 16 and 16 <= hidden <= 64


@dataclass(frozen=True, kw_only=True)
class Launch:
    """Block sizes and compile options of the kernel."""

    group: int
    """Rows of the batch that share a program."""
    warps: int
    stages: int = 1
    """Above 1, the weights of the next head are fetched while this one is worked on."""
    registers: int | None = None
    """Per thread at most; fewer let more programs share a multiprocessor."""


LAUNCHES = {
    16: Launch(group=4, warps=4, stages=2, registers=168),
    32: Launch(group=2, warps=4, stages=2, registers=168),
    64: Launch(group=1, warps=4, stages=2, registers=168),
    128: Launch(group=1, warps=8, stages=3),
}
"""By padded length."""


def stages_that_fit(stages: int, dtype: torch.dtype) -> int:
    """At most two in float32, which takes twice the shared memory."""
    return min(stages, 2) if dtype == torch.float32 else stages


def dual_layer_triton(
    node_BND: Tensor,
    place_BND: Tensor,
    packed: PackedLayer,
    *,
    precision: str = "tf32",
    embed_FD: Tensor | None = None,
    launch: Launch | None = None,
    constants: PlaceConstants | None = None,
) -> Tensor:
    """(2, B, N, D) after the layer, in the dtype of its matrices.

    `place_BND` may be one table expanded over the rows; where `constants` are those of that table, less is computed.
    With `embed_FD`, nodes are given by their F features and embedded on the way.
    """
    rows, size, width = node_BND.shape[0], *place_BND.shape[1:]
    heads, hidden, padded = packed.project_SH4DK.shape[1], packed.into_SDC.shape[2], power_of_two(size)
    if not fits(size, width, heads, hidden):
        raise ValueError(f"no kernel for {size} positions of {width} in {heads} heads and {hidden} hidden units")
    launch = launch or LAUNCHES[padded]
    dtype = packed.out_SED.dtype
    aspects_SBND = torch.empty(2, rows, size, width, device=node_BND.device, dtype=dtype)
    node_BND = node_BND.contiguous()
    scoring: tuple[Tensor | None, ...] = (None, None, None)
    if constants is not None:
        scoring = (constants.weight_HPP, constants.share_HP, constants.reference_HPK)
        place_BND = constants.sum_ND.expand_as(place_BND)
    place_BND = place_BND if place_BND.stride()[1:] == (width, 1) else place_BND.contiguous()
    _layer_kernel[(triton.cdiv(rows, launch.group),)](
        node_BND, place_BND, aspects_SBND, node_BND.stride(0), place_BND.stride(0), aspects_SBND.stride(0),
        embed_FD, *scoring, *packed, rows, size,
        F=0 if embed_FD is None else len(embed_FD), G=launch.group, P=padded, D=width, H=heads, C=hidden,
        DTYPE=triton_dtype(dtype), PRECISION=precision, EPSILON=EPSILON,
        num_warps=launch.warps, num_stages=stages_that_fit(launch.stages, dtype), maxnreg=launch.registers,
    )  # fmt: skip
    return aspects_SBND
