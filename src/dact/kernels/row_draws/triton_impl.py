"""A program draws for many rows. Shape letters: as in reference.py, R rows of a program."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.row_draws.reference import DRAWS, FACTORS, GROWTH

ROWS = 256
"""Rows per program."""


@triton.jit
def _shifted(x, BITS: tl.constexpr):
    return (x >> BITS) & ((1 << (64 - BITS)) - 1)


@triton.jit
def _draws_kernel(
    stream_ptr, draw_ptr, rows,
    R: tl.constexpr, DRAWS: tl.constexpr, GROWTH: tl.constexpr, FIRST: tl.constexpr, SECOND: tl.constexpr,
):  # fmt: skip
    row_R = tl.program_id(0) * R + tl.arange(0, R)
    x_R = tl.load(stream_ptr + row_R, mask=row_R < rows, other=0)
    for place in tl.static_range(DRAWS):
        x_R += GROWTH
        mixed_R = (x_R ^ _shifted(x_R, 30)) * FIRST
        mixed_R = (mixed_R ^ _shifted(mixed_R, 27)) * SECOND
        mixed_R = mixed_R ^ _shifted(mixed_R, 31)
        draw_R = _shifted(mixed_R, 11).to(tl.float64) * (1.0 / 9007199254740992.0)
        tl.store(draw_ptr + place * rows + row_R, draw_R, mask=row_R < rows)


def row_draws_triton(stream_B: Tensor) -> Tensor:
    """As the reference, bit for bit."""
    rows = len(stream_B)
    draw_2B = torch.empty(DRAWS, rows, dtype=torch.float64, device=stream_B.device)
    _draws_kernel[(triton.cdiv(rows, ROWS),)](
        stream_B.contiguous(), draw_2B, rows,
        R=ROWS, DRAWS=DRAWS, GROWTH=GROWTH, FIRST=FACTORS[0], SECOND=FACTORS[1], num_warps=4,
    )  # fmt: skip
    return draw_2B
