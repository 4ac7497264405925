"""The pieces of kernels that work on a tile of pairs, T first positions by J second positions.

The aggregation network is a chain of small matrix products with pairs as rows. Its first layer multiplies by
scores of all heads, and tensor cores want at least 16 numbers there. So every head is cut into 16 / H slots:
the partial dot products of a head's slots add up in the first layer, whose weights are repeated per slot.
Shape letters: L slots, T and J positions of the tile, P = T * J pairs, K numbers per slot, C hidden units.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201
import triton
import triton.language as tl

SLOTS = 16


@triton.jit
def load_slots(
    row_ptr, aspect_stride, head_stride, place_stride, place_T, size,
    PER: tl.constexpr, PARTS: tl.constexpr, L: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """(L, T, K) of one row; zero beyond `size`. Slot l is part l % PARTS of head l // PARTS, PER heads an aspect."""
    slot_L = tl.arange(0, L)
    head_L = slot_L // PARTS
    offset_L = (head_L // PER) * aspect_stride + (head_L % PER) * head_stride + (slot_L % PARTS) * K
    offset_LTK = offset_L[:, None, None] + place_T[None, :, None] * place_stride + tl.arange(0, K)[None, None, :]
    return tl.load(row_ptr + offset_LTK, mask=(place_T < size)[None, :, None], other=0.0)


@triton.jit
def load_network(
    w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr,
    H: tl.constexpr, PARTS: tl.constexpr, L: tl.constexpr, C: tl.constexpr, DTYPE: tl.constexpr,
):  # fmt: skip
    """(L, C) and (C, C) matrices that multiply from the right, and the three rows of C in float32."""
    unit_C = tl.arange(0, C)
    w1_LC = tl.load(w1_ptr + unit_C[None, :] * H + (tl.arange(0, L) // PARTS)[:, None]).to(DTYPE)
    w2_CC = tl.load(w2_ptr + unit_C[None, :] * C + unit_C[:, None]).to(DTYPE)
    b1_C = tl.load(b1_ptr + unit_C).to(tl.float32)
    b2_C = tl.load(b2_ptr + unit_C).to(tl.float32)
    w3_C = tl.load(w3_ptr + unit_C).to(tl.float32)
    return w1_LC, b1_C, w2_CC, b2_C, w3_C


@triton.jit
def pair_scores(
    query_LTK, key_LJK, T: tl.constexpr, J: tl.constexpr, L: tl.constexpr,
    DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """(P, L) partial scores of the tile's pairs, first position major."""
    score_LTJ = tl.dot(query_LTK, tl.permute(key_LJK, (0, 2, 1)), input_precision=PRECISION)
    return tl.reshape(tl.permute(score_LTJ.to(DTYPE), (1, 2, 0)), (T * J, L))


@triton.jit
def hidden_units(score_PL, w1_LC, b1_C, w2_CC, b2_C, DTYPE: tl.constexpr, PRECISION: tl.constexpr):
    """(P, C) hidden units of both layers, behind their relu; the second in float32."""
    first_PC = tl.dot(score_PL, w1_LC, input_precision=PRECISION) + b1_C[None, :]
    # Rounded first: the relu of half-precision numbers is two at a time.
    first_PC = tl.maximum(first_PC.to(DTYPE), tl.full((1, 1), 0.0, DTYPE)).to(DTYPE)
    second_PC = tl.dot(first_PC, w2_CC, input_precision=PRECISION) + b2_C[None, :]
    return first_PC, tl.maximum(second_PC, 0.0)
