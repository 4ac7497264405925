"""The mask of all open pairs, which training needs for its steps.

Shape letters: T first positions of a program, P >= N second ones, a power of two.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import power_of_two
from dact.kernels.pick_move.feasible import constraints, of_row, of_second, open_pairs
from dact.kernels.pick_move.moves import Feasible

PAIRS = 2048
"""Pairs per program."""


@triton.jit
def _opened_kernel(
    tour_ptr, last_ptr, load_ptr, room_ptr, mask_ptr, closed_ptr, depots, open_ptr, tiles, N,
    KIND: tl.constexpr, IDLE: tl.constexpr, T: tl.constexpr, P: tl.constexpr,
):  # fmt: skip
    row = (tl.program_id(0) // tiles).to(tl.int64)
    origin = row * N
    first_T1 = ((tl.program_id(0) % tiles) * T + tl.arange(0, T))[:, None]
    second_1P = tl.arange(0, P)[None, :]
    of_this = of_row(row, last_ptr, room_ptr, closed_ptr, depots, KIND, IDLE)
    of_these = of_second(second_1P, tour_ptr, load_ptr, origin, of_this, N, KIND, IDLE)
    open_TP = open_pairs(first_T1, second_1P, of_this, of_these, tour_ptr, load_ptr, mask_ptr, origin, N, KIND, IDLE)
    inside_TP = (first_T1 < N) & (second_1P < N)
    tl.store(open_ptr + origin * N + first_T1 * N + second_1P, open_TP.to(tl.int8), mask=inside_TP)


def open_pairs_triton(tour_BN: Tensor, last_move_B2: Tensor, feasible: Feasible) -> Tensor:
    """As the reference."""
    rows, size = tour_BN.shape
    padded = power_of_two(size)
    firsts = max(1, min(padded, PAIRS // padded))
    told, kinds = constraints(tour_BN, feasible)
    open_BNN = torch.empty(rows, size, size, dtype=torch.int8, device=tour_BN.device)
    tiles = triton.cdiv(size, firsts)
    _opened_kernel[(rows * tiles,)](
        tour_BN.contiguous(), last_move_B2.contiguous(), *told, open_BNN, tiles, size,
        **kinds, T=firsts, P=padded, num_warps=4,
    )  # fmt: skip
    return open_BNN.view(torch.bool)
