"""What the forward and the backward kernels share: the inputs, how they are launched, and the pairs of a tile."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import triton_dtype
from dact.kernels.pair_logits.reference import Aggregation
from dact.kernels.pair_logits.tile import SLOTS, load_slots
from dact.kernels.pick_move.logits import relu

LONGEST = 256
"""Positions whose keys' gradients a program can hold."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """Block sizes and compile options of the kernels."""

    first: int = 16
    """First positions of a tile."""
    forward_second: int = 8
    forward_warps: int = 4
    forward_stages: int = 2
    second: int = 8
    """Second positions of a tile of the backward kernel over pairs."""
    warps: int = 4
    stages: int = 1
    registers: int | None = 168
    """Of a thread in that kernel, at most; 168 let three programs of four warps share a multiprocessor."""
    residents: int = 3
    """Its programs per multiprocessor, each with partial sums of its own: as many as run at a time."""
    operand_first: int = 32
    operand_stages: int = 2
    operand_registers: int | None = 128


def default_launch(dtype: torch.dtype) -> Launch:
    """What fits the registers and the shared memory of a Hopper GPU."""
    if dtype == torch.float32:
        return Launch(registers=None, residents=2, operand_registers=None)
    return Launch()


class How(NamedTuple):
    """What takes no gradient: open pairs, chosen ones, the clip, types of the products, and the launch."""

    open_BNN: Tensor
    move_B2: Tensor
    clip: float
    dtype: torch.dtype
    precision: str
    launch: Launch

    def slope(self) -> float:
        """The exponent to base two of a share of 1."""
        return 2 * self.clip / math.log(2)


class Pairs(NamedTuple):
    """Contiguous queries and keys, the network, and the rest."""

    query_SBNE: Tensor
    key_SBNE: Tensor
    network: Aggregation
    how: How

    def settings(self) -> dict[str, Any]:
        """The sizes and types that kernels are compiled for."""
        aspects, _, _, wide = self.query_SBNE.shape
        heads = self.network.w1.shape[1]
        per = heads // aspects
        return {
            "H": heads, "PER": per, "K": wide // per, "KEY": self.key_SBNE.shape[3], "C": self.network.w2.shape[0],
            "L": SLOTS, "DTYPE": triton_dtype(self.how.dtype), "PRECISION": self.how.precision, "LOG2": math.log(2),
        }  # fmt: skip

    def tensors(self) -> tuple[Tensor, ...]:
        """The pointers that every kernel over pairs starts with."""
        return (self.query_SBNE, self.key_SBNE, *self.network)

    def aspect_strides(self) -> tuple[int, int]:
        """From one aspect to the next, of queries and keys."""
        return self.query_SBNE.stride(0), self.key_SBNE.stride(0)


class Kept(NamedTuple):
    """What the forward pass leaves: s of each pair (-1 if it is closed), each row's total mass and entropy."""

    share_BNN: Tensor
    total_B: Tensor
    entropy_B: Tensor


def fits(query_SBNE: Tensor, network: Aggregation) -> bool:
    """Do the kernels handle these sizes? Slots of a head need 16 numbers each, and powers of two throughout."""
    aspects, _, size, wide = query_SBNE.shape
    hidden, heads = network.w1.shape
    width = wide * aspects // heads
    powers = all(number & (number - 1) == 0 for number in (heads, width, hidden))
    slots = heads % aspects == 0 and heads <= SLOTS and width * heads // SLOTS >= 16
    return powers and slots and hidden >= 32 and size <= LONGEST


@triton.jit
def load_heads(
    row_ptr, aspect_stride, place_T, N,
    H: tl.constexpr, PER: tl.constexpr, K: tl.constexpr, WIDE: tl.constexpr, DTYPE: tl.constexpr,
):  # fmt: skip
    """(H, T, K) of one row's queries or keys, WIDE numbers a position; heads share them if WIDE is K."""
    HEAD: tl.constexpr = K if WIDE == PER * K else 0
    return load_slots(row_ptr, aspect_stride, HEAD, WIDE, place_T, N, PER, 1, H, K).to(DTYPE)


@triton.jit
def _with_zeros(score_HTJ):
    """(2 H, T, J): behind each head a slot of zeros."""
    H: tl.constexpr = score_HTJ.shape[0]
    T: tl.constexpr = score_HTJ.shape[1]
    J: tl.constexpr = score_HTJ.shape[2]
    both_H2TJ = tl.permute(tl.join(score_HTJ, tl.zeros_like(score_HTJ)), (0, 3, 1, 2))
    return tl.reshape(both_H2TJ, (2 * H, T, J))


@triton.jit
def pair_scores(query_HTK, key_HJK, L: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr):
    """(P, L) scores of the tile's pairs, first position major: each head's in the first of its L / H slots.

    Scores are rounded whole, as where moves are picked: halves of them in two slots would be rounded otherwise.
    """
    P: tl.constexpr = query_HTK.shape[1] * key_HJK.shape[1]
    score_LTJ = tl.dot(query_HTK, tl.permute(key_HJK, (0, 2, 1)), input_precision=PRECISION).to(DTYPE)
    for _ in tl.static_range(4):
        if score_LTJ.shape[0] < L:
            score_LTJ = _with_zeros(score_LTJ)
    return tl.reshape(tl.permute(score_LTJ, (1, 2, 0)), (P, L))


@triton.jit
def first_units(score_PL, w1_LC, b1_C, DTYPE: tl.constexpr, PRECISION: tl.constexpr):
    """(P, C) hidden units of the first layer, behind their relu."""
    return relu(tl.dot(score_PL, w1_LC, input_precision=PRECISION) + b1_C[None, :], DTYPE)
