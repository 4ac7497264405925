"""A layer's forward pass for training: what `triton_impl.py` does, keeping what the backward pass needs.

Kept are the attention module's normed output and the inverse deviations of both norms: one activation more to write,
where making them again would be a second attention.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import math
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.dual_layer.parts import attend, lines, seen, start, tile
from dact.kernels.dual_layer.reference import EPSILON, DualLayer
from dact.kernels.dual_layer.triton_impl import PackedLayer, _feed_forward, _normed_with_rate, stages_that_fit
from dact.kernels.launch import power_of_two, triton_dtype


@triton.jit
def _pack_kernel(
    packed_ptr, out_ptr, into_ptr, onward_ptr, project_ptr, out_half_ptr, into_half_ptr, onward_half_ptr, back_ptr,
    QUERY: tl.constexpr, D: tl.constexpr, H: tl.constexpr, C: tl.constexpr, DTYPE: tl.constexpr,
):  # fmt: skip
    """One head of one aspect, and a share of the matrices that only change their dtype."""
    index, aspect, head = tl.program_id(0), tl.program_id(0) // H, tl.program_id(0) % H
    K: tl.constexpr = D // H
    row_D, column_K = tl.arange(0, D), tl.arange(0, K)
    for part in tl.static_range(4):
        column = aspect * 4 * D * D + part * D + head * K
        weight_DK = tl.load(packed_ptr + column + row_D[:, None] * 4 * D + column_K[None, :])
        weight_DK = (weight_DK * (QUERY if part == 0 else 1.0)).to(DTYPE)
        target = (index * 4 + part) * D * K
        tl.store(tile(project_ptr + target, row_D, K), weight_DK)
        tl.store(tile(back_ptr + target, column_K, D), tl.trans(weight_DK))
    share = index * (2 * D * D // H) + tl.arange(0, 2 * D * D // H)
    tl.store(out_half_ptr + share, tl.load(out_ptr + share).to(DTYPE))
    share = index * (D * C // H) + tl.arange(0, D * C // H)
    tl.store(into_half_ptr + share, tl.load(into_ptr + share).to(DTYPE))
    tl.store(onward_half_ptr + share, tl.load(onward_ptr + share).to(DTYPE))


@triton.jit
def _embed_kernel(
    feature_ptr, place_ptr, embed_ptr, result_ptr, lines_all, N,
    F: tl.constexpr, R: tl.constexpr, D: tl.constexpr, DTYPE: tl.constexpr,
):  # fmt: skip
    at_R = tl.program_id(0).to(tl.int64) * R + tl.arange(0, R)
    inside_R = at_R < lines_all
    column_D = tl.arange(0, D)
    node_RD = tl.zeros((R, D), tl.float32)
    for feature in tl.static_range(F):
        value_R = tl.load(feature_ptr + at_R * F + feature, mask=inside_R, other=0.0)
        node_RD += value_R[:, None] * tl.load(embed_ptr + column_D * F + feature)[None, :]
    place_RD = tl.load(tile(place_ptr, at_R % N, D))
    tl.store(tile(result_ptr, at_R, D), node_RD.to(DTYPE), mask=inside_R[:, None])
    tl.store(tile(result_ptr, at_R + lines_all, D), place_RD.to(DTYPE), mask=inside_R[:, None])


@triton.jit
def _layer_kernel(
    x_ptr, normed_ptr, result_ptr, rate_ptr, project_ptr, out_ptr, into_ptr, into_bias_ptr, onward_ptr,
    onward_bias_ptr, rows, N,
    G: tl.constexpr, P: tl.constexpr, D: tl.constexpr, H: tl.constexpr, C: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr, EPSILON: tl.constexpr,
):  # fmt: skip
    K: tl.constexpr = D // H
    group = tl.program_id(0)
    first, row_G = start(group, N, G), group * G + tl.arange(0, G)
    on_R, inside_R = lines(group, 0, rows, N, G, P, G * P)
    x_ptr += first * D
    normed_ptr += first * D
    result_ptr += first * D
    stride = (rows * N).to(tl.int64) * D
    seen_RR = seen(0, N, P, G * P, G * P)
    node_RD = tl.load(tile(x_ptr, on_R, D), mask=inside_R[:, None], other=0.0)
    place_RD = tl.load(tile(x_ptr + stride, on_R, D), mask=inside_R[:, None], other=0.0)
    node_sum_RD = node_RD.to(tl.float32)
    place_sum_RD = place_RD.to(tl.float32)
    for head in range(H):
        node_sum_RD, place_sum_RD = attend(
            node_RD, place_RD, node_sum_RD, place_sum_RD, project_ptr, out_ptr, head, seen_RR,
            P, H, D, K, DTYPE, PRECISION,
        )  # fmt: skip
    count = N * D * 1.0
    for aspect in tl.static_range(2):
        y_RD = node_sum_RD if aspect == 0 else place_sum_RD
        y_RD, rate_G = _normed_with_rate(y_RD, inside_R, count, G, P, D, EPSILON)
        tl.store(rate_ptr + aspect * rows + row_G, rate_G, mask=row_G < rows)
        tl.store(tile(normed_ptr + aspect * stride, on_R, D), y_RD.to(DTYPE), mask=inside_R[:, None])
        y_RD = _feed_forward(
            y_RD, into_ptr + aspect * D * C, into_bias_ptr + aspect * C, onward_ptr + aspect * C * D,
            onward_bias_ptr + aspect * D, D, C, DTYPE, PRECISION,
        )  # fmt: skip
        y_RD, rate_G = _normed_with_rate(y_RD, inside_R, count, G, P, D, EPSILON)
        tl.store(rate_ptr + (2 + aspect) * rows + row_G, rate_G, mask=row_G < rows)
        value_RD = y_RD.to(result_ptr.dtype.element_ty)
        tl.store(tile(result_ptr + aspect * stride, on_R, D), value_RD, mask=inside_R[:, None])


class LayerWeights(NamedTuple):
    """A layer's weights as kernels read them."""

    packed: PackedLayer
    back_SED: Tensor
    """The projections' matrices turned: row (head, part, k) for the four parts of each head."""


def query_scale(width: int, heads: int) -> float:
    """What queries are multiplied by, so that scores are exponents of two."""
    return 1 / (math.sqrt(width // heads) * math.log(2))


def pack_once(layer: DualLayer, heads: int, dtype: torch.dtype) -> LayerWeights:
    """What `pack` gives, and the turned matrices, from one kernel: training packs anew after every step."""
    _, width, hidden = layer.into_SDC.shape
    device = layer.packed_SDE.device
    project = torch.empty(2, heads, 4, width, width // heads, device=device, dtype=dtype)
    back = torch.empty(2, 4 * width, width, device=device, dtype=dtype)
    sources = (layer.packed_SDE, layer.out_SED, layer.into_SDC, layer.onward_SCD)
    out, into, onward = (torch.empty(x.shape, device=device, dtype=dtype) for x in sources[1:])
    _pack_kernel[(2 * heads,)](
        *(x.contiguous() for x in sources), project, out, into, onward, back,
        QUERY=query_scale(width, heads), D=width, H=heads, C=hidden, DTYPE=triton_dtype(dtype),
    )  # fmt: skip
    biases = (x.float().flatten(1).contiguous() for x in (layer.into_bias_S1C, layer.onward_bias_S1D))
    into_bias, onward_bias = biases
    return LayerWeights(PackedLayer(project, out, into, into_bias, onward, onward_bias), back)


def embedded(features_BNF: Tensor, place_ND: Tensor, embed_DF: Tensor, dtype: torch.dtype) -> Tensor:
    """(2, B, N, D): embedded features, and the table of places in every row."""
    (rows, size, features), width = features_BNF.shape, place_ND.shape[1]
    x_SBND = torch.empty(2, rows, size, width, device=features_BNF.device, dtype=dtype)
    _embed_kernel[(triton.cdiv(rows * size, 64),)](
        features_BNF.contiguous(), place_ND.contiguous(), embed_DF.contiguous(), x_SBND, rows * size, size,
        F=features, R=64, D=width, DTYPE=triton_dtype(dtype),
    )  # fmt: skip
    return x_SBND


class Launch(NamedTuple):
    """Block sizes and compile options of a kernel."""

    lines: int
    """Of a program, at least; more where a row is longer."""
    warps: int
    stages: int
    """Above 1, the next loop's matrices are fetched while this one's are worked on."""
    registers: int | None = None
    """Per thread at most; fewer let more programs share a multiprocessor."""


SHORT, LONG = Launch(64, 4, 2, 168), Launch(128, 8, 3)
"""Of the forward kernel, for rows up to 64 and longer ones."""


def settings_of(size: int, packed: PackedLayer, precision: str, launch: Launch) -> dict[str, Any]:
    """What a kernel is compiled for."""
    _, width, hidden = packed.into_SDC.shape
    padded, dtype = power_of_two(size), packed.out_SED.dtype
    return {
        "G": max(1, launch.lines // padded), "P": padded, "D": width, "H": packed.project_SH4DK.shape[1], "C": hidden,
        "DTYPE": triton_dtype(dtype), "PRECISION": precision,
        "num_warps": launch.warps, "num_stages": stages_that_fit(launch.stages, dtype), "maxnreg": launch.registers,
    }  # fmt: skip


class Kept(NamedTuple):
    """What a layer's forward pass leaves for its backward pass."""

    x_SBND: Tensor
    normed_SBND: Tensor
    """Behind the attention module."""
    result_SBND: Tensor
    rate_2SB: Tensor
    """Inverse deviations of both norms."""


def forward(x_SBND: Tensor, packed: PackedLayer, precision: str, result: torch.dtype) -> Kept:
    """The layer's result in the dtype `result`, and what else is to be kept."""
    _, rows, size, width = x_SBND.shape
    normed_SBND = torch.empty(2, rows, size, width, device=x_SBND.device, dtype=x_SBND.dtype)
    result_SBND = torch.empty(2, rows, size, width, device=x_SBND.device, dtype=result)
    rate_2SB = torch.empty(2, 2, rows, device=x_SBND.device)
    settings = settings_of(size, packed, precision, SHORT if size <= 64 else LONG)
    _layer_kernel[(triton.cdiv(rows, settings["G"]),)](
        x_SBND, normed_SBND, result_SBND, rate_2SB, *packed, rows, size, EPSILON=EPSILON, **settings
    )
    return Kept(x_SBND, normed_SBND, result_SBND, rate_2SB)
