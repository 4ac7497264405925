"""A program draws for many rows. Shape letters: as in reference.py, R rows of a program."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.row_draws.reference import DRAWS, FACTORS, GROWTH

ROWS = 256
"""Rows per program."""
INCREMENT = tl.constexpr(GROWTH)
FIRST, SECOND = (tl.constexpr(factor) for factor in FACTORS)


@triton.jit
def _shifted(x, BITS: tl.constexpr):
    return (x >> BITS) & ((1 << (64 - BITS)) - 1)


@triton.jit
def mixed(x):
    """Hashed 64-bit numbers, as in reference.py."""
    x = (x ^ _shifted(x, 30)) * FIRST
    x = (x ^ _shifted(x, 27)) * SECOND
    return x ^ _shifted(x, 31)


@triton.jit
def uniform(x):
    """float64 in [0, 1) from states of streams."""
    return _shifted(mixed(x), 11).to(tl.float64) * (1.0 / 9007199254740992.0)


@triton.jit
def _draws_kernel(stream_ptr, draw_ptr, rows, R: tl.constexpr, DRAWS: tl.constexpr):
    row_R = tl.program_id(0) * R + tl.arange(0, R)
    x_R = tl.load(stream_ptr + row_R, mask=row_R < rows, other=0)
    for place in tl.static_range(DRAWS):
        x_R += INCREMENT
        tl.store(draw_ptr + place * rows + row_R, uniform(x_R), mask=row_R < rows)


def row_draws_triton(stream_B: Tensor) -> Tensor:
    """As the reference, bit for bit."""
    rows = len(stream_B)
    draw_2B = torch.empty(DRAWS, rows, dtype=torch.float64, device=stream_B.device)
    _draws_kernel[(triton.cdiv(rows, ROWS),)](
        stream_B.contiguous(), draw_2B, rows,
        R=ROWS, DRAWS=DRAWS, num_warps=4,
    )  # fmt: skip
    return draw_2B
