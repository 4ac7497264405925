"""Two kernels: the mass (or the best pair) of every first position, and then the choice.

Logits are bounded by the clip, so the mass of a pair is exp(clip * tanh(x) - clip) without looking for a peak:
-2 clip / (1 + exp(2 x)) in the exponent. Masses of pairs never leave the chip, only sums of a first position over
a block of second positions do. Sums over positions are taken in float64, and only a pair with mass is ever chosen.
Shape letters: as in reference.py and logits.py, Q blocks of second positions, P >= N a power of two.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import math
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.fingerprint.triton_impl import fingerprint
from dact.kernels.launch import MULTIPROCESSORS, power_of_two, triton_dtype
from dact.kernels.make_move import KERNELS
from dact.kernels.make_move.triton_impl import source
from dact.kernels.pair_logits.reference import Aggregation
from dact.kernels.pair_logits.triton_impl import fits
from dact.kernels.pick_move.feasible import constraints, of_row, of_second, open_pairs
from dact.kernels.pick_move.logits import SLOTS, load_keys, load_weights, pair_logits
from dact.kernels.pick_move.moves import ALL_MOVES, Feasible
from dact.kernels.pick_move.tabu import TRIES, Tabu
from dact.kernels.row_draws.reference import GROWTH
from dact.kernels.row_draws.triton_impl import mixed, uniform

PROGRAMS = MULTIPROCESSORS * 4
"""Programs that keep the GPU busy; with few rows, a program takes only some of the first positions."""


class Launch(NamedTuple):
    """How the first kernel is launched."""

    warps: int = 4
    seconds: int = 16
    """Second positions of a warp."""
    firsts: int = 8
    """First positions at a time."""
    stages: int = 2
    registers: int | None = None


def launch_for(dtype: torch.dtype) -> Launch:
    """The fastest of those measured on an H200, at most 8 % behind the fastest for any one size."""
    return Launch(warps=4, firsts=4) if dtype == torch.float32 else Launch(warps=2, stages=3)


@triton.jit
def _second(block, W: tl.constexpr, M: tl.constexpr):
    """(W, M, 1) second positions of a block."""
    return ((block * W + tl.arange(0, W)[:, None]) * M + tl.arange(0, M)[None, :])[:, :, None]


@triton.jit
def _mass(x, opened, slope):
    """exp(clip * tanh - clip) of open pairs, from 2 / log(2) times their logits; zero of others."""
    return tl.where(opened, tl.exp2(-slope / (1.0 + tl.exp2(tl.where(opened, x, 0.0)))), 0.0)


@triton.jit
def _rows_kernel(
    query_ptr, key_ptr, w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, b3_ptr, tour_ptr, last_ptr, load_ptr, room_ptr,
    mask_ptr, closed_ptr, depots, value_ptr, second_ptr, query_aspect, key_aspect, slope, N,
    S: tl.constexpr, H: tl.constexpr, K: tl.constexpr, C: tl.constexpr, KIND: tl.constexpr, IDLE: tl.constexpr,
    GREEDY: tl.constexpr, W: tl.constexpr, M: tl.constexpr, T: tl.constexpr, BLOCKS: tl.constexpr,
    CHUNKS: tl.constexpr, SPANS: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr, SCALE: tl.constexpr,
):  # fmt: skip
    """For CHUNKS * T first positions: their mass over a block of second positions, or their best pairs."""
    weights = load_weights(w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, b3_ptr, SCALE, S, H, C, T, W, DTYPE)
    # Programs of a row work side by side and find its queries in the cache.
    program = tl.program_id(0)
    row = (program // (BLOCKS * SPANS)).to(tl.int64)
    block = program % BLOCKS
    begin = (program // BLOCKS) % SPANS * CHUNKS * T
    origin = row * N
    second = _second(block, W, M)
    keys = load_keys(key_ptr + origin * K, key_aspect, second, N, S, K, DTYPE)
    of_this = of_row(row, last_ptr, room_ptr, closed_ptr, depots, KIND, IDLE)
    of_these = of_second(second, tour_ptr, load_ptr, origin, of_this, N, KIND, IDLE)
    query_ptr += origin * (H // S) * K
    for chunk in range(CHUNKS):
        place = begin + chunk * T
        x = pair_logits(keys, query_ptr, query_aspect, place, N, weights, S, H, C, T, DTYPE, PRECISION)
        first_T = place + tl.arange(0, T)
        first = first_T[None, None, :]
        opened = open_pairs(first, second, of_this, of_these, tour_ptr, load_ptr, mask_ptr, origin, N, KIND, IDLE)
        target_T = origin * BLOCKS + block * N + first_T
        if GREEDY:
            x_JT = tl.reshape(tl.where(opened, x, float("-inf")), (W * M, T))
            best_T = tl.max(x_JT, 0)
            second_J1 = (block * W * M + tl.arange(0, W * M))[:, None]
            partner_T = tl.min(tl.where(x_JT == best_T[None, :], second_J1, N), 0)
            tl.store(value_ptr + target_T, best_T, mask=first_T < N)
            tl.store(second_ptr + target_T, partner_T, mask=first_T < N)
        else:
            mass_T = tl.sum(tl.reshape(_mass(x, opened, slope), (W * M, T)), 0)
            tl.store(value_ptr + target_T, mass_T, mask=first_T < N)


@triton.jit
def _reach(mass_P, target, P: tl.constexpr):
    """The first index with mass at which the cumulated mass exceeds the target, or else the last with mass, or 0."""
    index_P = tl.arange(0, P)
    reached_P = (mass_P > 0) & (tl.cumsum(mass_P, 0) > target)
    index = tl.min(tl.where(reached_P, index_P, P), 0)
    return tl.where(index < P, index, tl.max(tl.where(mass_P > 0, index_P, 0), 0))


@triton.jit
def _chosen(
    draw, second_draw, mass_P, total, weights, row, query_ptr, key_ptr, tour_ptr, last_ptr, load_ptr, room_ptr,
    mask_ptr, closed_ptr, depots, value_ptr, query_aspect, key_aspect, slope, N,
    S: tl.constexpr, H: tl.constexpr, K: tl.constexpr, C: tl.constexpr, KIND: tl.constexpr, IDLE: tl.constexpr,
    W: tl.constexpr, M: tl.constexpr, T: tl.constexpr, P: tl.constexpr, BLOCKS: tl.constexpr,
    Q: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The first position and the block of the second by their masses, the second, and the mass of the pair; only that
    block's pairs are computed."""
    origin = row * N
    block_Q = tl.arange(0, Q)
    place = _reach(mass_P, draw * total, P)
    mass_Q = tl.load(value_ptr + block_Q * N + place, mask=block_Q < BLOCKS, other=0.0).to(tl.float64)
    target = second_draw * tl.sum(mass_Q, 0)
    block = _reach(mass_Q, target, Q)
    target -= tl.sum(tl.where(block_Q < block, mass_Q, 0.0), 0)
    second = _second(block, W, M)
    keys = load_keys(key_ptr + origin * K, key_aspect, second, N, S, K, DTYPE)
    of_this = of_row(row, last_ptr, room_ptr, closed_ptr, depots, KIND, IDLE)
    of_these = of_second(second, tour_ptr, load_ptr, origin, of_this, N, KIND, IDLE)
    # A product has room for T first positions, of which one is looked at.
    first = place + tl.arange(0, T)[None, None, :]
    x = pair_logits(keys, query_ptr, query_aspect, place, place + 1, weights, S, H, C, T, DTYPE, PRECISION)
    opened = open_pairs(first, second, of_this, of_these, tour_ptr, load_ptr, mask_ptr, origin, N, KIND, IDLE)
    mass_WM = tl.sum(_mass(x, opened & (first == place), slope), 2)
    mass_J = tl.reshape(mass_WM, (W * M,)).to(tl.float64)
    partner = _reach(mass_J, target, W * M)
    mass = tl.sum(tl.where(tl.arange(0, W * M) == partner, mass_J, 0.0), 0)
    return place, block * W * M + partner, mass


@triton.jit
def _leads_back(
    place, partner, row, tour_ptr, recent_ptr, length, dummies, N,
    P: tl.constexpr, L: tl.constexpr, OPERATOR: tl.constexpr,
):  # fmt: skip
    """Is the tour after the move one of the recent ones, of which there are `length` in L places?"""
    place_P, recent_L = tl.arange(0, P), tl.arange(0, L)
    inside_P = place_P < N
    tour_ptr += row * N
    node_P = tl.load(tour_ptr + source(place_P, place, partner, N, OPERATOR), mask=inside_P, other=0)
    next_P = tl.load(tour_ptr + source((place_P + 1) % N, place, partner, N, OPERATOR), mask=inside_P, other=0)
    after = fingerprint(node_P, next_P, inside_P, dummies)
    known_L = tl.load(recent_ptr + row * length + recent_L, mask=recent_L < length, other=0)
    return tl.sum(((known_L == after) & (recent_L < length)).to(tl.int32), 0) > 0


@triton.jit
def _choose_kernel(
    query_ptr, key_ptr, w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, b3_ptr, tour_ptr, last_ptr, load_ptr, room_ptr,
    mask_ptr, closed_ptr, depots, value_ptr, draw_ptr, move_ptr, log_prob_ptr, recent_ptr, stream_ptr,
    query_aspect, key_aspect, slope, N, rows, length, dummies,
    S: tl.constexpr, H: tl.constexpr, K: tl.constexpr, C: tl.constexpr, KIND: tl.constexpr, IDLE: tl.constexpr,
    W: tl.constexpr, M: tl.constexpr, T: tl.constexpr, P: tl.constexpr, BLOCKS: tl.constexpr,
    Q: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr, SCALE: tl.constexpr, L: tl.constexpr,
    OPERATOR: tl.constexpr, TRIES: tl.constexpr, GROWTH: tl.constexpr,
):  # fmt: skip
    """Choose a pair; with L recent tours, again and again while the move leads back to one of them."""
    row = tl.program_id(0).to(tl.int64)
    weights = load_weights(w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, b3_ptr, SCALE, S, H, C, T, W, DTYPE)
    place_P = tl.arange(0, P)
    value_ptr += row * N * BLOCKS
    query_ptr += row * N * (H // S) * K
    mass_P = tl.zeros((P,), tl.float64)
    for block in tl.static_range(BLOCKS):
        mass_P += tl.load(value_ptr + block * N + place_P, mask=place_P < N, other=0.0).to(tl.float64)
    total = tl.sum(mass_P, 0)
    place, partner, mass = _chosen(
        tl.load(draw_ptr + row), tl.load(draw_ptr + rows + row), mass_P, total, weights, row, query_ptr, key_ptr,
        tour_ptr, last_ptr, load_ptr, room_ptr, mask_ptr, closed_ptr, depots, value_ptr, query_aspect, key_aspect,
        slope, N, S, H, K, C, KIND, IDLE, W, M, T, P, BLOCKS, Q, DTYPE, PRECISION,
    )  # fmt: skip
    if L > 0:
        spare = mixed(~tl.load(stream_ptr + row))
        tries = 1
        back = _leads_back(place, partner, row, tour_ptr, recent_ptr, length, dummies, N, P, L, OPERATOR)
        while back & (tries < TRIES):
            spare = spare + GROWTH + GROWTH
            place, partner, mass = _chosen(
                uniform(spare - GROWTH), uniform(spare), mass_P, total, weights, row, query_ptr, key_ptr,
                tour_ptr, last_ptr, load_ptr, room_ptr, mask_ptr, closed_ptr, depots, value_ptr, query_aspect,
                key_aspect, slope, N, S, H, K, C, KIND, IDLE, W, M, T, P, BLOCKS, Q, DTYPE, PRECISION,
            )  # fmt: skip
            back = _leads_back(place, partner, row, tour_ptr, recent_ptr, length, dummies, N, P, L, OPERATOR)
            tries += 1
    tl.store(move_ptr + 2 * row, place.to(tl.int64))
    tl.store(move_ptr + 2 * row + 1, partner.to(tl.int64))
    if log_prob_ptr is not None:
        tl.store(log_prob_ptr + row, tl.log((mass / total).to(tl.float32)))


def pick_move_triton(
    query_SBNE: Tensor,
    key_SBND: Tensor,
    network: Aggregation,
    *,
    clip: float,
    tour_BN: Tensor,
    last_move_B2: Tensor,
    draw_2B: Tensor | None,
    feasible: Feasible = ALL_MOVES,
    log_prob_B: Tensor | None = None,
    tabu: Tabu | None = None,
    dtype: torch.dtype | None = None,
    precision: str = "tf32",
    launch: Launch | None = None,
) -> Tensor:
    """As the reference; matrix products take their inputs in `dtype` (the query's if None)."""
    _, rows, size, _ = query_SBNE.shape
    dtype = dtype or query_SBNE.dtype
    shape = _shape(query_SBNE, key_SBND, network) | {"DTYPE": triton_dtype(dtype), "PRECISION": precision}
    query, key = query_SBNE.contiguous(), key_SBND.contiguous()
    told, kinds = constraints(tour_BN, feasible)
    inputs = (query, key, *network, tour_BN.contiguous(), last_move_B2.contiguous(), *told)
    scalars = (query.stride(0), key.stride(0), 2 * clip / math.log(2))
    ways = launch or launch_for(dtype)
    # The first layer takes the scores of this many first positions at a time.
    least = SLOTS // shape["H"]
    firsts, blocks = max(ways.firsts, least), triton.cdiv(size, ways.warps * ways.seconds)
    chunks = _chunks(rows * blocks, triton.cdiv(size, firsts))
    spans = triton.cdiv(size, chunks * firsts)
    shape |= kinds | {"W": ways.warps, "M": ways.seconds, "BLOCKS": blocks, "num_warps": ways.warps}
    value_BQN = torch.empty(rows, blocks, size, device=query.device)
    partner_BQN = torch.empty(rows, blocks, size, device=query.device, dtype=torch.int32)
    _rows_kernel[(rows * blocks * spans,)](
        *inputs, value_BQN, partner_BQN, *scalars, size,
        **shape, GREEDY=draw_2B is None, T=firsts, CHUNKS=chunks, SPANS=spans,
        num_stages=ways.stages, maxnreg=ways.registers,
    )  # fmt: skip
    if draw_2B is None:
        return _best(value_BQN, partner_BQN)
    move_B2 = torch.empty(rows, 2, device=query.device, dtype=torch.int64)
    known, lengths, sizes = _recent(tabu)
    _choose_kernel[(rows,)](
        *inputs, value_BQN, draw_2B.contiguous(), move_B2, log_prob_B, *known, *scalars, size, rows, *lengths,
        **shape, **sizes, T=least, P=power_of_two(size), Q=power_of_two(blocks, least=1), num_stages=1,
    )  # fmt: skip
    return move_B2


def _shape(query_SBNE: Tensor, key_SBND: Tensor, network: Aggregation) -> dict[str, Any]:
    """The sizes that kernels are compiled for; a ValueError for those they cannot handle."""
    aspects, heads, width, hidden = len(query_SBNE), network.w1.shape[1], key_SBND.shape[3], network.w2.shape[0]
    if aspects > 2 or not fits(heads, width, hidden):
        raise ValueError(f"no kernel for {heads} heads of {width} in {aspects} aspects and {hidden} hidden units")
    return {"S": aspects, "H": heads, "K": width, "C": hidden, "SCALE": 2 / math.log(2)}


def _recent(tabu: Tabu | None) -> tuple[tuple[Tensor | None, ...], tuple[int, int], dict[str, Any]]:
    """Kernel arguments: fingerprints and streams; how many fingerprints a row has, and depots; sizes compiled for."""
    if tabu is None:
        return (None, None), (0, 0), {"L": 0, "OPERATOR": "", "TRIES": 0, "GROWTH": GROWTH}
    length = tabu.recent_BL.shape[1]
    sizes = {"L": power_of_two(length), "OPERATOR": KERNELS[tabu.operator], "TRIES": TRIES, "GROWTH": GROWTH}
    return (tabu.recent_BL.contiguous(), tabu.stream_B.contiguous()), (length, tabu.depots), sizes


def _chunks(programs: int, chunks: int) -> int:
    """Steps over first positions that a program makes: all, unless that leaves too few programs."""
    return -(-chunks // min(chunks, -(-PROGRAMS // programs)))


def _best(value_BQN: Tensor, partner_BQN: Tensor) -> Tensor:
    """The best pair of each row."""
    blocks = value_BQN.shape[1]
    best_B1 = value_BQN.transpose(1, 2).flatten(1).argmax(1, keepdim=True)
    partner_B1 = partner_BQN.transpose(1, 2).flatten(1).gather(1, best_B1)
    return torch.cat((best_B1 // blocks, partner_B1.long()), dim=1)
