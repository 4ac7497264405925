"""An encoder layer as three kernels, and the aspects before the first layer.

Shape letters: as in dual_layer/reference.py, with F features, H heads, M lines of a tile.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.dual_layer.constants import PlaceConstants
from dact.kernels.dual_layer.reference import EPSILON
from dact.kernels.dual_layer.triton_impl import PackedLayer, _embedded
from dact.kernels.tiled_layer.attention import attend_kernel, attend_long_kernel, gather_kernel
from dact.kernels.tiled_layer.finish import finish_kernel, finish_long_kernel

SHORTEST = 65
"""Shorter rows have a program each, which is faster."""
WHOLE = 128
"""Positions of a row that one program norms at once, and whose keys stay in one warp."""


@triton.jit
def _enter_kernel(
    feature_ptr, place_ptr, embed_ptr, result_ptr, lines, N, F: tl.constexpr, M: tl.constexpr, D: tl.constexpr
):
    """Both aspects before the first layer: embedded features, and the table of places."""
    line_M = tl.program_id(0) * M + tl.arange(0, M)
    inside_M = line_M < lines
    column_D = tl.arange(0, D)
    node_MD = _embedded(feature_ptr + line_M.to(tl.int64) * F, embed_ptr, inside_M, M, F, D)
    place_MD = tl.load(place_ptr + (line_M % N)[:, None] * D + column_D[None, :])
    target_MD = result_ptr + line_M.to(tl.int64)[:, None] * D + column_D[None, :]
    tl.store(target_MD, node_MD.to(result_ptr.dtype.element_ty), mask=inside_M[:, None])
    target_MD += lines.to(tl.int64) * D
    tl.store(target_MD, place_MD.to(result_ptr.dtype.element_ty), mask=inside_M[:, None])


@triton.jit
def _project_kernel(
    x_ptr, project_ptr, packed_ptr, rows, N,
    M: tl.constexpr, D: tl.constexpr, H: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Each head's query, key, value and reference, for tiles of lines from wherever in the batch."""
    K: tl.constexpr = D // H
    aspect = tl.program_id(1)
    line_M = tl.program_id(0) * M + tl.arange(0, M)
    inside_M1 = (line_M < rows * N)[:, None]
    x_M = x_ptr + (aspect.to(tl.int64) * rows * N + line_M) * D
    x_MD = tl.load(x_M[:, None] + tl.arange(0, D)[None, :], mask=inside_M1, other=0.0)
    column_E = tl.arange(0, 4 * K)
    weight_DE = tl.arange(0, D)[:, None] * K + (column_E // K * D * K + column_E % K)[None, :]
    target_M = ((aspect * rows + line_M // N).to(tl.int64) * H * N + line_M % N) * 4 * K
    target_ME = packed_ptr + target_M[:, None] + column_E[None, :]
    for head in range(H):
        matrix_DE = tl.load(project_ptr + (aspect * H + head) * 4 * K * D + weight_DE)
        packed_ME = tl.dot(x_MD, matrix_DE, input_precision=PRECISION)
        tl.store(target_ME + head * N * 4 * K, packed_ME.to(packed_ptr.dtype.element_ty), mask=inside_M1)


@dataclass(frozen=True, kw_only=True)
class Launch:
    """Block sizes and compile options of the attention."""

    queries: int
    """Lines of a tile of queries."""
    warps: int
    stages: int = 2
    keys: int = 64
    """Lines of a tile of keys, of rows longer than WHOLE."""


SHORT = Launch(queries=16, warps=1)
LONG = Launch(queries=64, warps=4)
LINES = 128
"""Lines of a tile in the kernels without attention."""
REGISTERS = 128
"""Of a thread after the attention, in half precision: two programs of 8 warps then fit a multiprocessor."""


def fits(size: int, width: int, heads: int, hidden: int) -> bool:
    """Do the kernels handle these sizes?"""
    powers = all(number & (number - 1) == 0 for number in (width, heads, hidden))
    return powers and size >= SHORTEST and width == 64 and width // heads >= 16 and 16 <= hidden <= 64


def pieces(size: int) -> tuple[int, ...]:
    """Powers of two, the larger first, that keys fill; then 16 that the last keys fill in part or in full."""
    sixteens = (size - 1) // 16
    return *(16 * power for power in (8, 4, 2, 1) if sixteens & power), 16


def enter_triton(features_BNF: Tensor, place_ND: Tensor, embed_FD: Tensor, dtype: torch.dtype) -> Tensor:
    """(2, B, N, D) in the dtype: features times their embedding, and the places."""
    rows, size, features = features_BNF.shape
    width = place_ND.shape[1]
    x_SBND = torch.empty(2, rows, size, width, device=features_BNF.device, dtype=dtype)
    _enter_kernel[(triton.cdiv(rows * size, LINES),)](
        features_BNF.contiguous(), place_ND.contiguous(), embed_FD, x_SBND, rows * size, size,
        F=features, M=LINES, D=width, num_warps=8,
    )  # fmt: skip
    return x_SBND


def tiled_layer_triton(
    x_SBND: Tensor, packed: PackedLayer, *, precision: str = "tf32", launch: Launch | None = None
) -> Tensor:
    """(2, B, N, D) after the layer, in the dtype of its matrices."""
    x_SBND = x_SBND.to(packed.out_SED.dtype).contiguous()
    _check(x_SBND, packed)
    projected_SBHNE = project_triton(x_SBND, packed, precision)
    return finish_triton(x_SBND, attend_triton(projected_SBHNE, precision, launch), packed, precision)


def first_layer_triton(
    features_BNF: Tensor, constants: PlaceConstants, packed: PackedLayer, embed_FD: Tensor, *, precision: str = "tf32"
) -> Tensor:
    """(2, B, N, D) after the first layer, for rows up to WHOLE; constants are padded to the sum of `pieces`."""
    x_SBND = enter_triton(features_BNF, constants.place_ND, embed_FD, packed.out_SED.dtype)
    _check(x_SBND, packed)
    projected_SBHNE = project_triton(x_SBND, packed, precision, aspects=1)
    merged_SBNE = attend_triton(projected_SBHNE, precision, constants=constants)
    return finish_triton(x_SBND, merged_SBNE, packed, precision)


def _check(x_SBND: Tensor, packed: PackedLayer) -> None:
    _, _, size, width = x_SBND.shape
    heads, hidden = packed.project_SH4DK.shape[1], packed.into_SDC.shape[2]
    if not fits(size, width, heads, hidden):
        raise ValueError(f"no kernel for {size} positions of {width} in {heads} heads and {hidden} hidden units")


def project_triton(x_SBND: Tensor, packed: PackedLayer, precision: str, aspects: int = 2) -> Tensor:
    """(S, B, H, N, 4 K): query, key, value and reference of each head, of the first aspects."""
    _, rows, size, width = x_SBND.shape
    heads = packed.project_SH4DK.shape[1]
    shape = (aspects, rows, heads, size, 4 * width // heads)
    projected_SBHNE = torch.empty(shape, device=x_SBND.device, dtype=x_SBND.dtype)
    _project_kernel[(triton.cdiv(rows * size, LINES), aspects)](
        x_SBND, packed.project_SH4DK, projected_SBHNE, rows, size,
        M=LINES, D=width, H=heads, PRECISION=precision, num_warps=8, num_stages=2,
    )  # fmt: skip
    return projected_SBHNE


def attend_triton(
    projected_SBHNE: Tensor, precision: str, launch: Launch | None = None, constants: PlaceConstants | None = None
) -> Tensor:
    """(S, B, N, 2 D): what each aspect gathered by its own scores, then by the other's.

    With constants the projections are those of the nodes, and what places gather from places is known.
    """
    aspects, rows, heads, size, parts = projected_SBHNE.shape
    launch = launch or (SHORT if size <= WHOLE else LONG)
    shape = (2, rows, size, heads * parts // 2)
    merged_SBNE = torch.empty(shape, device=projected_SBHNE.device, dtype=projected_SBHNE.dtype)
    arguments, programs = (merged_SBNE, rows, size), aspects * rows * heads
    settings = {
        "M": launch.queries, "H": heads, "K": parts // 4, "PRECISION": precision,
        "num_warps": launch.warps, "num_stages": launch.stages,
    }  # fmt: skip
    if size > WHOLE:
        attend_long_kernel[(triton.cdiv(size, launch.queries) * programs,)](
            projected_SBHNE, *arguments, L=launch.keys, **settings
        )
        return merged_SBNE
    settings |= {"PIECES": pieces(size), "P": sum(pieces(size))}
    reference_HPK = None if constants is None else constants.reference_HPK
    attend_kernel[(programs,)](projected_SBHNE, reference_HPK, *arguments, **settings)
    if constants is not None:
        known = (constants.weight_HPP, constants.share_HP, constants.gathered_HPK)
        gather_kernel[(programs,)](*known, projected_SBHNE, *arguments, **settings)
    return merged_SBNE


def finish_triton(x_SBND: Tensor, merged_SBNE: Tensor, packed: PackedLayer, precision: str) -> Tensor:
    """(S, B, N, D) after the layer."""
    _, rows, size, width = x_SBND.shape
    result_SBND = torch.empty_like(x_SBND)
    kernel = finish_kernel if size <= WHOLE else finish_long_kernel
    kernel[(rows, 2)](
        x_SBND, merged_SBNE, result_SBND, *packed[1:], rows, size,
        M=LINES, D=width, C=packed.into_SDC.shape[2], PRECISION=precision, EPSILON=EPSILON,
        num_warps=8, num_stages=1, maxnreg=None if x_SBND.dtype == torch.float32 else REGISTERS,
    )  # fmt: skip
    return result_SBND
