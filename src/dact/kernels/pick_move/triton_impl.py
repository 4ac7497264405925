"""Two kernels: the mass (or the best pair) of every first position, a tile of pairs at a time, and then the choice.

Logits are bounded by the clip, so the mass of a pair is exp(clip * tanh(x) - clip) without looking for a peak:
-2 clip / (1 + exp(2 x)) in the exponent. Masses of pairs never leave the chip, only their N sums per row do.
Sums over positions are taken in float64, and only a pair with mass is ever chosen.
Shape letters: as in reference.py and pair_logits/tile.py; T positions of a tile, P >= N a power of two.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import math

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import power_of_two, triton_dtype
from dact.kernels.pair_logits.reference import Aggregation
from dact.kernels.pair_logits.tile import SLOTS, hidden_units, load_network, load_slots, pair_scores
from dact.kernels.pair_logits.triton_impl import fits
from dact.kernels.pick_move.reference import Capacity, Feasible

TILE = 16
EVERY, CAPACITY, MASK = 0, 1, 2
"""Kinds of feasibility."""


@triton.jit
def _within_capacity(first_T, second_J, inside_TJ, row, loads, N):
    """(T, J): is the 2-opt move feasible? A segment over position 0 stands for its complement."""
    route_ptr, depot_ptr, before_ptr, rest_ptr, until_ptr, after_ptr, room_ptr = loads
    next_J = tl.where(second_J + 1 < N, second_J + 1, 0)
    previous_T = tl.where(first_T > 0, first_T - 1, N - 1)
    over_start_TJ = (first_T[:, None] > second_J[None, :]) | (first_T == 0)[:, None]
    low_TJ = row * N + tl.where(over_start_TJ, next_J[None, :], first_T[:, None])
    high_TJ = row * N + tl.where(over_start_TJ, previous_T[:, None], second_J[None, :])
    room = tl.load(room_ptr + row)
    same_route = tl.load(route_ptr + low_TJ, inside_TJ, 0) == tl.load(route_ptr + high_TJ, inside_TJ, 0)
    turned = same_route & (tl.load(depot_ptr + low_TJ, inside_TJ, 0) == 0)
    head = tl.load(before_ptr + low_TJ, inside_TJ, 0) + tl.load(until_ptr + high_TJ, inside_TJ, 0) <= room
    tail = tl.load(rest_ptr + low_TJ, inside_TJ, 0) + tl.load(after_ptr + high_TJ, inside_TJ, 0) <= room
    nothing = over_start_TJ & (next_J[None, :] == first_T[:, None])
    return turned | (head & tail) | nothing


@triton.jit
def _open_pairs(first_T, second_J, row, tour_ptr, last_ptr, loads, mask_ptr, N, KIND: tl.constexpr):
    """(T, J): pairs that may be drawn."""
    inside_TJ = (first_T < N)[:, None] & (second_J < N)[None, :]
    last_first, last_second = tl.load(last_ptr + 2 * row).to(tl.int32), tl.load(last_ptr + 2 * row + 1).to(tl.int32)
    first_node_T = tl.load(tour_ptr + row * N + first_T, mask=first_T < N, other=-2).to(tl.int32)
    # Read once per pair, not per position: this spreads the pairs over all threads for what follows.
    second_TJ = (first_T * 0)[:, None] + second_J[None, :]
    second_node_TJ = tl.load(tour_ptr + row * N + second_TJ, mask=inside_TJ, other=-2).to(tl.int32)
    last_TJ = (first_node_T == last_first)[:, None] & (second_node_TJ == last_second)
    last_TJ |= (first_node_T == last_second)[:, None] & (second_node_TJ == last_first)
    open_TJ = inside_TJ & (first_T[:, None] != second_J[None, :]) & (last_TJ == 0)
    if KIND == 1:
        open_TJ &= _within_capacity(first_T, second_J, inside_TJ, row, loads, N)
    if KIND == 2:
        pair_TJ = first_T[:, None] * N + second_J[None, :]
        open_TJ &= tl.load(mask_ptr + row * N * N + pair_TJ, mask=inside_TJ, other=0) != 0
    return open_TJ


@triton.jit
def _rows_kernel(
    query_ptr, key_ptr, w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, b3_ptr, tour_ptr, last_ptr,
    route_ptr, depot_ptr, before_ptr, rest_ptr, until_ptr, after_ptr, room_ptr, mask_ptr,
    value_ptr, second_ptr, query_aspect, key_aspect, slope, N,
    H: tl.constexpr, PER: tl.constexpr, K: tl.constexpr, KEY: tl.constexpr, C: tl.constexpr, L: tl.constexpr,
    T: tl.constexpr, TILES: tl.constexpr, KIND: tl.constexpr, GREEDY: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr, LOG2: tl.constexpr,
):  # fmt: skip
    """For a tile of first positions: the mass of their open pairs, or their best pair."""
    PARTS: tl.constexpr = L // H
    KEY_HEAD: tl.constexpr = K if KEY == PER * K else 0
    loads = (route_ptr, depot_ptr, before_ptr, rest_ptr, until_ptr, after_ptr, room_ptr)
    row = (tl.program_id(0) // TILES).to(tl.int64)
    first_T = (tl.program_id(0) % TILES) * T + tl.arange(0, T)
    w1_LC, b1_C, w2_CC, b2_C, w3_C = load_network(w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, H, PARTS, L, C, DTYPE)
    w3_C *= 2 / LOG2
    b3 = tl.load(b3_ptr).to(tl.float32) * (2 / LOG2)
    query_ptr += row * N * PER * K
    key_ptr += row * N * KEY
    query_LTK = load_slots(query_ptr, query_aspect, K, PER * K, first_T, N, PER, PARTS, L, K // PARTS).to(DTYPE)
    value_TT = tl.full((T, T), float("-inf"), tl.float32) if GREEDY else tl.zeros((T, T), tl.float32)
    partner_TT = tl.zeros((T, T), tl.int32)
    for tile in range(TILES):
        second_T = tile * T + tl.arange(0, T)
        key_LTK = load_slots(key_ptr, key_aspect, KEY_HEAD, KEY, second_T, N, PER, PARTS, L, K // PARTS).to(DTYPE)
        score_PL = pair_scores(query_LTK, key_LTK, T, T, L, DTYPE, PRECISION)
        _, second_PC = hidden_units(score_PL, w1_LC, b1_C, w2_CC, b2_C, DTYPE, PRECISION)
        x_TT = tl.reshape(tl.sum(second_PC * w3_C[None, :], 1) + b3, (T, T))
        open_TT = _open_pairs(first_T, second_T, row, tour_ptr, last_ptr, loads, mask_ptr, N, KIND)
        if GREEDY:
            better_TT = open_TT & (x_TT > value_TT)
            value_TT = tl.where(better_TT, x_TT, value_TT)
            partner_TT = tl.where(better_TT, second_T[None, :], partner_TT)
        else:
            x_TT = tl.where(open_TT, x_TT, 0.0)
            value_TT += tl.where(open_TT, tl.exp2(-slope / (1.0 + tl.exp2(x_TT))), 0.0)
    target_T = row * N + first_T
    if GREEDY:
        best_T = tl.max(value_TT, 1)
        partner_T = tl.min(tl.where(value_TT == best_T[:, None], partner_TT, T * TILES), 1)
        tl.store(value_ptr + target_T, best_T, mask=first_T < N)
        tl.store(second_ptr + target_T, partner_T, mask=first_T < N)
    else:
        tl.store(value_ptr + target_T, tl.sum(value_TT, 1), mask=first_T < N)


@triton.jit
def _invert(mass_P, draw, P: tl.constexpr):
    """The first index with mass at which the cumulated mass exceeds draw * total; 0 if there is no mass."""
    index_P = tl.arange(0, P)
    cumulated_P = tl.cumsum(mass_P.to(tl.float64), 0)
    reached_P = (mass_P > 0) & (cumulated_P > draw * tl.max(cumulated_P, 0))
    index = tl.min(tl.where(reached_P, index_P, P), 0)
    return tl.where(index < P, index, tl.max(tl.where(mass_P > 0, index_P, 0), 0))


@triton.jit
def _choose_kernel(
    query_ptr, key_ptr, w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, b3_ptr, tour_ptr, last_ptr,
    route_ptr, depot_ptr, before_ptr, rest_ptr, until_ptr, after_ptr, room_ptr, mask_ptr,
    value_ptr, draw_ptr, move_ptr, query_aspect, key_aspect, slope, rows, N,
    H: tl.constexpr, PER: tl.constexpr, K: tl.constexpr, KEY: tl.constexpr, C: tl.constexpr, L: tl.constexpr,
    T: tl.constexpr, TILES: tl.constexpr, P: tl.constexpr, KIND: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr, LOG2: tl.constexpr,
):  # fmt: skip
    """Choose the first position by the masses, then compute the pairs of that position alone and choose again."""
    PARTS: tl.constexpr = L // H
    KEY_HEAD: tl.constexpr = K if KEY == PER * K else 0
    loads = (route_ptr, depot_ptr, before_ptr, rest_ptr, until_ptr, after_ptr, room_ptr)
    row = tl.program_id(0).to(tl.int64)
    place_P = tl.arange(0, P)
    mass_P = tl.load(value_ptr + row * N + place_P, mask=place_P < N, other=0.0)
    first = _invert(mass_P, tl.load(draw_ptr + row), P)
    first_1 = tl.zeros((1,), tl.int32) + first
    w1_LC, b1_C, w2_CC, b2_C, w3_C = load_network(w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, H, PARTS, L, C, DTYPE)
    w3_C *= 2 / LOG2
    b3 = tl.load(b3_ptr).to(tl.float32) * (2 / LOG2)
    query_ptr += row * N * PER * K
    key_ptr += row * N * KEY
    query_L1K = load_slots(query_ptr, query_aspect, K, PER * K, first_1, N, PER, PARTS, L, K // PARTS)
    query_L1K = query_L1K.to(DTYPE).to(tl.float32)
    mass_QT = tl.zeros((P // T, T), tl.float32)
    for tile in range(TILES):
        second_T = tile * T + tl.arange(0, T)
        key_LTK = load_slots(key_ptr, key_aspect, KEY_HEAD, KEY, second_T, N, PER, PARTS, L, K // PARTS)
        score_LT = tl.sum(query_L1K * key_LTK.to(DTYPE).to(tl.float32), 2)
        _, second_TC = hidden_units(tl.trans(score_LT).to(DTYPE), w1_LC, b1_C, w2_CC, b2_C, DTYPE, PRECISION)
        x_T = tl.sum(second_TC * w3_C[None, :], 1) + b3
        open_1T = _open_pairs(first_1, second_T, row, tour_ptr, last_ptr, loads, mask_ptr, N, KIND)
        mass_1T = tl.where(open_1T, tl.exp2(-slope / (1.0 + tl.exp2(x_T)))[None, :], 0.0)
        mass_QT = tl.where(tl.arange(0, P // T)[:, None] == tile, mass_1T, mass_QT)
    second = _invert(tl.reshape(mass_QT, (P,)), tl.load(draw_ptr + rows + row), P)
    tl.store(move_ptr + 2 * row, first.to(tl.int64))
    tl.store(move_ptr + 2 * row + 1, second.to(tl.int64))


def pick_move_triton(
    query_SBNE: Tensor,
    key_SBNE: Tensor,
    network: Aggregation,
    *,
    clip: float,
    tour_BN: Tensor,
    last_move_B2: Tensor,
    draw_2B: Tensor | None,
    feasible: Feasible = None,
    dtype: torch.dtype | None = None,
    precision: str = "tf32",
    warps: int = 4,
    stages: int = 2,
) -> Tensor:
    """As the reference; matrix products take their inputs in `dtype` (the query's if None)."""
    aspects, rows, size, wide = query_SBNE.shape
    heads, tiles = network.w1.shape[1], triton.cdiv(size, TILE)
    per = heads // aspects
    if not fits(heads, wide // per, network.w2.shape[0]):
        raise ValueError(f"no kernel for {heads} heads of {wide // per} and {network.w2.shape[0]} hidden units")
    query, key = query_SBNE.contiguous(), key_SBNE.contiguous()
    kind, loads, mask = _feasibility(feasible)
    inputs = (query, key, *network, tour_BN.contiguous(), last_move_B2.contiguous(), *loads, mask)
    scalars = (query.stride(0), key.stride(0), 2 * clip / math.log(2))
    shape = {
        "H": heads, "PER": per, "K": wide // per, "KEY": key.shape[3], "C": network.w2.shape[0], "L": SLOTS,
        "T": TILE, "TILES": tiles, "KIND": kind, "DTYPE": triton_dtype(dtype or query.dtype),
        "PRECISION": precision, "LOG2": math.log(2),
    }  # fmt: skip
    value_BN = torch.empty(rows, size, device=query.device)
    partner_BN = torch.empty(rows, size, device=query.device, dtype=torch.int32)
    _rows_kernel[(rows * tiles,)](
        *inputs, value_BN, partner_BN, *scalars, size,
        **shape, GREEDY=draw_2B is None, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    if draw_2B is None:
        first_B1 = value_BN.argmax(1, keepdim=True)
        return torch.cat((first_B1, partner_BN.gather(1, first_B1).long()), dim=1)
    move_B2 = torch.empty(rows, 2, device=query.device, dtype=torch.int64)
    _choose_kernel[(rows,)](
        *inputs, value_BN, draw_2B.contiguous(), move_B2, *scalars, rows, size,
        **shape, P=power_of_two(size), num_warps=4, num_stages=1,
    )  # fmt: skip
    return move_B2


def _feasibility(feasible: Feasible) -> tuple[int, tuple[Tensor | None, ...], Tensor | None]:
    """The kind, the loads and the mask for the kernels."""
    if isinstance(feasible, Capacity):
        return CAPACITY, tuple(x.contiguous() for x in feasible), None
    return (EVERY if feasible is None else MASK), (None,) * 7, None if feasible is None else feasible.contiguous()
