"""CUDA C without a CUDA compiler: NVRTC comes with PyTorch for CUDA, and by itself where tests run on a CPU."""

import re
import subprocess
from pathlib import Path

import pytest
from descent_cases import CASES, starts, terrain_of

from dact.kernels.descent.cuda_impl import BLOCK, options, source
from dact.kernels.nvrtc import _nvrtc, compiled

OPTIONS = ("--std=c++17", "--fmad=false", f"-DBLOCK={BLOCK}", "--gpu-architecture=sm_90")
REGISTERS = 65_536
"""Of a multiprocessor."""
BLOCKS = 4
"""That shall fit on one; 5 of rows without routes."""
SPILLED = 256
"""Bytes of a thread that may lie in slow memory."""


def _found() -> bool:
    try:
        return bool(_nvrtc())
    except RuntimeError:
        return False


needs_nvrtc = pytest.mark.skipif(not _found(), reason="no NVRTC is installed")


@needs_nvrtc
def test_no_compiler_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The local search becomes machine code although no program can be found."""
    monkeypatch.setenv("PATH", "")
    assert compiled(source(), "rounds", OPTIONS).startswith(b"\x7fELF")


@needs_nvrtc
@pytest.mark.parametrize("extras", [False, True])
@pytest.mark.parametrize("name", ["tsp of 33", "tsp, whole matrix", "cvrp of 53", "cvrp, asymmetric matrix"])
def test_rows_fit_a_multiprocessor(tmp_path: Path, name: str, extras: bool) -> None:
    """Sixteen rows at a time at least, with next to no registers in slow memory; one-way lengths come with routes."""
    tools = Path(pytest.importorskip("triton").__file__).parent / "backends" / "nvidia" / "bin"
    terrain = terrain_of(CASES[name], starts(CASES[name]))
    definitions = options(terrain, exchanges=extras, overload=extras)
    image = tmp_path / "rounds.cubin"
    image.write_bytes(compiled(source(), "rounds", (*OPTIONS, *definitions)))
    usage = subprocess.run([tools / "cuobjdump", "-res-usage", image], capture_output=True, text=True).stdout
    registers, stack, local = (int(re.search(rf"{word}:(\d+)", usage)[1]) for word in ("REG", "STACK", "LOCAL"))
    assert registers * BLOCK * (BLOCKS + (terrain.depots == 0)) <= REGISTERS
    assert stack + local <= SPILLED


@needs_nvrtc
def test_mistakes_are_told_with_the_log() -> None:
    """Source that does not compile raises the compiler's own words."""
    with pytest.raises(RuntimeError, match=r"(?s)cannot compile rounds: .*error"):
        compiled("void unfinished(", "rounds", OPTIONS)
