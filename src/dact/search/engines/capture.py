"""What a capture of a CUDA graph needs around it."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch


@contextmanager
def no_collection() -> Iterator[None]:
    """Python's garbage is collected before, and not inside: freeing an old graph would end a capture in progress."""
    gc.collect()
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


@contextmanager
def capturing(graph: torch.cuda.CUDAGraph, **options: Any) -> Iterator[None]:  # noqa: ANN401
    """Work inside goes into the graph instead of being done.

    The device is waited for at the end: for a capture, PyTorch writes a random offset of 0 on the capture's own stream.
    On a busy GPU that came after the offset of the first replay, which then drew other numbers.
    """
    with no_collection(), torch.cuda.graph(graph, **options):
        yield
    torch.cuda.synchronize()


def rehearse(body: Callable[[], object], calls: int) -> None:
    """Call the body on a side stream, as PyTorch asks for before a capture."""
    side = _side_stream(torch.cuda.current_device())
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(calls):
            body()
    torch.cuda.current_stream().wait_stream(side)


@cache
def _side_stream(device: int) -> torch.cuda.Stream:
    """One for all rehearsals: every stream that multiplies matrices keeps 32 MiB of workspace for good."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
