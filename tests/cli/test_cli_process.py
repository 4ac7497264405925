"""The program as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_files import SQUARE, tsp_text

import dact as package

ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def _python(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=ENVIRONMENT, check=False)


def test_solve(tmp_path: Path):
    """`python -m dact solve` prints one line of JSON."""
    path = tmp_path / "square.tsp"
    path.write_text(tsp_text(SQUARE))
    done = _python("-m", "dact", "solve", path, "--steps", 2, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('{"name": "square"')
    assert done.stdout.count("\n") == 1


def test_mistake(tmp_path: Path):
    """A mistake is one line on stderr and exit code 2."""
    done = _python("-m", "dact", "solve", tmp_path / "gone.tsp")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {tmp_path / 'gone.tsp'}: does not exist\n"


def test_help_does_not_load_torch():
    """Help comes at once: nothing heavy is imported for it."""
    code = (
        "import sys; from dact.cli import main\n"
        "try: main(['solve', '--help'])\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'numpy', 'matplotlib'} & set(sys.modules)))"
    )
    done = _python("-c", code)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_dir_shows_the_api():
    """`dir(dact)` lists every export before any of them is imported."""
    done = _python("-c", "import dact, sys\nprint(set(dact.__all__) <= set(dir(dact)), 'torch' in sys.modules)")
    assert done.stdout == "True False\n", done.stderr


def test_kernels_do_not_load_the_compiler_of_pytorch():
    """The kernels of a search are imported without torch._dynamo, which takes longer than all of them together."""
    pytest.importorskip("triton")
    modules = [f"dact.kernels.{name}.triton_impl" for name in ("pick_move", "make_move", "tiled_layer", "dual_layer")]
    done = _python("-c", f"import sys, {', '.join(modules)}\nprint('torch._dynamo' in sys.modules)")
    assert done.stdout.strip() == "False", done.stderr


def test_every_export_is_there():
    """All names of the package can be fetched, and no others."""
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = package.nonsense  # type: ignore[attr-defined]
