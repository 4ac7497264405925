"""Contexts and queries: a program takes one aspect of a few short rows, or lines of long rows whose maxima are known.

Shape letters: as in reference.py; G rows of P padded positions share a program as R = G * P lines.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import power_of_two, triton_dtype

LINES = 64
"""Short rows share a program up to this many lines; longer rows are pooled beforehand."""
LONG_LINES = 128
"""Lines of a program when rows are long."""


@triton.jit
def _matrix(ptr, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    return tl.load(ptr + tl.arange(0, ROWS)[:, None] * stride + tl.arange(0, COLUMNS)[None, :])


@triton.jit
def _write(
    x_RD, pooled_RD, line_R, inside_R1, aspect, local_ptr, whole_ptr, query_matrix_ptr, context_ptr, query_ptr,
    D: tl.constexpr, HEADS: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Contexts and queries of some lines, given also what was pooled over the row of each."""
    column_D = tl.arange(0, D)
    context_RD = tl.dot(x_RD.to(DTYPE), _matrix(local_ptr + aspect * D * D, D, D, D), input_precision=PRECISION)
    whole_DD = _matrix(whole_ptr + aspect * D * D, D, D, D)
    context_RD = tl.dot(pooled_RD.to(DTYPE), whole_DD, context_RD, input_precision=PRECISION).to(DTYPE)
    tl.store(context_ptr + line_R[:, None] * D + column_D[None, :], context_RD, mask=inside_R1)
    for head in range(HEADS):
        matrix_DD = _matrix(query_matrix_ptr + aspect * D * HEADS * D + head * D, HEADS * D, D, D)
        query_RD = tl.dot(context_RD, matrix_DD, input_precision=PRECISION).to(DTYPE)
        target_RD = (line_R[:, None] * HEADS + head) * D + column_D[None, :]
        tl.store(query_ptr + target_RD, query_RD, mask=inside_R1)


@triton.jit
def _context_kernel(
    x_ptr, local_ptr, whole_ptr, query_matrix_ptr, context_ptr, query_ptr, rows, N,
    G: tl.constexpr, P: tl.constexpr, D: tl.constexpr, HEADS: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    R: tl.constexpr = G * P
    aspect = tl.program_id(1)
    line_R = tl.arange(0, R)
    row_R = tl.program_id(0) * G + line_R // P
    place_R = line_R % P
    inside_R1 = ((place_R < N) & (row_R < rows))[:, None]
    line_R = (aspect * rows + row_R).to(tl.int64) * N + place_R
    x_RD = tl.load(x_ptr + line_R[:, None] * D + tl.arange(0, D)[None, :], mask=inside_R1, other=0.0)
    x_GPD = tl.reshape(tl.where(inside_R1, x_RD.to(tl.float32), float("-inf")), (G, P, D))
    pooled_GPD = tl.broadcast_to(tl.max(x_GPD, 1)[:, None, :], (G, P, D))
    # Beyond the last row there is nothing to pool.
    pooled_RD = tl.where(inside_R1, tl.reshape(pooled_GPD, (R, D)), 0.0)
    _write(
        x_RD, pooled_RD, line_R, inside_R1, aspect, local_ptr, whole_ptr, query_matrix_ptr, context_ptr, query_ptr,
        D, HEADS, DTYPE, PRECISION,
    )  # fmt: skip


@triton.jit
def _pooled_context_kernel(
    x_ptr, pooled_ptr, local_ptr, whole_ptr, query_matrix_ptr, context_ptr, query_ptr, rows, N,
    R: tl.constexpr, D: tl.constexpr, HEADS: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    aspect = tl.program_id(1)
    line_R = tl.program_id(0) * R + tl.arange(0, R)
    inside_R1 = (line_R < rows * N)[:, None]
    column_D = tl.arange(0, D)
    pooled_R = pooled_ptr + (aspect * rows + line_R // N) * D
    pooled_RD = tl.load(pooled_R[:, None] + column_D[None, :], mask=inside_R1, other=0.0)
    line_R = aspect.to(tl.int64) * rows * N + line_R
    x_RD = tl.load(x_ptr + line_R[:, None] * D + column_D[None, :], mask=inside_R1, other=0.0)
    _write(
        x_RD, pooled_RD, line_R, inside_R1, aspect, local_ptr, whole_ptr, query_matrix_ptr, context_ptr, query_ptr,
        D, HEADS, DTYPE, PRECISION,
    )  # fmt: skip


def fits(width: int) -> bool:
    """Do the kernels handle this width?"""
    return 16 <= width <= 64 and width & (width - 1) == 0


def context_triton(
    x_SBND: Tensor,
    local_SDD: Tensor,
    whole_SDD: Tensor,
    query_SDE: Tensor,
    *,
    precision: str = "tf32",
    warps: int | None = None,
) -> tuple[Tensor, Tensor]:
    """As the reference, with everything in the dtype of the matrices; E is a multiple of D."""
    aspects, rows, size, width = x_SBND.shape
    dtype, padded = local_SDD.dtype, power_of_two(size)
    if not fits(width):
        raise ValueError(f"no kernel for positions of {width}")
    x_SBND = x_SBND.contiguous()
    context_SBND = torch.empty(aspects, rows, size, width, device=x_SBND.device, dtype=dtype)
    query_SBNE = torch.empty(aspects, rows, size, query_SDE.shape[2], device=x_SBND.device, dtype=dtype)
    tensors = (local_SDD.contiguous(), whole_SDD.contiguous(), query_SDE.contiguous(), context_SBND, query_SBNE)
    shape = {"D": width, "HEADS": query_SDE.shape[2] // width, "DTYPE": triton_dtype(dtype), "PRECISION": precision}
    if size <= LINES:
        group = max(1, LINES // padded)
        _context_kernel[(triton.cdiv(rows, group), aspects)](
            x_SBND, *tensors, rows, size, G=group, P=padded, **shape, num_warps=warps or 4, num_stages=2
        )
    else:
        _pooled_context_kernel[(triton.cdiv(rows * size, LONG_LINES), aspects)](
            x_SBND, x_SBND.amax(2), *tensors, rows, size, R=LONG_LINES, **shape, num_warps=warps or 8, num_stages=2
        )
    return context_SBND, query_SBNE
