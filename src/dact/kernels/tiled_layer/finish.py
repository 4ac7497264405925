"""What follows the attention: output product, norm, feed-forward, norm; for rows that fit a program and longer ones.

Shape letters: N positions, D width, E = 2 D, C hidden units, M lines of a tile.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN201, ANN202
import triton
import triton.language as tl

from dact.kernels.dual_layer.triton_impl import _feed_forward, _matrix, _normed


@triton.jit
def _joined(x_ptr, merged_ptr, out_ptr, place_M, N, D: tl.constexpr, PRECISION: tl.constexpr):
    """x + merged @ out of some positions of a row, in float32."""
    inside_M1 = (place_M < N)[:, None]
    x_MD = tl.load(x_ptr + place_M[:, None] * D + tl.arange(0, D)[None, :], mask=inside_M1, other=0.0)
    column_E = tl.arange(0, 2 * D)
    merged_ME = tl.load(merged_ptr + place_M[:, None] * 2 * D + column_E[None, :], mask=inside_M1, other=0.0)
    return tl.dot(merged_ME, _matrix(out_ptr, 2 * D, D), x_MD.to(tl.float32), input_precision=PRECISION)


@triton.jit
def finish_kernel(
    x_ptr, merged_ptr, result_ptr, out_ptr, into_ptr, into_bias_ptr, onward_ptr, onward_bias_ptr, rows, N,
    M: tl.constexpr, D: tl.constexpr, C: tl.constexpr, PRECISION: tl.constexpr, EPSILON: tl.constexpr,
):  # fmt: skip
    """Output product, norm, feed-forward, norm of one aspect of a row that fits the program."""
    DTYPE: tl.constexpr = result_ptr.dtype.element_ty
    aspect = tl.program_id(1)
    start = (aspect * rows + tl.program_id(0)).to(tl.int64) * N
    place_M = tl.arange(0, M)
    inside_M = place_M < N
    out_ptr += aspect * 2 * D * D
    x_MD = _joined(x_ptr + start * D, merged_ptr + start * 2 * D, out_ptr, place_M, N, D, PRECISION)
    count = (N * D).to(tl.float32)
    x_MD = _normed(x_MD, inside_M, count, 1, M, D, EPSILON)
    x_MD = _feed_forward(
        x_MD, into_ptr + aspect * D * C, into_bias_ptr + aspect * C, onward_ptr + aspect * C * D,
        onward_bias_ptr + aspect * D, D, C, DTYPE, PRECISION,
    )  # fmt: skip
    x_MD = _normed(x_MD, inside_M, count, 1, M, D, EPSILON)
    within_MD = place_M[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(result_ptr + start * D + within_MD, x_MD.to(DTYPE), mask=inside_M[:, None])


@triton.jit
def _with_tile(count, mean, spread, x_MD, inside_M, D: tl.constexpr):
    """Count, mean and summed squared distance from the mean, of what came before and a tile (Chan et al.)."""
    more = tl.sum(inside_M.to(tl.float32)) * D
    tile_mean = tl.sum(tl.where(inside_M[:, None], x_MD, 0.0)) / more
    away_MD = tl.where(inside_M[:, None], x_MD - tile_mean, 0.0)
    away, total = tile_mean - mean, count + more
    spread += tl.sum(away_MD * away_MD) + away * away * count * more / total
    return total, mean + away * more / total, spread


@triton.jit
def finish_long_kernel(
    x_ptr, merged_ptr, result_ptr, out_ptr, into_ptr, into_bias_ptr, onward_ptr, onward_bias_ptr, rows, N,
    M: tl.constexpr, D: tl.constexpr, C: tl.constexpr, PRECISION: tl.constexpr, EPSILON: tl.constexpr,
):  # fmt: skip
    """As `finish_kernel`, tile by tile: sums that are still to be normed are stored in the result."""
    DTYPE: tl.constexpr = result_ptr.dtype.element_ty
    aspect = tl.program_id(1)
    start = (aspect * rows + tl.program_id(0)).to(tl.int64) * N
    x_ptr += start * D
    merged_ptr += start * 2 * D
    result_ptr += start * D
    out_ptr += aspect * 2 * D * D
    within_MD = tl.arange(0, M)[:, None] * D + tl.arange(0, D)[None, :]
    count, mean, spread = 0.0, 0.0, 0.0
    for begin in range(0, N, M):
        place_M = begin + tl.arange(0, M)
        inside_M = place_M < N
        x_MD = _joined(x_ptr, merged_ptr, out_ptr, place_M, N, D, PRECISION)
        count, mean, spread = _with_tile(count, mean, spread, x_MD, inside_M, D)
        tl.store(result_ptr + begin * D + within_MD, x_MD.to(DTYPE), mask=inside_M[:, None])
    tl.debug_barrier()
    old_mean, scale = mean, tl.rsqrt(spread / (count - 1) + EPSILON)
    count, mean, spread = 0.0, 0.0, 0.0
    for begin in range(0, N, M):
        inside_M = begin + tl.arange(0, M) < N
        x_MD = tl.load(result_ptr + begin * D + within_MD, mask=inside_M[:, None], other=0.0)
        x_MD = (x_MD.to(tl.float32) - old_mean) * scale
        x_MD = _feed_forward(
            x_MD, into_ptr + aspect * D * C, into_bias_ptr + aspect * C, onward_ptr + aspect * C * D,
            onward_bias_ptr + aspect * D, D, C, DTYPE, PRECISION,
        )  # fmt: skip
        count, mean, spread = _with_tile(count, mean, spread, x_MD, inside_M, D)
        tl.store(result_ptr + begin * D + within_MD, x_MD.to(DTYPE), mask=inside_M[:, None])
    tl.debug_barrier()
    scale = tl.rsqrt(spread / (count - 1) + EPSILON)
    for begin in range(0, N, M):
        inside_M1 = (begin + tl.arange(0, M) < N)[:, None]
        x_MD = tl.load(result_ptr + begin * D + within_MD, mask=inside_M1, other=0.0)
        tl.store(result_ptr + begin * D + within_MD, ((x_MD.to(tl.float32) - mean) * scale).to(DTYPE), mask=inside_M1)
