"""Join and split matrices without leaving a program's registers."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201
import triton
import triton.language as tl


@triton.jit
def joined(left_RK, right_RK):
    """(R, 2 K): columns of both, those of the left one first."""
    R: tl.constexpr = left_RK.shape[0]
    K: tl.constexpr = left_RK.shape[1]
    return tl.reshape(tl.permute(tl.join(left_RK, right_RK), (0, 2, 1)), (R, 2 * K))


@triton.jit
def halves(both_RE):
    """The left and the right half of a matrix."""
    R: tl.constexpr = both_RE.shape[0]
    K: tl.constexpr = both_RE.shape[1] // 2
    return tl.split(tl.permute(tl.reshape(both_RE, (R, 2, K)), (0, 2, 1)))
