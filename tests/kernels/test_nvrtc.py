"""CUDA C without a CUDA compiler: NVRTC comes with PyTorch for CUDA."""

import pytest
import torch

from dact.kernels.descent.cuda_impl import BLOCK, source
from dact.kernels.nvrtc import compiled

OPTIONS = ("--std=c++17", "--fmad=false", f"-DBLOCK={BLOCK}", "--gpu-architecture=sm_90")
needs_nvrtc = pytest.mark.skipif(torch.version.cuda is None, reason="PyTorch without CUDA has no NVRTC")


@needs_nvrtc
def test_no_compiler_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The local search becomes machine code although no program can be found."""
    monkeypatch.setenv("PATH", "")
    assert compiled(source(), "rounds", OPTIONS).startswith(b"\x7fELF")


@needs_nvrtc
def test_mistakes_are_told_with_the_log() -> None:
    """Source that does not compile raises the compiler's own words."""
    with pytest.raises(RuntimeError, match=r"(?s)cannot compile rounds: .*error"):
        compiled("void unfinished(", "rounds", OPTIONS)
