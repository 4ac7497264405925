"""Rounds on a GPU: one warp for each row, from files in CUDA C beside this one."""

from functools import cache
from pathlib import Path

import torch

from dact.kernels.descent.job import Launch, Terrain, c_job, working_bytes
from dact.kernels.nvrtc import CudaFunction, shared_limit

FILES = ("warp.cuh", "row.cuh", "moves.cuh", "looks.cuh", "kicks.cuh", "swaps.cuh", "rounds.cu")
BLOCK = 128
"""Threads of a block: four rows."""
WARP = 32


def source() -> str:
    """All files as one, as the compilers get them."""
    return "\n".join((Path(__file__).parent / name).read_text() for name in FILES)


def options(terrain: Terrain, *, exchanges: bool, overload: bool) -> tuple[str, ...]:
    """Definitions by which the compiler leaves out what launches of a kind do not have: see row.cuh."""
    routes = terrain.depots > 0
    known = {"ROUTES": routes, "TABLES": terrain.distance_MNN is not None, "ROWS_AT_A_TIME": 16 if routes else 20}
    known |= {"EXCHANGES": exchanges and routes, "OVERLOAD": overload and routes}
    known |= {} if terrain.asymmetric else {"ONE_WAY": False}
    return tuple(f"-D{name}={int(value)}" for name, value in known.items())


@cache
def _kernel(device: int, block: int, definitions: tuple[str, ...]) -> CudaFunction:
    # No fused multiply-add, so that rounding and moves are the same as on a CPU.
    return CudaFunction(source(), "rounds", ("--std=c++17", "--fmad=false", f"-DBLOCK={block}", *definitions))


def load_kernel(terrain: Terrain, *, exchanges: bool, overload: bool) -> CudaFunction:
    """The kernel for rows of this size and launches of this kind: compiled, or from the cache."""
    block, _ = _block(working_bytes(terrain, exchanges))
    return _kernel(torch.cuda.current_device(), block, options(terrain, exchanges=exchanges, overload=overload))


def _block(size: int) -> tuple[int, bool]:
    """Threads of a block, given the working memory of a row, and does this memory fit on the chip? A single row if no
    more fit."""
    block = BLOCK if BLOCK // WARP * size <= shared_limit() else WARP
    return block, block // WARP * size <= shared_limit()


def launch_cuda(launch: Launch) -> None:
    """Advance all rows."""
    rows, size = launch.rows.work_RN, working_bytes(launch.terrain, launch.margin > 0)
    # Rows whose working memory does not fit into shared memory use device memory.
    block, on_chip = _block(size)
    space = None if on_chip else torch.empty(len(rows) * size, dtype=torch.uint8, device=rows.device)
    job = c_job(launch, space)
    with torch.cuda.device(rows.device):
        kernel = load_kernel(launch.terrain, exchanges=launch.margin > 0, overload=launch.overload > 0)
        kernel.launch(-(-len(rows) // (block // WARP)), block, block // WARP * size if on_chip else 0, job)
