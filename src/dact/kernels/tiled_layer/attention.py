"""Attention over packed projections, for rows whose keys fit one warp and for longer ones.

Shape letters: N positions, H heads of width K, M lines of a tile of queries, L keys of a tile.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl


@triton.jit
def _part(ptr, line_M, N, STRIDE: tl.constexpr, K: tl.constexpr, MASKED: tl.constexpr):
    """(M, K): queries, keys, values or references of some lines of a head."""
    pointer_MK = ptr + line_M[:, None] * STRIDE + tl.arange(0, K)[None, :]
    return tl.load(pointer_MK, mask=(line_M < N)[:, None], other=0.0) if MASKED else tl.load(pointer_MK)


@triton.jit
def _in_pieces(ptr, N, PIECES: tl.constexpr, STRIDE: tl.constexpr, K: tl.constexpr):
    """All lines of a head as a tuple of (L, K); only the last may reach beyond the row."""
    parts = ()
    begin = 0
    for piece in tl.static_range(len(PIECES)):
        line_L = begin + tl.arange(0, PIECES[piece])
        parts += (_part(ptr, line_L, N, STRIDE, K, piece == len(PIECES) - 1),)  # type: ignore[assignment]
        begin += PIECES[piece]
    return parts


@triton.jit
def _store_gathered(own_MK, seen_MK, merged_ptr, line_M, aspect, row, head, rows, N, H: tl.constexpr, K: tl.constexpr):
    """What scores saw of their own aspect's values, and for the other aspect what they saw of its references."""
    D: tl.constexpr = H * K
    within_MK = line_M[:, None] * 2 * D + head * K + tl.arange(0, K)[None, :]
    own_ptr = merged_ptr + (aspect * rows + row) * N * 2 * D
    seen_ptr = merged_ptr + ((1 - aspect) * rows + row) * N * 2 * D + D
    inside_M1 = (line_M < N)[:, None]
    tl.store(own_ptr + within_MK, own_MK.to(merged_ptr.dtype.element_ty), mask=inside_M1)
    tl.store(seen_ptr + within_MK, seen_MK.to(merged_ptr.dtype.element_ty), mask=inside_M1)


@triton.jit
def _head_of(index, ASPECTS: tl.constexpr, H: tl.constexpr):
    """Aspect, row and head of a program."""
    return index // H % ASPECTS, (index // (ASPECTS * H)).to(tl.int64), index % H


@triton.jit
def attend_kernel(
    packed_ptr, reference_ptr, merged_ptr, rows, N,
    M: tl.constexpr, PIECES: tl.constexpr, P: tl.constexpr, H: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """A head of one row: all its keys, in pieces, stay here while tiles of queries pass.

    Where all rows share the references to places, only the scores of nodes are computed.
    """
    LAST: tl.constexpr = len(PIECES) - 1
    aspect, row, head = _head_of(tl.program_id(0), 2 if reference_ptr is None else 1, H)
    own_ptr = packed_ptr + ((aspect * rows + row) * H + head) * N * 4 * K
    keys = _in_pieces(own_ptr + K, N, PIECES, 4 * K, K)
    values = _in_pieces(own_ptr + 2 * K, N, PIECES, 4 * K, K)
    if reference_ptr is None:
        other_ptr = packed_ptr + (((1 - aspect) * rows + row) * H + head) * N * 4 * K
        references = _in_pieces(other_ptr + 3 * K, N, PIECES, 4 * K, K)
    else:
        references = _in_pieces(reference_ptr + head * P * K, N, PIECES, K, K)
    inside_L = P - PIECES[LAST] + tl.arange(0, PIECES[LAST]) < N
    for begin in range(0, N, M):
        line_M = begin + tl.arange(0, M)
        query_MK = _part(own_ptr, line_M, N, 4 * K, K, True)
        scores = ()
        most_M = tl.full((M,), float("-inf"), tl.float32)
        for piece in tl.static_range(LAST + 1):
            score_ML = tl.dot(query_MK, tl.trans(keys[piece]), input_precision=PRECISION)
            if piece == LAST:
                score_ML = tl.where(inside_L[None, :], score_ML, float("-inf"))
            scores += (score_ML,)  # type: ignore[assignment]
            most_M = tl.maximum(most_M, tl.max(score_ML, 1))
        mass_M = tl.zeros((M,), tl.float32)
        own_MK, seen_MK = tl.zeros((M, K), tl.float32), tl.zeros((M, K), tl.float32)
        for piece in tl.static_range(LAST + 1):
            weight_ML = tl.exp2(scores[piece] - most_M[:, None])
            mass_M += tl.sum(weight_ML, 1)
            weight_ML = weight_ML.to(query_MK.dtype)
            own_MK = tl.dot(weight_ML, values[piece], own_MK, input_precision=PRECISION)
            seen_MK = tl.dot(weight_ML, references[piece], seen_MK, input_precision=PRECISION)
        share_M1 = (1.0 / mass_M)[:, None]
        _store_gathered(own_MK * share_M1, seen_MK * share_M1, merged_ptr, line_M, aspect, row, head, rows, N, H, K)


@triton.jit
def gather_kernel(
    weight_ptr, share_ptr, gathered_ptr, packed_ptr, merged_ptr, rows, N,
    M: tl.constexpr, PIECES: tl.constexpr, P: tl.constexpr, H: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """What the weights of places, the same for all rows, see of a head's references to nodes; and of places, copied."""
    _, row, head = _head_of(tl.program_id(0), 1, H)
    references = _in_pieces(packed_ptr + (row * H + head) * N * 4 * K + 3 * K, N, PIECES, 4 * K, K)
    for begin in range(0, N, M):
        line_M = begin + tl.arange(0, M)
        weight_M1 = weight_ptr + (head * P + line_M)[:, None] * P
        seen_MK = tl.zeros((M, K), tl.float32)
        place = 0
        for piece in tl.static_range(len(PIECES)):
            weight_ML = weight_M1 + (place + tl.arange(0, PIECES[piece]))[None, :]
            weight_ML = tl.load(weight_ML, mask=(line_M < N)[:, None], other=0.0)
            seen_MK = tl.dot(weight_ML, references[piece], seen_MK, input_precision=PRECISION)
            place += PIECES[piece]
        share_M = tl.load(share_ptr + head * P + line_M, mask=line_M < N, other=0.0)
        own_MK = _part(gathered_ptr + head * P * K, line_M, N, K, K, True)
        _store_gathered(own_MK, seen_MK * share_M[:, None], merged_ptr, line_M, 1, row, head, rows, N, H, K)


@triton.jit
def _more_keys(
    own_ptr, reference_ptr, query_MK, most_M, mass_M, own_MK, seen_MK, line_L, N,
    K: tl.constexpr, MASKED: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """The softmax so far, relative to the largest score so far, with a tile of keys more."""
    score_ML = tl.dot(query_MK, tl.trans(_part(own_ptr + K, line_L, N, 4 * K, K, MASKED)), input_precision=PRECISION)
    if MASKED:
        score_ML = tl.where((line_L < N)[None, :], score_ML, float("-inf"))
    new_most_M = tl.maximum(most_M, tl.max(score_ML, 1))
    fade_M = tl.exp2(most_M - new_most_M)
    weight_ML = tl.exp2(score_ML - new_most_M[:, None])
    mass_M = mass_M * fade_M + tl.sum(weight_ML, 1)
    weight_ML = weight_ML.to(query_MK.dtype)
    value_LK = _part(own_ptr + 2 * K, line_L, N, 4 * K, K, MASKED)
    reference_LK = _part(reference_ptr, line_L, N, 4 * K, K, MASKED)
    own_MK = tl.dot(weight_ML, value_LK, own_MK * fade_M[:, None], input_precision=PRECISION)
    seen_MK = tl.dot(weight_ML, reference_LK, seen_MK * fade_M[:, None], input_precision=PRECISION)
    return new_most_M, mass_M, own_MK, seen_MK


@triton.jit
def attend_long_kernel(
    packed_ptr, merged_ptr, rows, N,
    M: tl.constexpr, L: tl.constexpr, H: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """A tile of queries of one head and row: tiles of keys pass."""
    tiles = tl.cdiv(N, M)
    aspect, row, head = _head_of(tl.program_id(0) // tiles, 2, H)
    own_ptr = packed_ptr + ((aspect * rows + row) * H + head) * N * 4 * K
    reference_ptr = packed_ptr + (((1 - aspect) * rows + row) * H + head) * N * 4 * K + 3 * K
    line_M = tl.program_id(0) % tiles * M + tl.arange(0, M)
    query_MK = _part(own_ptr, line_M, N, 4 * K, K, True)
    most_M = tl.full((M,), float("-inf"), tl.float32)
    mass_M = tl.zeros((M,), tl.float32)
    own_MK = tl.zeros((M, K), tl.float32)
    seen_MK = tl.zeros((M, K), tl.float32)
    line_L = tl.arange(0, L)
    full = N // L * L
    for begin in range(0, full, L):
        most_M, mass_M, own_MK, seen_MK = _more_keys(
            own_ptr, reference_ptr, query_MK, most_M, mass_M, own_MK, seen_MK, begin + line_L, N, K, False, PRECISION
        )
    if full < N:
        most_M, mass_M, own_MK, seen_MK = _more_keys(
            own_ptr, reference_ptr, query_MK, most_M, mass_M, own_MK, seen_MK, full + line_L, N, K, True, PRECISION
        )
    share_M1 = (1.0 / mass_M)[:, None]
    _store_gathered(own_MK * share_M1, seen_MK * share_M1, merged_ptr, line_M, aspect, row, head, rows, N, H, K)
