"""The package as others install it: a wheel with everything in it, in an environment of its own."""

import os
import re
import signal
import subprocess
import sys
import urllib.request
import venv
import zipfile
from pathlib import Path

import pytest

import dact

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dact"


def test_versions_agree():
    """The package, its metadata, the citation and the newest entry of the changelog name one version."""
    assert f'version = "{dact.__version__}"\n' in (ROOT / "pyproject.toml").read_text()
    assert f"version: {dact.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest is not None
    assert newest[1] == dact.__version__


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the sources, as `pip install .` does."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, check=True)
    (built,) = folder.glob("dact-*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_is_complete(wheel: Path):
    """Every file of the package is in it: sources, weights, the page, tables."""
    wanted = {
        f"dact/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    there = set(zipfile.ZipFile(wheel).namelist())
    assert wanted <= there
    assert {"dact/weights/cvrp100.safetensors", "dact/web/static/index.html", "dact/plotting/player.html"} <= wanted
    assert all(name.startswith((f"dact-{dact.__version__}.dist-info/", "dact/")) for name in there)


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of an empty environment that the wheel was installed into."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    constraints = ROOT / "constraints.txt"
    torch = next(line for line in constraints.read_text().splitlines() if line.startswith("torch=="))
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--constraint", str(constraints)]
    # PyTorch first and by its exact version: a range may pull another build with gigabytes of GPU libraries.
    subprocess.run([*install, torch], check=True)
    subprocess.run([*install, f"dact[web] @ {wheel.as_uri()}"], check=True)
    return folder / "bin"


@pytest.fixture
def environment(installed: Path) -> dict[str, str]:
    """Variables without anything that leads back to the sources."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TRITON", "VIRTUAL"))}
    return kept | {"PATH": f"{installed}:{os.environ['PATH']}", "OMP_NUM_THREADS": "1"}


@pytest.mark.slow
def test_it_solves_from_an_empty_environment(installed: Path, environment: dict[str, str], tmp_path: Path):
    """Both searches solve a file, far from the sources, with the weights and tables of the package."""
    (tmp_path / "shops.csv").write_bytes((ROOT / "examples" / "bakery40.csv").read_bytes())

    def command(*arguments: str) -> str:
        done = subprocess.run(
            [installed / "dact", *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    assert command("--version").strip() == dact.__version__
    assert "cvrp100" in command("info")
    command("solve", "shops.csv", "--steps", "50", "--out", "a.sol", "--plot", "a.png", "--animate", "a.html")
    assert all((tmp_path / name).stat().st_size for name in ("a.sol", "a.png", "a.html"))
    assert '"weights": "cvrp50"' in command("solve", "shops.csv", "--search", "policy", "--steps", "5", "--json")
    where = "import dact, pathlib; print(pathlib.Path(dact.__file__).parent)"
    done = subprocess.run(
        [installed / "python", "-c", where], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert Path(done.stdout.strip()).is_relative_to(installed.parent)


@pytest.mark.slow
def test_it_serves_from_an_empty_environment(installed: Path, environment: dict[str, str], tmp_path: Path):
    """`dact serve` shows the page of the package with all that it loads."""
    served = subprocess.Popen(
        [installed / "dact", "serve", "--port", "0", "--no-open"],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert served.stderr is not None
        address = re.match(r"http://127\.0\.0\.1:\d+", served.stderr.readline())
        assert address
        page = urllib.request.urlopen(address[0], timeout=60).read().decode()
        assert "<title>DACT</title>" in page
        parts = re.findall(r"(?:src|href)=\"([^\"#:]+)\"", page)
        assert parts
        for part in parts:
            assert urllib.request.urlopen(f"{address[0]}/{part.lstrip('/')}", timeout=60).status == 200
        served.send_signal(signal.SIGINT)
        assert served.wait(60) == 0
    finally:
        served.kill()
        served.wait()
