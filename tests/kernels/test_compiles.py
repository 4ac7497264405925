"""Kernels compile for a Hopper GPU, here and now."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

triton = pytest.importorskip("triton")
ASSEMBLER = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas"
SHARED_BYTES = 227 * 1024
SPILLED_BYTES = {"_backward_kernel": 256, "_layer_kernel": 160, "finish_kernel": 64, "finish_long_kernel": 320}
SPILLED_BYTES |= {"_rows_kernel": 16, "attend_kernel": 16}  # before their loops


@pytest.mark.slow
@pytest.mark.skipif(not ASSEMBLER.is_file(), reason="Triton has no assembler here")
def test_kernels_compile_and_fit_a_multiprocessor() -> None:
    """Every kernel assembles, within the shared memory there is, and its registers do not spill."""
    # A process of its own: this one may have chosen the interpreter.
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    script = Path(__file__).with_name("offline.py")
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) >= 54
    for name, _registers, spilled, shared, _instructions in lines:
        assert int(spilled) <= SPILLED_BYTES.get(name, 0), name
        assert int(shared) <= SHARED_BYTES, name
