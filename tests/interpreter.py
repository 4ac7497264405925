"""Triton's interpreter as tests use it: with bounds, on NumPy 2.4, and without the work it does for nothing.

The interpreter follows any pointer, so that a kernel may read beyond its tensors and still pass on a CPU. On a GPU the
same access ends the process. Here a kernel that reads or writes outside of its arguments' memory fails at once.
"""

import inspect
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import triton.language as tl
from triton.runtime import interpreter

_reach: list[tuple[int, int]] = []
"""First and last byte of each argument of the kernel that runs."""


def prepare() -> None:
    """Change the interpreter of this process, once."""
    index_with_arrays()
    check_bounds()
    patch_once()
    skip_unused_work()


def index_with_arrays() -> None:
    """Loop bounds are arrays of one element in the interpreter, which NumPy 2.4 no longer takes for integers."""
    patch_tensor = interpreter._patch_lang_tensor

    def patch_tensor_for_numpy(tensor: type, scope: Any) -> None:
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    interpreter._patch_lang_tensor = patch_tensor_for_numpy


def patch_once() -> None:
    """Remember which names of Triton's language the interpreter replaces.

    It searches the whole language for them at every call of a function inside a kernel, though the kernel's own launch
    has already replaced them.
    """

    @cache
    def builtins_of(package: Any) -> list[str]:
        return [name for name, member in inspect.getmembers(package) if tl.core.is_builtin(member)]

    def patch_builtin(package: Any, builder: Any, scope: Any) -> None:
        for name in builtins_of(package):
            member = getattr(package, name)
            if not tl.core.is_builtin(member):
                return
            interpreter._patch_attr(package, name, member, builder, scope)

    interpreter._patch_builtin = patch_builtin


def skip_unused_work() -> None:
    """No checks for overflow, whose outcome only a debug mode looks at, and no names of types that nobody prints."""
    options = interpreter.interpreter_builder.options
    interpreter.interpreter_builder.options = replace(options, sanitize_overflow=False)

    def make_tuple_type(self: Any, types: Any, fields: Any = None) -> None:
        self.types, self.fields = types, fields or [""] * len(types)

    tl.core.tuple_type.__init__ = make_tuple_type
    numpy_type = interpreter._get_np_dtype
    scalar_type = cache(numpy_type)
    interpreter._get_np_dtype = lambda kind: numpy_type(kind) if kind.scalar.is_ptr() else scalar_type(kind.scalar)


def check_bounds() -> None:
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
