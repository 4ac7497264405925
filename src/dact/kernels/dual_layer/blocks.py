"""What the kernels that train a layer are made of: lines of a program, matrices, heads, and gradients of norms.

A program holds G rows of the batch, each padded to P positions, as R = G * P lines of its matrices. Positions attend
only to positions of their own row. Shape letters: as in reference.py, with H heads.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl


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
    """How far on from the group's start each line is, and which of them there are."""
    line_R = begin + tl.arange(0, COUNT)
    inside_R = (line_R % P < N) & (rows_of(group, begin, G, P, COUNT) < rows)
    return line_R // P * N + line_R % P, inside_R


@triton.jit
def seen(begin, N, P: tl.constexpr, COUNT: tl.constexpr, R: tl.constexpr):
    """(COUNT, R): which keys a line sees. Lines beyond the last row see each other, so that no line sees nothing."""
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
    """Rounded to a dtype; what float16 cannot hold becomes its largest number."""
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
