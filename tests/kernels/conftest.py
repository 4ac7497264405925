"""Kernels run under Triton's interpreter where there is no GPU; it must be chosen before Triton is imported."""

import os
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
import torch
from torch import Tensor

if not torch.cuda.is_available() and find_spec("triton"):
    os.environ["TRITON_INTERPRET"] = "1"
    from triton.runtime import interpreter

    patch_tensor = interpreter._patch_lang_tensor

    def patch_tensor_for_numpy(tensor: type, scope: Any) -> None:
        """Loop bounds are arrays of one element here, which NumPy 2.4 no longer takes for integers."""
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item())

    interpreter._patch_lang_tensor = patch_tensor_for_numpy

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture
def device() -> str:
    """Where kernels run here."""
    return DEVICE


@pytest.fixture(autouse=True)
def _plain_half_precision() -> Iterator[None]:
    """Some virtual CPUs promise half-precision units they lack; PyTorch's own loops do not need them."""
    before = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    yield
    torch._C._set_mkldnn_enabled(before)


@pytest.fixture
def poisoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fresh memory is NaN (or the smallest integer), so that an element no kernel wrote shows."""
    plain: Callable[..., Tensor] = torch.empty

    def empty(*args: object, **options: object) -> Tensor:
        fresh = plain(*args, **options)
        return fresh.fill_(torch.nan if fresh.is_floating_point() else torch.iinfo(fresh.dtype).min)

    monkeypatch.setattr(torch, "empty", empty)
