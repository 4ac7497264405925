"""The last step of a layer's backward pass: from gradients of the projections to those of their matrices and the input.

Nothing here knows of rows: all positions of the batch are lines of one matrix, R of them in a block.
Shape letters: as in reference.py, with H heads, T programs that share the blocks, F features, L the same padded.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.dual_layer.forward import Kept, Launch, LayerWeights, query_scale
from dact.kernels.dual_layer.parts import matrix, saturated, tile
from dact.kernels.launch import power_of_two, triton_dtype

PROJECT, EMBED = Launch(64, 8, 3), Launch(64, 4, 2)
EMBED_PROGRAMS = 264


@triton.jit
def _project_kernel(
    x_ptr, packed_grad_ptr, back_ptr, sum_grad_ptr, part_ptr, part_stride, all_lines, blocks, QUERY,
    R: tl.constexpr, D: tl.constexpr, H: tl.constexpr, T: tl.constexpr, ONWARD: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """From the gradient of the projections to those of their matrices and, if it goes on, of the layer's input."""
    K: tl.constexpr = D // H
    E: tl.constexpr = 4 * D
    aspect, part = tl.program_id(0) % 2, tl.program_id(0) // 2
    back_ptr += aspect * E * D
    column_E = tl.arange(0, E)
    project_grad_DE = tl.zeros((D, E), tl.float32)
    back_ED = matrix(back_ptr, E, D)
    for block in range(part, blocks, T):
        at_R = (block * R + tl.arange(0, R)).to(tl.int64)
        mask_R1 = (at_R < all_lines)[:, None]
        at_R += aspect * all_lines
        packed_grad_RE = tl.load(tile(packed_grad_ptr, at_R, E), mask=mask_R1, other=0.0)
        x_RD = tl.load(tile(x_ptr, at_R, D), mask=mask_R1, other=0.0)
        project_grad_DE = tl.dot(tl.trans(x_RD), packed_grad_RE, project_grad_DE, input_precision=PRECISION)
        if ONWARD:
            grad_RD = tl.load(tile(sum_grad_ptr, at_R, D), mask=mask_R1, other=0.0).to(tl.float32)
            grad_RD = tl.dot(packed_grad_RE, back_ED, grad_RD, input_precision=PRECISION)
            tl.store(tile(sum_grad_ptr, at_R, D), saturated(grad_RD, DTYPE), mask=mask_R1)
    # Columns come as (head, part, k), and the parameter has them as (part, head, k).
    kind_E = (column_E // K) % 4
    project_grad_DE *= tl.where(kind_E == 0, QUERY, 1.0)[None, :]
    order_E = kind_E * D + (column_E // (4 * K)) * K + column_E % K
    target_DE = part * part_stride + (aspect * D + tl.arange(0, D)[:, None]) * E + order_E[None, :]
    tl.store(part_ptr + target_DE, project_grad_DE)


@triton.jit
def _embed_kernel(
    sum_grad_ptr, packed_grad_ptr, back_ptr, feature_ptr, part_ptr, all_lines, blocks,
    F: tl.constexpr, L: tl.constexpr, R: tl.constexpr, D: tl.constexpr, T: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The gradient of the node aspect's input, times the features it was embedded from (L, F padded)."""
    slot_L = tl.arange(0, L)
    embed_grad_LD = tl.zeros((L, D), tl.float32)
    for block in range(tl.program_id(0), blocks, T):
        at_R = (block * R + tl.arange(0, R)).to(tl.int64)
        mask_R1 = (at_R < all_lines)[:, None]
        grad_RD = tl.load(tile(sum_grad_ptr, at_R, D), mask=mask_R1, other=0.0).to(tl.float32)
        packed_grad_RE = tl.load(tile(packed_grad_ptr, at_R, 4 * D), mask=mask_R1, other=0.0)
        grad_RD = tl.dot(packed_grad_RE, matrix(back_ptr, 4 * D, D), grad_RD, input_precision=PRECISION)
        mask_RL = mask_R1 & (slot_L < F)[None, :]
        feature_RL = tl.load(feature_ptr + at_R[:, None] * F + slot_L[None, :], mask=mask_RL, other=0.0).to(DTYPE)
        half_RD = saturated(grad_RD, DTYPE)
        embed_grad_LD = tl.dot(tl.trans(feature_RL), half_RD, embed_grad_LD, input_precision=PRECISION)
    target_LD = (tl.program_id(0) * D + tl.arange(0, D)[None, :]) * F + slot_L[:, None]
    tl.store(part_ptr + target_LD, embed_grad_LD, mask=(slot_L < F)[:, None])


def project_gradient(
    kept: Kept, sum_grad_SBND: Tensor, packed_grad_SBNE: Tensor, weights: LayerWeights, part_TX: Tensor, precision: str,
    *, onward: bool,
) -> None:  # fmt: skip
    """Adds up the projections' gradient in `part_TX`; if it goes `onward`, the sum's becomes that of the input."""
    _, rows, size, width = sum_grad_SBND.shape
    heads = weights.packed.project_SH4DK.shape[1]
    _project_kernel[(2 * len(part_TX),)](
        kept.x_SBND, packed_grad_SBNE, weights.back_SED, sum_grad_SBND, part_TX, part_TX.stride(0),
        rows * size, triton.cdiv(rows * size, PROJECT.lines), query_scale(width, heads),
        R=PROJECT.lines, D=width, H=heads, T=len(part_TX), ONWARD=onward, DTYPE=triton_dtype(sum_grad_SBND.dtype),
        PRECISION=precision, num_warps=PROJECT.warps, num_stages=PROJECT.stages,
    )  # fmt: skip


def embed_gradient(
    sum_grad_SBND: Tensor, packed_grad_SBNE: Tensor, weights: LayerWeights, features_BNF: Tensor, precision: str
) -> Tensor:
    """(D, F), still scaled, from what the first layer's `backward` gave."""
    rows, size, features = features_BNF.shape
    width, blocks = sum_grad_SBND.shape[3], triton.cdiv(rows * size, EMBED.lines)
    parts = min(blocks, EMBED_PROGRAMS)
    part_TDF = torch.empty(parts, width, features, device=sum_grad_SBND.device)
    _embed_kernel[(parts,)](
        sum_grad_SBND, packed_grad_SBNE, weights.back_SED, features_BNF.contiguous(), part_TDF, rows * size, blocks,
        F=features, L=power_of_two(features), R=EMBED.lines, D=width, T=parts,
        DTYPE=triton_dtype(sum_grad_SBND.dtype), PRECISION=precision,
        num_warps=EMBED.warps, num_stages=EMBED.stages,
    )  # fmt: skip
    return part_TDF.sum(0)
