"""Rows of a batch on the cores of a CPU: each core works on some rows, instead of all cores on each operation.

PyTorch's own way, every operation cut over all threads, meets at a barrier hundreds of times a step; with one busy core
too many in the machine a step then takes a hundred times as long. Workers that own their rows meet once.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor

# How many workers `map_rows` may use; more than one only inside `one_thread_per_operation`.
_workers = 1


@contextmanager
def one_thread_per_operation() -> Iterator[None]:
    """Inside, operations run on one thread and `map_rows` on as many workers as PyTorch had threads."""
    global _workers
    before = torch.get_num_threads(), _workers
    torch.set_num_threads(1)
    _workers = max(before)
    try:
        yield
    finally:
        _workers = before[1]
        torch.set_num_threads(before[0])


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

    return torch.cat(list(_pool(_workers).map(work, parts)))


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="dact", initializer=torch.set_num_threads, initargs=(1,))
