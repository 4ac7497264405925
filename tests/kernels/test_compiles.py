"""Kernels compile for a Hopper GPU, here and now."""

from pathlib import Path

import pytest
from apart import run_apart

triton = pytest.importorskip("triton")
ASSEMBLER = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas"
SHARED_BYTES = 227 * 1024
SPILLED_BYTES = {"_backward_kernel": 256, "_layer_kernel": 160, "finish_kernel": 64, "finish_long_kernel": 320}
SPILLED_BYTES |= {"_rows_kernel": 16, "attend_kernel": 16}  # before their loops


@pytest.mark.slow
@pytest.mark.skipif(not ASSEMBLER.is_file(), reason="Triton has no assembler here")
def test_kernels_compile_and_fit_a_multiprocessor() -> None:
    """Every kernel assembles, within the shared memory there is, and its registers do not spill."""
    lines = run_apart(Path(__file__).with_name("offline.py"))
    assert len(lines) >= 61
    for name, _registers, spilled, shared, _instructions in lines:
        assert int(spilled) <= SPILLED_BYTES.get(name, 0), name
        assert int(shared) <= SHARED_BYTES, name
