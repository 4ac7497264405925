"""Capturing CUDA graphs: warm-up, memory, and what must not happen meanwhile."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

GAPS = 1.2
"""Memory of a graph, as a multiple of the peak of its tensors."""
SMALLEST_PIECES = 2**25
"""Plus these bytes, for PyTorch's blocks for small tensors."""
WARM_UP_CALLS = 3
"""Before a capture: compilation, autotuning, workspaces, lazy state."""

Body = Callable[[], None]


@contextmanager
def no_collection() -> Iterator[None]:
    """Collect garbage before and not inside: freeing an old graph would abort a capture in progress."""
    gc.collect()
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def capturing(graph: torch.cuda.CUDAGraph, room: int, **options: Any) -> Iterator[None]:  # noqa: ANN401
    """Capture the work inside into the graph. `room`: bytes of memory that it needs.

    PyTorch's random number generators must not be used inside: their state is written on the capture's own stream,
    which on a busy GPU came after the first replay had begun.
    """
    _make_sure_of(room)
    with no_collection(), torch.cuda.graph(graph, **options):
        yield


def rehearse(body: Callable[[], object], calls: int) -> int:
    """Call the body on a side stream, as PyTorch requires before a capture. Returns the memory that a capture needs.

    That is the memory reserved during the calls or, if PyTorch had cached memory, which a graph cannot use, the peak of
    the tensors plus a margin for fragmentation.
    """
    side = _side_stream(torch.cuda.current_device())
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    held, taken = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(calls):
            body()
    torch.cuda.current_stream().wait_stream(side)
    held, taken = torch.cuda.max_memory_allocated() - held, torch.cuda.max_memory_reserved() - taken
    return max(taken, int(GAPS * held) + SMALLEST_PIECES)


def captured(body: Body, *, shared: bool = False) -> Body:
    """The body as a CUDA graph; call the result to replay it.

    The body must not wait for the device, and must read and write the same tensors each time. The warm-up calls change
    those tensors, parameters included: the caller restores them. `shared`: other threads may use CUDA during the
    capture.
    """
    room = rehearse(body, WARM_UP_CALLS)
    graph = torch.cuda.CUDAGraph()
    with capturing(graph, room, capture_error_mode="thread_local" if shared else "global"):
        body()
    return graph.replay


def _make_sure_of(room: int) -> None:
    """Raise OutOfMemoryError before a capture that would not fit. Memory of a capture that fails is lost to the
    process (PyTorch pull requests 180395 and 190348), so that a smaller batch would not help afterwards.
    """
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    allowed = int(torch.cuda.get_per_process_memory_fraction() * total) - torch.cuda.memory_reserved()
    if room > min(free, allowed):
        raise torch.cuda.OutOfMemoryError(
            f"a graph needs {room:,} bytes of GPU memory; {min(free, allowed):,} are free"
        )


@cache
def _side_stream(device: int) -> torch.cuda.Stream:
    """One stream for all: every stream that multiplies matrices keeps 32 MiB of workspace."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
