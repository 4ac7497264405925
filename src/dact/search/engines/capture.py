"""What a capture of a CUDA graph needs around it."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

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
