"""Pair logits of some first positions and a block of second positions, from registers to registers.

If second positions are the rows throughout, the result of a matrix product has the register layout that the next
product needs as its left factor. So only queries, keys and weights pass through shared memory:

- scores (J, T * heads) of an aspect are one product, because the heads of an aspect share their keys;
- the first layer takes 16 numbers a row, the scores of all heads for V = 16 / H first positions, and gives
  V * C hidden units: its weights are repeated along a diagonal;
- the second layer takes C hidden units a row;
- the third takes the T * C hidden units of a second position and gives its T logits: again by a diagonal.

Biases are where the products start to add up. Shape letters: S aspects, H heads of all aspects, K numbers of a head,
C hidden units, T first positions, W warps with M second positions each, J = W * M, V as above, G = T / V.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202, SIM300
import triton
import triton.language as tl

SLOTS = 16
ON_CHIP = tl.constexpr(not triton.knobs.runtime.interpret)
"""Inline assembly does not work in the interpreter."""


@triton.jit
def load_weights(
    w1_ptr, b1_ptr, w2_ptr, b2_ptr, w3_ptr, b3_ptr, scale: tl.constexpr,
    S: tl.constexpr, H: tl.constexpr, C: tl.constexpr, T: tl.constexpr, W: tl.constexpr, DTYPE: tl.constexpr,
):  # fmt: skip
    """The aggregation network, `scale` times its output, as right factors (for every warp the same) and biases."""
    V: tl.constexpr = 16 // H
    slot_L, unit_C, many_VC = tl.arange(0, 16), tl.arange(0, C), tl.arange(0, V * C)
    # Slot (v, head of an aspect, aspect), the aspect changing fastest.
    head_L = (slot_L % S) * (H // S) + (slot_L // S) % (H // S)
    diagonal = (slot_L // H)[:, None] == (many_VC // C)[None, :]
    w1 = tl.load(w1_ptr + (many_VC % C)[None, :] * H + head_L[:, None], mask=diagonal, other=0.0).to(DTYPE)
    w2 = tl.load(w2_ptr + unit_C[None, :] * C + unit_C[:, None]).to(DTYPE)
    # Built and not read along its diagonal, the largest factor stays in shared memory and leaves registers free.
    diagonal = tl.arange(0, T)[:, None, None] == tl.arange(0, T)[None, None, :]
    w3_C = (tl.load(w3_ptr + unit_C).to(tl.float32) * scale).to(DTYPE)
    w3 = tl.reshape(tl.where(diagonal, w3_C[None, :, None], tl.zeros((1, 1, 1), DTYPE)), (T * C, T))
    b1 = tl.load(b1_ptr + many_VC % C).to(tl.float32)[None, None, :]
    b2 = tl.load(b2_ptr + unit_C).to(tl.float32)[None, None, :]
    b3 = tl.load(b3_ptr).to(tl.float32) * scale
    w1 = tl.broadcast_to(w1[None], (W, 16, V * C))
    w2 = tl.broadcast_to(w2[None], (W, C, C))
    w3 = tl.broadcast_to(w3[None], (W, T * C, T))
    return w1, b1, w2, b2, w3, b3


@triton.jit
def load_keys(key_ptr, key_aspect, second, N, S: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr):
    """(W, M, K) keys of the first and of the last aspect at second positions (W, M, 1); zero beyond N."""
    key_ptr += second * K + tl.arange(0, K)[None, None, :]
    first_WMK = tl.load(key_ptr, mask=second < N, other=0.0).to(DTYPE)
    last_WMK = first_WMK
    if S == 2:
        last_WMK = tl.load(key_ptr + key_aspect, mask=second < N, other=0.0).to(DTYPE)
    return first_WMK, last_WMK


@triton.jit
def _scores(key_WMK, query_ptr, begin, end, T: tl.constexpr, PER: tl.constexpr, DTYPE, PRECISION):
    """(W, M, T * PER) scores of an aspect in DTYPE; queries of a position's heads follow each other."""
    W: tl.constexpr = key_WMK.shape[0]
    K: tl.constexpr = key_WMK.shape[2]
    place_E = begin * PER + tl.arange(0, T * PER)
    query_ptr += place_E[:, None] * K + tl.arange(0, K)[None, :]
    query_EK = tl.load(query_ptr, mask=(place_E < end * PER)[:, None], other=0.0).to(DTYPE)
    query_WKE = tl.broadcast_to(tl.trans(query_EK)[None], (W, K, T * PER))
    return tl.dot(key_WMK, query_WKE, input_precision=PRECISION).to(DTYPE)


@triton.jit
def relu(x, DTYPE: tl.constexpr):
    """Rounded to DTYPE and not below zero: in half precision one instruction for two numbers."""
    if ON_CHIP and DTYPE == tl.float16:
        y = tl.inline_asm_elementwise(
            "cvt.rn.relu.f16x2.f32 $0, $2, $1;", "=r,r,r", [x], dtype=tl.float16, is_pure=True, pack=2
        )
    elif ON_CHIP and DTYPE == tl.bfloat16:
        y = tl.inline_asm_elementwise(
            "cvt.rn.relu.bf16x2.f32 $0, $2, $1;", "=r,r,r", [x], dtype=tl.bfloat16, is_pure=True, pack=2
        )
    else:
        y = tl.maximum(x, 0.0).to(DTYPE)
    return y


@triton.jit
def pair_logits(
    keys, query_ptr, query_aspect, begin, end, weights,
    S: tl.constexpr, H: tl.constexpr, C: tl.constexpr, T: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """(W, M, T) logits times the scale of the weights, for first positions from `begin` on and below `end`."""
    PER: tl.constexpr = H // S
    V: tl.constexpr = 16 // H
    G: tl.constexpr = T // V
    W: tl.constexpr = keys[0].shape[0]
    M: tl.constexpr = keys[0].shape[1]
    w1, b1, w2, b2, w3, b3 = weights
    score = tl.reshape(_scores(keys[0], query_ptr, begin, end, T, PER, DTYPE, PRECISION), (W, M, G, V * PER))
    if S == 2:
        other = _scores(keys[1], query_ptr + query_aspect, begin, end, T, PER, DTYPE, PRECISION)
        score = tl.reshape(tl.join(score, tl.reshape(other, (W, M, G, V * PER))), (W, M, G, 16))
    score = tl.reshape(tl.permute(score, (0, 2, 1, 3)), (W, G * M, 16))
    hidden = tl.dot(score, w1, tl.broadcast_to(b1, (W, G * M, V * C)), input_precision=PRECISION)
    hidden = tl.reshape(relu(hidden, DTYPE), (W, G, M, V, C))
    hidden = tl.reshape(tl.permute(hidden, (0, 1, 3, 2, 4)), (W, T * M, C))
    hidden = tl.dot(hidden, w2, tl.broadcast_to(b2, (W, T * M, C)), input_precision=PRECISION)
    hidden = tl.reshape(relu(hidden, DTYPE), (W, T, M, C))
    hidden = tl.reshape(tl.permute(hidden, (0, 2, 1, 3)), (W, M, T * C))
    return tl.dot(hidden, w3, tl.zeros((W, M, T), tl.float32) + b3, input_precision=PRECISION)
