"""Rounds on a GPU: one warp for each row, from files in CUDA C beside this one."""

from functools import cache
from pathlib import Path

import torch

from dact.kernels.descent.job import Launch, c_job, working_bytes
from dact.kernels.nvrtc import CudaFunction, shared_limit

FILES = ("warp.cuh", "moves.cuh", "kicks.cuh", "rounds.cu")
BLOCK = 128
"""Threads of a block: four rows."""
WARP = 32


def source() -> str:
    """All files as one, as the compilers get them."""
    return "\n".join((Path(__file__).parent / name).read_text() for name in FILES)


@cache
def _kernel(device: int, block: int) -> CudaFunction:
    # No fused multiply-add: the CPU's forms round alike, so that all make the same moves.
    return CudaFunction(source(), "rounds", ("--std=c++17", "--fmad=false", f"-DBLOCK={block}"))


def launch_cuda(launch: Launch) -> None:
    """Advance all rows."""
    rows, size = launch.rows.work_RN, working_bytes(launch.terrain)
    # A row whose working memory does not fit on the chip works in device memory.
    block = BLOCK if BLOCK // WARP * size <= shared_limit() else WARP
    on_chip = block // WARP * size <= shared_limit()
    space = None if on_chip else torch.empty(len(rows) * size, dtype=torch.uint8, device=rows.device)
    job = c_job(launch, space)
    with torch.cuda.device(rows.device):
        kernel = _kernel(torch.cuda.current_device(), block)
        kernel.launch(-(-len(rows) // (block // WARP)), block, block // WARP * size if on_chip else 0, job)
