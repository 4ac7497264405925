"""Kernels compile for a Hopper GPU, here and now: those whose code has changed, and all of them in `make test-slow`."""

from pathlib import Path

import pytest
from apart import run_apart

triton = pytest.importorskip("triton")

from launches import GROUPS, SHARED_BYTES, changed, code  # noqa: E402

ASSEMBLER = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "ptxas"
CHANGED = changed()


@pytest.mark.skipif(not ASSEMBLER.is_file(), reason="Triton has no assembler here")
@pytest.mark.parametrize(
    "name", [name if name in CHANGED else pytest.param(name, marks=pytest.mark.slow) for name in GROUPS]
)
def test_kernels_compile_and_fit_a_multiprocessor(name: str) -> None:
    """Every kernel assembles, within the shared memory there is, and spills no more registers than was accepted."""
    group, lines = GROUPS[name], run_apart(Path(__file__).with_name("launches.py"), name)
    assert len(lines) == group.count
    for kernel, _registers, spilled, shared, _instructions in lines:
        assert int(spilled) <= group.spilled.get(kernel, 0), kernel
        assert int(shared) <= SHARED_BYTES // group.programs.get(kernel, 1), kernel


def test_what_counts_as_a_change() -> None:
    """Comments and docstrings do not, statements do."""
    plain = "def kernel(x):\n    return x + 1\n"
    told = 'def kernel(x):\n    """Add."""\n    return x + 1  # one\n'
    assert code(plain) == code(told) != code(plain.replace("1", "2"))
