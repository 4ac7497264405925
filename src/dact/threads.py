"""Rows of a batch on the cores of a CPU: each core works on some rows, instead of all cores on each operation.

PyTorch's own way, every operation cut over all threads, meets at a barrier hundreds of times a step; with one busy core
too many in the machine a step then takes a hundred times as long. Workers that own their rows meet once.
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
    """Inside, operations run on one thread and `map_rows` on as many workers as PyTorch had threads.

    The setting is the process's, so of searches that overlap the first changes it and the last puts it back.
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
    """How many threads may share out rows."""
    return _workers if _users else torch.get_num_threads()


def map_rows(function: Callable[[Tensor], Tensor], x: Tensor, most: int) -> Tensor:
    """`function` of blocks of at most `most` rows, without gradients, joined again."""
    block = max(1, min(most, -(-len(x) // _workers)))
    parts = torch.split(x, block)
    if len(parts) == 1:
        return function(x)
    if _workers == 1:
        return torch.cat([function(part) for part in parts])

    def work(part: Tensor) -> Tensor:
        # Modes belong to a thread, and so does the number of threads that operations use.
        with torch.inference_mode():
            return function(part)

    return torch.cat(share_out([partial(work, part) for part in parts]))


def share_out(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """What each of some tasks gives, in order; the workers do them side by side."""
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
