"""The gradients: hidden units are recomputed, and sums have a fixed order.

With p a pair's probability and H the row's entropy, the gradient of a logit is g (1[chosen] - p) - h p (log p + H)
for incoming gradients g of the log-probability and h of the entropy; that of the network's output x is this times
clip (1 - tanh^2) = 4 clip s (1 - s), here d. Behind the second layer, only the sums of d over the pairs that pass a
unit's relu are needed: with U[c, e] = sum of d first[e] and u[c] = sum of d over the pairs where unit c is on,
    W2's gradient = w3[c] U[c, e],   b2's = w3[c] u[c],   W3's = sum over e of W2[c, e] U[c, e] + b2[c] u[c].
The gradients of the scores are left in memory for a kernel that makes those of queries and keys of them.
Shape letters: as in pairs.py, with G programs.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import power_of_two
from dact.kernels.move_log_prob.pairs import Kept, Pairs, first_units, load_heads, pair_scores
from dact.kernels.pair_logits.reference import Aggregation
from dact.kernels.pair_logits.tile import load_network
from dact.kernels.registers import joined

ONES = 16
"""Columns of ones that add up what they multiply: the fewest that Hopper's tensor cores take from shared memory."""
PARTS = 128
"""Programs whose partial sums are added at a time."""
LARGEST = 8.0
"""What the largest incoming gradient is scaled to in float16, which holds numbers between 6e-8 and 65504."""


@triton.jit
def _largest(pointer, count, BLOCK: tl.constexpr):
    """The largest absolute value."""
    largest_X = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, count, BLOCK):
        place_X = start + tl.arange(0, BLOCK)
        largest_X = tl.maximum(largest_X, tl.abs(tl.load(pointer + place_X, mask=place_X < count, other=0.0)))
    return tl.max(largest_X, 0)


@triton.jit
def _scale(grad_ptr, entropy_grad_ptr, rows, ENTROPY: tl.constexpr, LARGEST: tl.constexpr):
    """Factor that scales the largest incoming gradient to LARGEST; one if that gradient is zero."""
    scale = 1.0
    if LARGEST > 0:
        largest = _largest(grad_ptr, rows, 1024)
        if ENTROPY:
            largest += _largest(entropy_grad_ptr, rows, 1024)
        scale = LARGEST / tl.maximum(largest, 1e-30)
    return scale


@triton.jit
def _place(index, tiles, T: tl.constexpr):
    """Row and first positions of a running index."""
    return (index // tiles).to(tl.int64), (index % tiles) * T + tl.arange(0, T)


@triton.jit
def _of_row(row, move_ptr, total_ptr, entropy_ptr, grad_ptr, entropy_grad_ptr, scale, N, ENTROPY: tl.constexpr):
    """The row's chosen pair, total mass and entropy, and the scaled gradients that come in for it."""
    total = tl.load(total_ptr + row)
    total = tl.where(total > 0, total, 1.0)
    grad = tl.load(grad_ptr + row) * scale
    entropy, entropy_grad = 0.0, 0.0
    if ENTROPY:
        entropy_grad = tl.load(entropy_grad_ptr + row) * scale
        entropy = tl.load(entropy_ptr + row)
    chosen = (tl.load(move_ptr + 2 * row) * N + tl.load(move_ptr + 2 * row + 1)).to(tl.int32)
    return chosen, total, entropy, grad, entropy_grad


@triton.jit
def _output_grads(share_TJ, pair_TJ, of_row, slope, ENTROPY: tl.constexpr, LOG2: tl.constexpr):
    """(T, J) gradients of the network's outputs; zero where a pair is closed."""
    chosen, total, entropy, grad, entropy_grad = of_row
    chance_TJ = tl.exp2(-slope * share_TJ) * (1.0 / total)
    logit_grad_TJ = tl.where(pair_TJ == chosen, grad, 0.0) - grad * chance_TJ
    if ENTROPY:
        log_TJ = -slope * LOG2 * share_TJ - tl.log(total)
        logit_grad_TJ -= entropy_grad * chance_TJ * (log_TJ + entropy)
    slant_TJ = (2 * LOG2 * slope) * share_TJ * (1.0 - share_TJ)
    return tl.where(share_TJ >= 0, logit_grad_TJ * slant_TJ, 0.0)


@triton.jit
def _unit_grads(grad_P1, first_PC, w2_CC, b2_C, back_CC, DTYPE: tl.constexpr, PRECISION: tl.constexpr):
    """(P, C) twice: d where a unit of the second layer is on, and the gradients of the first layer's units."""
    second_PC = tl.dot(first_PC, w2_CC, input_precision=PRECISION)
    on_PC = tl.where(second_PC > -b2_C[None, :], grad_P1, 0.0).to(DTYPE)
    first_grad_PC = tl.dot(on_PC, back_CC, input_precision=PRECISION)
    return on_PC, tl.where(first_PC > 0, first_grad_PC, 0.0).to(DTYPE)


@triton.jit
def _pairs_kernel(
    query_ptr, key_ptr, w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, b3_ptr, move_ptr,
    share_ptr, total_ptr, entropy_ptr, grad_ptr, entropy_grad_ptr,
    score_grad_ptr, unit_part_ptr, slot_part_ptr, plain_part_ptr, b3_part_ptr, scale_ptr,
    query_aspect, key_aspect, slope, rows, tiles, N,
    H: tl.constexpr, PER: tl.constexpr, K: tl.constexpr, KEY: tl.constexpr, C: tl.constexpr, L: tl.constexpr,
    T: tl.constexpr, J: tl.constexpr, SECOND: tl.constexpr, ENTROPY: tl.constexpr, LARGEST: tl.constexpr,
    ONES: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr, LOG2: tl.constexpr,
):  # fmt: skip
    """Tiles of first positions with all second ones: gradients of their scores, and sums for those of the weights."""
    program = tl.program_id(0)
    unit_C, head_H = tl.arange(0, C), tl.arange(0, H)
    w1_LC, b1_C, w2_CC, b2_C, w3_C = load_network(w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, H, L // H, L, C, DTYPE)
    w1_CH = tl.load(w1_ptr + unit_C[:, None] * H + head_H[None, :]).to(DTYPE)
    back_CC = tl.load(w2_ptr + unit_C[:, None] * C + unit_C[None, :]).to(tl.float32)
    back_CC = (back_CC * w3_C[:, None]).to(DTYPE)
    ones_PX = tl.full((T * J, ONES), 1.0, DTYPE)
    scale = _scale(grad_ptr, entropy_grad_ptr, rows, ENTROPY, LARGEST)
    unit_XC = tl.zeros((2 * C, C), tl.float32)
    slot_XL = tl.zeros((2 * C, L), tl.float32)
    plain_XX = tl.zeros((2 * C, ONES), tl.float32)
    b3_TJ = tl.zeros((T, J), tl.float32)
    for index in range(program, rows * tiles, tl.num_programs(0)):
        row, first_T = _place(index, tiles, T)
        queries = query_ptr + row * N * PER * K
        query_HTK = load_heads(queries, query_aspect, first_T, N, H, PER, K, PER * K, DTYPE)
        of_row = _of_row(row, move_ptr, total_ptr, entropy_ptr, grad_ptr, entropy_grad_ptr, scale, N, ENTROPY)
        target_ptr = score_grad_ptr + row * H * tiles * T * SECOND * J
        for tile in range(SECOND):
            second_J = tile * J + tl.arange(0, J)
            key_HJK = load_heads(key_ptr + row * N * KEY, key_aspect, second_J, N, H, PER, K, KEY, DTYPE)
            pair_TJ = first_T[:, None] * N + second_J[None, :]
            inside_TJ = (first_T < N)[:, None] & (second_J < N)[None, :]
            share_TJ = tl.load(share_ptr + row * N * N + pair_TJ, mask=inside_TJ, other=-1.0)
            grad_TJ = _output_grads(share_TJ, pair_TJ, of_row, slope, ENTROPY, LOG2)
            b3_TJ += grad_TJ
            grad_P1 = tl.reshape(grad_TJ, (T * J,)).to(DTYPE)[:, None]

            score_PL = pair_scores(query_HTK, key_HJK, L, DTYPE, PRECISION)
            first_PC = first_units(score_PL, w1_LC, b1_C, DTYPE, PRECISION)
            on_PC, first_grad_PC = _unit_grads(grad_P1, first_PC, w2_CC, b2_C, back_CC, DTYPE, PRECISION)
            both_XP = tl.trans(joined(on_PC, first_grad_PC))
            unit_XC = tl.dot(both_XP, first_PC, unit_XC, input_precision=PRECISION)
            slot_XL = tl.dot(both_XP, score_PL, slot_XL, input_precision=PRECISION)
            plain_XX = tl.dot(both_XP, ones_PX, plain_XX, input_precision=PRECISION)

            score_grad_PH = tl.dot(first_grad_PC, w1_CH, input_precision=PRECISION)
            score_grad_TJH = tl.reshape(score_grad_PH.to(DTYPE), (T, J, H))
            target_TJ = first_T[:, None] * SECOND * J + second_J[None, :]
            target_TJH = target_TJ[:, :, None] + head_H[None, None, :] * tiles * T * SECOND * J
            tl.store(target_ptr + target_TJH, score_grad_TJH)
    unit_X = program * 2 * C + tl.arange(0, 2 * C)
    tl.store(unit_part_ptr + unit_X[:, None] * C + unit_C[None, :], unit_XC)
    tl.store(slot_part_ptr + unit_X[:, None] * L + tl.arange(0, L)[None, :], slot_XL)
    tl.store(plain_part_ptr + unit_X, tl.sum(plain_XX, 1) / ONES)
    tl.store(b3_part_ptr + program, tl.sum(b3_TJ))
    if program == 0:
        tl.store(scale_ptr, 1.0 / scale)


@triton.jit
def _operands_kernel(
    score_grad_ptr, query_ptr, key_ptr, scale_ptr, query_grad_ptr, key_grad_ptr, query_aspect, key_aspect, N,
    H: tl.constexpr, PER: tl.constexpr, K: tl.constexpr, KEY: tl.constexpr, T: tl.constexpr, P: tl.constexpr,
    TALL: tl.constexpr, WIDE: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One aspect of one row: gradients of queries, T positions at a time, and of keys, of shared ones over heads."""
    SHARED: tl.constexpr = KEY == K
    aspect, row = tl.program_id(1), tl.program_id(0).to(tl.int64)
    scale = tl.load(scale_ptr)
    place_P, column_K = tl.arange(0, P), tl.arange(0, K)
    inside_P1 = (place_P < N)[:, None]
    start = aspect.to(tl.int64)
    query_start = start * query_aspect + row * N * PER * K
    key_PK = start * key_aspect + row * N * KEY + place_P[:, None] * KEY + column_K[None, :]
    key_grad_PK = tl.zeros((P, K), tl.float32)
    for head in range(PER):
        own_PK = key_PK + (0 if SHARED else head * K)
        each_PK = tl.load(key_ptr + own_PK, mask=inside_P1, other=0.0).to(DTYPE)
        grads = score_grad_ptr + (row * H + aspect * PER + head) * TALL * WIDE
        for begin in range(0, N, T):
            place_T = begin + tl.arange(0, T)
            mask_TP = (place_T < TALL)[:, None] & (place_P < WIDE)[None, :]
            grad_TP = tl.load(grads + place_T[:, None] * WIDE + place_P[None, :], mask=mask_TP, other=0.0)
            query_TK = query_start + place_T[:, None] * PER * K + head * K + column_K[None, :]
            inside_T1 = (place_T < N)[:, None]
            query_grad_TK = tl.dot(grad_TP, each_PK, input_precision=PRECISION) * scale
            tl.store(query_grad_ptr + query_TK, query_grad_TK, mask=inside_T1)
            value_TK = tl.load(query_ptr + query_TK, mask=inside_T1, other=0.0).to(DTYPE)
            key_grad_PK = tl.dot(tl.trans(grad_TP), value_TK, key_grad_PK, input_precision=PRECISION)
        if not SHARED:
            tl.store(key_grad_ptr + own_PK, key_grad_PK * scale, mask=inside_P1)
            key_grad_PK = tl.zeros((P, K), tl.float32)
    if SHARED:
        tl.store(key_grad_ptr + key_PK, key_grad_PK * scale, mask=inside_P1)


@triton.jit
def _weights_kernel(
    w2_ptr, b2_ptr, w3_ptr, unit_part_ptr, slot_part_ptr, plain_part_ptr, b3_part_ptr, scale_ptr,
    w1_grad_ptr, b1_grad_ptr, w2_grad_ptr, b2_grad_ptr, w3_grad_ptr, b3_grad_ptr, programs,
    H: tl.constexpr, C: tl.constexpr, L: tl.constexpr, G: tl.constexpr,
):  # fmt: skip
    """One hidden unit of both layers: the sums over programs, G at a time, and what follows from them."""
    unit = tl.program_id(0)
    unit_C, slot_L = tl.arange(0, C), tl.arange(0, L)
    scale = tl.load(scale_ptr)
    w2_GC = tl.zeros((G, C), tl.float32)
    w1_GL = tl.zeros((G, L), tl.float32)
    on_G = tl.zeros((G,), tl.float32)
    b1_G = tl.zeros((G,), tl.float32)
    b3_G = tl.zeros((G,), tl.float32)
    for start in range(0, programs, G):
        program_G = start + tl.arange(0, G)
        inside_G = program_G < programs
        second_G = program_G * 2 * C + unit
        first_G = second_G + C
        w2_GC += tl.load(unit_part_ptr + second_G[:, None] * C + unit_C[None, :], mask=inside_G[:, None], other=0.0)
        w1_GL += tl.load(slot_part_ptr + first_G[:, None] * L + slot_L[None, :], mask=inside_G[:, None], other=0.0)
        on_G += tl.load(plain_part_ptr + second_G, mask=inside_G, other=0.0)
        b1_G += tl.load(plain_part_ptr + first_G, mask=inside_G, other=0.0)
        b3_G += tl.load(b3_part_ptr + program_G, mask=inside_G, other=0.0)
    w1_H = tl.sum(tl.reshape(tl.sum(w1_GL, 0), (H, L // H)), 1) * scale
    sum_C, on = tl.sum(w2_GC, 0) * scale, tl.sum(on_G) * scale
    w3 = tl.load(w3_ptr + unit)
    through = tl.sum(sum_C * tl.load(w2_ptr + unit * C + unit_C)) + on * tl.load(b2_ptr + unit)
    tl.store(w1_grad_ptr + unit * H + tl.arange(0, H), w1_H)
    tl.store(b1_grad_ptr + unit, tl.sum(b1_G) * scale)
    tl.store(w2_grad_ptr + unit * C + unit_C, sum_C * w3)
    tl.store(b2_grad_ptr + unit, on * w3)
    tl.store(w3_grad_ptr + unit, through)
    if unit == 0:
        tl.store(b3_grad_ptr, tl.sum(b3_G) * scale)


def _multiprocessors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


def backward(pairs: Pairs, kept: Kept, grad_B: Tensor, entropy_grad_B: Tensor | None) -> tuple[Tensor, ...]:
    """Gradients of query, key and the six tensors of the network, each in the dtype of what it belongs to."""
    device, (_, rows, size, _) = pairs.query_SBNE.device, pairs.query_SBNE.shape
    how, settings = pairs.how, pairs.settings()
    heads, hidden, slots, launch = settings["H"], settings["C"], settings["L"], how.launch
    first, second = triton.cdiv(size, launch.first), triton.cdiv(size, launch.second)
    programs = min(rows * first, launch.residents * _multiprocessors(device))
    score_grad = torch.empty(rows, heads, first * launch.first, second * launch.second, device=device, dtype=how.dtype)
    widths = (2 * hidden * hidden, 2 * hidden * slots, 2 * hidden, 1)
    parts = tuple(torch.empty(programs, width, device=device) for width in widths)
    scale = torch.empty(1, device=device)
    _pairs_kernel[(programs,)](
        *pairs.tensors(), how.move_B2, *kept, grad_B.contiguous(),
        None if entropy_grad_B is None else entropy_grad_B.contiguous(),
        score_grad, *parts, scale, *pairs.aspect_strides(), how.slope(), rows, first, size,
        **settings, T=launch.first, J=launch.second, SECOND=second, ENTROPY=entropy_grad_B is not None, ONES=ONES,
        LARGEST=LARGEST if how.dtype == torch.float16 else 0.0,
        num_warps=launch.warps, num_stages=launch.stages, maxnreg=launch.registers,
    )  # fmt: skip
    network = pairs.network
    network_grad = Aggregation(*(torch.empty_like(x) for x in network))
    _weights_kernel[(hidden,)](
        network.w2, network.b2, network.w3, *parts, scale, *network_grad, programs,
        H=heads, C=hidden, L=slots, G=PARTS, num_warps=4,
    )  # fmt: skip
    return *_operand_grads(pairs, score_grad, scale), *network_grad


def _operand_grads(pairs: Pairs, score_grad_BHNN: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """Gradients of query and key from those of the scores."""
    aspects, rows, size, _ = pairs.query_SBNE.shape
    padded, launch = power_of_two(size), pairs.how.launch
    query_grad, key_grad = (torch.empty_like(x) for x in pairs[:2])
    settings = {name: value for name, value in pairs.settings().items() if name not in ("C", "L", "LOG2")}
    _operands_kernel[(rows, aspects)](
        score_grad_BHNN, *pairs[:2], scale, query_grad, key_grad, *pairs.aspect_strides(), size,
        **settings, T=min(padded, launch.operand_first), P=padded,
        TALL=score_grad_BHNN.shape[2], WIDE=score_grad_BHNN.shape[3],
        num_warps=max(4, padded // 16), num_stages=launch.operand_stages, maxnreg=launch.operand_registers,
    )  # fmt: skip
    return query_grad, key_grad
