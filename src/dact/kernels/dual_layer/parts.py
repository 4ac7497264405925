"""Shared device functions of the layer kernels: lines of a program, matrices, heads, and gradients of norms.

A program holds G rows of the batch, each padded to P positions, as R = G * P lines of its matrices. Positions attend
only to positions of their own row. Shape letters: as in reference.py, with H heads.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl

from dact.kernels.registers import halves, joined

NARROW, SLIM = tl.constexpr(64), tl.constexpr(16)
"""Each projection of a head and each gathering is a product of its own up to NARROW positions. Longer rows fill a
program; there all four projections of a head of SLIM columns are one wide product, and both gatherings another: less
to wait for, in more registers. On an H200 that is slower where programs share a multiprocessor; broader heads spill."""


@triton.jit
def start(group, N, G: tl.constexpr):
    """Where a group of rows starts in the batch's list of all positions."""
    return tl.cast(group * G, tl.int64) * N


@triton.jit
def rows_of(group, begin, G: tl.constexpr, P: tl.constexpr, COUNT: tl.constexpr):
    """The row of each of COUNT lines of a group."""
    return group * G + (begin + tl.arange(0, COUNT)) // P


@triton.jit
def lines(group, begin, rows, N, G: tl.constexpr, P: tl.constexpr, COUNT: tl.constexpr):
    """Offset of each line from the group's start, and whether the line exists."""
    line_R = begin + tl.arange(0, COUNT)
    inside_R = (line_R % P < N) & (rows_of(group, begin, G, P, COUNT) < rows)
    return line_R // P * N + line_R % P, inside_R


@triton.jit
def seen(begin, N, P: tl.constexpr, COUNT: tl.constexpr, R: tl.constexpr):
    """(COUNT, R): keys that a line attends to. Padding lines attend to each other, so that no softmax is empty."""
    key_R = tl.arange(0, R)
    seen_1R = (key_R % P < N)[None, :]
    if R > P:
        seen_1R &= (begin + tl.arange(0, COUNT))[:, None] // P == key_R[None, :] // P
    return seen_1R


@triton.jit
def tile(ptr, at_R, COLUMNS: tl.constexpr):
    """(R, COLUMNS) pointers to lines of a matrix."""
    return ptr + at_R[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]


@triton.jit
def matrix(ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A small matrix of weights."""
    return tl.load(tile(ptr, tl.arange(0, ROWS), COLUMNS))


@triton.jit
def saturated(x, DTYPE: tl.constexpr):
    """Rounded to a dtype; numbers too large for float16 become its largest one."""
    x = x.to(DTYPE)
    if tl.float16 == DTYPE:
        x = tl.minimum(tl.maximum(x, tl.full((1, 1), -65504.0, DTYPE)), tl.full((1, 1), 65504.0, DTYPE))
    return x


@triton.jit
def softmax2(query_RK, key_RK, seen_RR, PRECISION: tl.constexpr):
    """(R, R) weights in float32, by powers of two."""
    score_RR = tl.dot(query_RK, tl.trans(key_RK), input_precision=PRECISION)
    score_RR = tl.where(seen_RR, score_RR, float("-inf"))
    mass_RR = tl.exp2(score_RR - tl.max(score_RR, 1)[:, None])
    return mass_RR * (1.0 / tl.sum(mass_RR, 1))[:, None]


@triton.jit
def _projected(x_RD, ptr, D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr):
    return tl.dot(x_RD, matrix(ptr, D, K), input_precision=PRECISION).to(DTYPE)


@triton.jit
def _all_projected(x_RD, ptr, D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr):
    """(R, K) queries, keys, values and references of one head, by one product."""
    column_E = tl.arange(0, 4 * K)
    matrix_DE = tl.load(ptr + tl.arange(0, D)[:, None] * K + (column_E // K * (D * K) + column_E % K)[None, :])
    scoring_RE, gathered_RE = halves(tl.dot(x_RD, matrix_DE, input_precision=PRECISION).to(DTYPE))
    query_RK, key_RK = halves(scoring_RE)
    value_RK, reference_RK = halves(gathered_RE)
    return query_RK, key_RK, value_RK, reference_RK


@triton.jit
def _weights(query_RK, key_RK, seen_RR, DTYPE: tl.constexpr, PRECISION: tl.constexpr):
    """(R, R) weights of one head, relative to the largest of a line, and the (R, 1) share of one in their sum."""
    score_RR = tl.dot(query_RK, tl.trans(key_RK), input_precision=PRECISION)
    score_RR = tl.where(seen_RR, score_RR, float("-inf"))
    weight_RR = tl.exp2(score_RR - tl.max(score_RR, 1)[:, None])
    return weight_RR.to(DTYPE), (1.0 / tl.sum(weight_RR, 1))[:, None]


@triton.jit
def _collect(
    sum_RD, weight_RR, share_R1, value_RK, out_ptr,
    D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """A sum with what a head gathers added through its rows of the output matrix."""
    gathered_RK = tl.dot(weight_RR, value_RK, input_precision=PRECISION) * share_R1
    return tl.dot(gathered_RK.to(DTYPE), matrix(out_ptr, K, D), sum_RD, input_precision=PRECISION)


@triton.jit
def _collect_both(
    own_sum_RD, other_sum_RD, weight_RR, share_R1, value_RK, reference_RK, own_out_ptr, other_out_ptr,
    D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Both aspects' sums with what the same weights gather added; they gather by one product."""
    gathered_RE = tl.dot(weight_RR, joined(value_RK, reference_RK), input_precision=PRECISION) * share_R1
    own_RK, other_RK = halves(gathered_RE.to(DTYPE))
    own_sum_RD = tl.dot(own_RK, matrix(own_out_ptr, K, D), own_sum_RD, input_precision=PRECISION)
    other_sum_RD = tl.dot(other_RK, matrix(other_out_ptr, K, D), other_sum_RD, input_precision=PRECISION)
    return own_sum_RD, other_sum_RD


@triton.jit
def _attend_own(
    x_RD, sum_RD, ptr, out_ptr, seen_RR,
    D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One head of one aspect's scores: weights and shares, and the aspect's sum with what they gather from it."""
    query_RK = _projected(x_RD, ptr, D, K, DTYPE, PRECISION)
    key_RK = _projected(x_RD, ptr + D * K, D, K, DTYPE, PRECISION)
    weight_RR, share_R1 = _weights(query_RK, key_RK, seen_RR, DTYPE, PRECISION)
    value_RK = _projected(x_RD, ptr + 2 * D * K, D, K, DTYPE, PRECISION)
    return weight_RR, share_R1, _collect(sum_RD, weight_RR, share_R1, value_RK, out_ptr, D, K, DTYPE, PRECISION)


@triton.jit
def _attend_apart(
    own_RD, other_RD, own_sum_RD, other_sum_RD, own_ptr, other_ptr, own_out_ptr, other_out_ptr, head, seen_RR,
    H: tl.constexpr, D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One head of one aspect's scores, by narrow products: what they gather is added to both aspects' sums."""
    MATRIX: tl.constexpr = D * K
    weight_RR, share_R1, own_sum_RD = _attend_own(
        own_RD, own_sum_RD, own_ptr + head * 4 * MATRIX, own_out_ptr + head * MATRIX, seen_RR, D, K, DTYPE, PRECISION
    )
    reference_RK = _projected(other_RD, other_ptr + (head * 4 + 3) * MATRIX, D, K, DTYPE, PRECISION)
    other_out_ptr += (H + head) * MATRIX
    other_sum_RD = _collect(other_sum_RD, weight_RR, share_R1, reference_RK, other_out_ptr, D, K, DTYPE, PRECISION)
    return own_sum_RD, other_sum_RD


@triton.jit
def _attend_at_once(
    node_RD, place_RD, node_sum_RD, place_sum_RD, project_ptr, out_ptr, head, seen_RR,
    H: tl.constexpr, D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One head of both aspects' scores, by wide products: what they gather is added to both aspects' sums."""
    MATRIX: tl.constexpr = D * K
    OUT: tl.constexpr = 2 * D * D
    project_ptr += head * 4 * MATRIX
    own_ptr, other_ptr = out_ptr + head * MATRIX, out_ptr + (H + head) * MATRIX
    query_RK, key_RK, value_RK, reference_RK = _all_projected(node_RD, project_ptr, D, K, DTYPE, PRECISION)
    weight_RR, share_R1 = _weights(query_RK, key_RK, seen_RR, DTYPE, PRECISION)
    query_RK, key_RK, place_value_RK, place_reference_RK = _all_projected(
        place_RD, project_ptr + 4 * D * D, D, K, DTYPE, PRECISION
    )
    node_sum_RD, place_sum_RD = _collect_both(
        node_sum_RD, place_sum_RD, weight_RR, share_R1, value_RK, place_reference_RK, own_ptr, other_ptr + OUT,
        D, K, DTYPE, PRECISION,
    )  # fmt: skip
    weight_RR, share_R1 = _weights(query_RK, key_RK, seen_RR, DTYPE, PRECISION)
    place_sum_RD, node_sum_RD = _collect_both(
        place_sum_RD, node_sum_RD, weight_RR, share_R1, place_value_RK, reference_RK, own_ptr + OUT, other_ptr,
        D, K, DTYPE, PRECISION,
    )  # fmt: skip
    return node_sum_RD, place_sum_RD


@triton.jit
def attend(
    node_RD, place_RD, node_sum_RD, place_sum_RD, project_ptr, out_ptr, head, seen_RR,
    P: tl.constexpr, H: tl.constexpr, D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """One head of both aspects' scores: what they gather from both aspects is added to their sums."""
    if P > NARROW and K == SLIM:
        node_sum_RD, place_sum_RD = _attend_at_once(
            node_RD, place_RD, node_sum_RD, place_sum_RD, project_ptr, out_ptr, head, seen_RR,
            H, D, K, DTYPE, PRECISION,
        )  # fmt: skip
    else:
        place_project_ptr, place_out_ptr = project_ptr + 4 * D * D, out_ptr + 2 * D * D
        node_sum_RD, place_sum_RD = _attend_apart(
            node_RD, place_RD, node_sum_RD, place_sum_RD, project_ptr, place_project_ptr, out_ptr, place_out_ptr,
            head, seen_RR, H, D, K, DTYPE, PRECISION,
        )  # fmt: skip
        place_sum_RD, node_sum_RD = _attend_apart(
            place_RD, node_RD, place_sum_RD, node_sum_RD, place_project_ptr, project_ptr, place_out_ptr, out_ptr,
            head, seen_RR, H, D, K, DTYPE, PRECISION,
        )  # fmt: skip
    return node_sum_RD, place_sum_RD


@triton.jit
def attend_first(
    node_RD, node_sum_RD, place_sum_RD, project_ptr, out_ptr, weight_ptr, share_ptr, reference_ptr, head, line_R,
    seen_RR, P: tl.constexpr, H: tl.constexpr, D: tl.constexpr, K: tl.constexpr, DTYPE: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    """One head of both aspects' scores in a first layer, where all that is of places alone is known."""
    MATRIX: tl.constexpr = D * K
    WIDE: tl.constexpr = P > NARROW and K == SLIM
    project_ptr += head * 4 * MATRIX
    own_ptr, other_ptr = out_ptr + head * MATRIX, out_ptr + (H + head) * MATRIX
    place_other_ptr = other_ptr + 2 * D * D
    from_R1 = (head * P + line_R % P)[:, None]
    if WIDE:
        place_reference_RK = tl.load(reference_ptr + from_R1 * K + tl.arange(0, K)[None, :])
        query_RK, key_RK, value_RK, reference_RK = _all_projected(node_RD, project_ptr, D, K, DTYPE, PRECISION)
        weight_RR, share_R1 = _weights(query_RK, key_RK, seen_RR, DTYPE, PRECISION)
        node_sum_RD, place_sum_RD = _collect_both(
            node_sum_RD, place_sum_RD, weight_RR, share_R1, value_RK, place_reference_RK, own_ptr, place_other_ptr,
            D, K, DTYPE, PRECISION,
        )  # fmt: skip
    else:
        weight_RR, share_R1, node_sum_RD = _attend_own(
            node_RD, node_sum_RD, project_ptr, own_ptr, seen_RR, D, K, DTYPE, PRECISION
        )
        place_reference_RK = tl.load(reference_ptr + from_R1 * K + tl.arange(0, K)[None, :])
        place_sum_RD = _collect(
            place_sum_RD, weight_RR, share_R1, place_reference_RK, place_other_ptr, D, K, DTYPE, PRECISION
        )
    same_RR = line_R[:, None] // P == line_R[None, :] // P
    weight_RR = tl.load(weight_ptr + from_R1 * P + (line_R % P)[None, :], mask=same_RR, other=0.0)
    if not WIDE:
        reference_RK = _projected(node_RD, project_ptr + 3 * MATRIX, D, K, DTYPE, PRECISION)
    share_R1 = tl.load(share_ptr + from_R1)
    node_sum_RD = _collect(node_sum_RD, weight_RR, share_R1, reference_RK, other_ptr, D, K, DTYPE, PRECISION)
    return node_sum_RD, place_sum_RD


@triton.jit
def _total(x_RD, G: tl.constexpr, P: tl.constexpr):
    """(R, 1): the sum over all positions and features of a line's row."""
    total_G = tl.sum(tl.reshape(tl.sum(x_RD, 1), (G, P)), 1)
    return tl.reshape(tl.broadcast_to(total_G[:, None], (G, P)), (G * P,))[:, None]


@triton.jit
def norm_gradient(grad_RD, out_RD, rate_R, inside_R, count, G: tl.constexpr, P: tl.constexpr):
    """rate (g - mean(g) - out sum(g out) / (count - 1)), zero in the padding, where g and out must be zero."""
    along_R1 = _total(grad_RD * out_RD, G, P) / (count - 1)
    grad_RD = (grad_RD - _total(grad_RD, G, P) / count - out_RD * along_R1) * rate_R[:, None]
    return tl.where(inside_R[:, None], grad_RD, 0.0)
