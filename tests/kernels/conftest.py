"""What tests of kernels share: where they run, and memory that shows what no kernel wrote."""

from collections.abc import Callable, Iterator
from functools import cache

import pytest
import torch
from torch import Tensor

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


FORMS = ("compiled", "numba", "warp", *(("cuda",) if torch.cuda.is_available() else ()))
"""Of descents, by name: see descent_cases.py."""


@pytest.fixture
def device() -> str:
    """Where kernels run here."""
    return DEVICE


@pytest.fixture(scope="session")
def form_named(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Callable[..., None]]:
    """Makes forms of the descent by name, each once."""
    import descent_cases

    return cache(lambda name: descent_cases.FORMS[name](tmp_path_factory.mktemp("form")))


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest, form_named: Callable[[str], Callable[..., None]]) -> Callable[..., None]:
    """Each form of descents in turn."""
    return form_named(request.param)


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
