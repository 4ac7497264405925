"""Triton's interpreter with bounds: a kernel that reads or writes outside of its arguments' memory fails at once.

The interpreter follows any pointer, so that a kernel may read beyond its tensors and still pass on a CPU. On a GPU the
same access ends the process.
"""

from typing import Any

import numpy as np
from triton.runtime import interpreter

_reach: list[tuple[int, int]] = []
"""First and last byte of each argument of the kernel that runs."""


def guard() -> None:
    """Check every access from now on."""
    executor, builder = interpreter.GridExecutor, interpreter.InterpreterBuilder
    make_arguments, load, store = executor._init_args_hst, builder.create_masked_load, builder.create_masked_store

    def remember(self: Any, arguments: Any, keywords: Any) -> Any:
        made = make_arguments(self, arguments, keywords)
        _reach[:] = [_bytes_of(x) for x in (*made[0], *made[1].values()) if hasattr(x, "data_ptr") and x.numel()]
        return made

    def checked_load(self: Any, pointers: Any, mask: Any, *more: Any) -> Any:
        _check(pointers, mask)
        return load(self, pointers, mask, *more)

    def checked_store(self: Any, pointers: Any, value: Any, mask: Any, *more: Any) -> Any:
        _check(pointers, mask)
        return store(self, pointers, value, mask, *more)

    executor._init_args_hst, builder.create_masked_load, builder.create_masked_store = (
        remember,
        checked_load,
        checked_store,
    )


def _bytes_of(tensor: Any) -> tuple[int, int]:
    """What a tensor covers, with the gaps between its elements."""
    span = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
    first = tensor.data_ptr()
    return first, first + (span + 1) * tensor.element_size() - 1


def _check(pointers: Any, mask: Any) -> None:
    wanted = pointers.data[mask.data.astype(bool)] if mask.data.shape else pointers.data[None][:: int(mask.data)]
    known = np.zeros(wanted.shape, dtype=bool)
    for first, last in _reach:
        known |= (wanted >= first) & (wanted <= last)
    if not known.all():
        lost = wanted[~known]
        raise IndexError(f"{lost.size} of {wanted.size} accesses are outside of the kernel's arguments")
