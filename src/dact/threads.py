"""Threads on a CPU: each core works on rows of its own, instead of all cores on every operation.

PyTorch splits every operation over all threads, with a barrier after each, hundreds of times a step; on a busy
machine a step then takes a hundred times as long. Workers with their own rows synchronise once a step.
"""

import ctypes
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from threading import Lock
from typing import TypeVar

import torch
from torch import Tensor

# Of glibc's malloc.h.
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3

Result = TypeVar("Result")

# How many workers `map_rows` may use: those of PyTorch's threads that `one_thread_per_operation` has freed.
_workers = 1
_users = 0
_lock = Lock()


@contextmanager
def one_thread_per_operation() -> Iterator[None]:
    """Inside, operations use one thread, and `map_rows` as many workers as PyTorch had threads.

    The setting is global: of overlapping searches the first changes it and the last restores it.
    """
    global _workers, _users
    _keep_freed_memory()
    with _lock:
        _users += 1
        if _users == 1:
            _workers = torch.get_num_threads()
            torch.set_num_threads(1)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                torch.set_num_threads(_workers)
                _workers = 1


def workers() -> int:
    """Number of worker threads."""
    return _workers if _users else torch.get_num_threads()


def map_rows(function: Callable[[Tensor], Tensor], x: Tensor, most: int) -> Tensor:
    """Apply `function` to at most `most` rows at a time, in parallel and without gradients; results are
    concatenated."""
    block = max(1, min(most, -(-len(x) // _workers)))
    parts = torch.split(x, block)
    if len(parts) == 1:
        return function(x)
    if _workers == 1:
        return torch.cat([function(part) for part in parts])

    def work(part: Tensor) -> Tensor:
        # Gradient mode and the number of threads per operation are per thread.
        with torch.inference_mode():
            return function(part)

    return torch.cat(share_out([partial(work, part) for part in parts]))


def share_out(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Results of the tasks in order; the workers run them in parallel."""
    if _workers == 1:
        return [task() for task in tasks]
    return list(_pool(_workers).map(lambda task: task(), tasks))


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="dact", initializer=torch.set_num_threads, initargs=(1,))


@cache
def _keep_freed_memory() -> None:
    """Let the C library keep up to 256 MiB of freed memory.

    By default glibc gives large freed blocks back to the system, and a search would ask for them again, page by page,
    in every step: 3,000 page faults and a quarter of the time for 16 rows of TSP100. Others have no such call.
    """
    adjust = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if adjust is not None:
        adjust(M_TRIM_THRESHOLD, 2**28)
        adjust(M_MMAP_THRESHOLD, 2**25)
