"""What a capture of a CUDA graph needs around it."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(calls):
            body()
    torch.cuda.current_stream().wait_stream(side)
