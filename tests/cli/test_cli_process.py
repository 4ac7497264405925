"""The program as a process of its own."""

import ast
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


def _loaded(*arguments: object) -> tuple[list[str], str]:
    """Which heavy packages a command has imported, and what it said on stderr."""
    code = (
        f"import sys; from dact.cli import main\n"
        f"try: main({list(map(str, arguments))!r})\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'numba', 'numpy', 'matplotlib'} & set(sys.modules)))"
    )
    done = _python("-c", code)
    return ast.literal_eval(done.stdout.splitlines()[-1]), done.stderr


def test_help_loads_nothing_heavy():
    """Help comes at once."""
    assert _loaded("solve", "--help") == ([], "")


REFUSALS = {
    "bad.csv": ("x,y\n1,2\nfoo,3\n", ("solve", "bad.csv"), "line 3: x is 'foo', not a number"),
    "bad.npz": ("PK", ("evaluate", "bad.npz"), "bad.npz: "),
    "bad.toml": ("size = [", ("train", "bad.toml"), "is not TOML"),
    "large.toml": ("[network]\ndim = 4000000000", ("train", "large.toml"), "'network.dim' is 4000000000, but must"),
    "range.toml": ('sizes = "4-3000000000"', ("train", "range.toml"), "range 4-3000000000 is too large"),
    "small.toml": ('sizes = "0-0"', ("train", "small.toml"), "small.toml: size 0 is below 4"),
    "set.toml": ("size = 20", ("train", "set.toml", "--set", "size=1" + 25 * "0"), "setting 'size' is 1000"),
    "bad.safetensors": ("{", ("solve", "square.tsp", "--weights", "bad.safetensors"), "not a weights file"),
    "bad.sol": ("Route #1: 9", ("solve", "square.tsp", "--start", "bad.sol"), "bad.sol"),
    "map.sol": ("Route #1: 9", ("plot", "routes", "square.tsp", "map.sol"), "map.sol"),
    "bad.jsonl": ("[" * 9, ("plot", "trace", "bad.jsonl"), "is not JSON"),
    "name": ("", ("solve", "square.tsp", "--out", "x.doc"), "does not end in"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_bad_files_are_refused_without_pytorch(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A file is read, and refused, before PyTorch is imported, which takes two seconds."""
    monkeypatch.chdir(tmp_path)
    text, command, sentence = REFUSALS[name]
    Path("square.tsp").write_text(tsp_text(SQUARE))
    Path(name).write_text(text)
    heavy, said = _loaded(*command)
    assert said.startswith("error: ")
    assert sentence in said
    assert heavy == ["numpy"]


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
