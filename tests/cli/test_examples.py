"""The bundled instances and scripts."""

import json
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

from dact.instances import read

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "size"), [("islands60.tsp", 60), ("harbour60.vrp", 61), ("bakery40.csv", 41), ("capitals.csv", 43)]
)
def test_examples_load(name: str, size: int):
    """The instances are proper files of the size in their names."""
    assert read(EXAMPLES / name).size == size


def test_examples_are_reproduced(tmp_path: Path):
    """The script draws the very files that are shipped."""
    script = tmp_path / "make_examples.py"
    script.write_text((EXAMPLES / "make_examples.py").read_text())
    runpy.run_path(str(script), run_name="__main__")
    for name in ("islands60.tsp", "harbour60.vrp", "bakery40.csv"):
        assert (tmp_path / name).read_text() == (EXAMPLES / name).read_text()


@pytest.mark.slow
def test_notebook(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Its cells run one after another, and print as many lines as the notebook shows."""
    cells = [cell for cell in json.loads((EXAMPLES / "capitals.ipynb").read_text())["cells"] if "outputs" in cell]
    mpl.use("Agg")
    monkeypatch.chdir(EXAMPLES)
    space: dict[str, object] = {}
    for cell in cells:
        exec("".join(cell["source"]), space)
        shown = [line for output in cell["outputs"] for line in output.get("text", ())]
        assert len(capsys.readouterr().out.splitlines()) == len(shown)
    assert sum("image/png" in output.get("data", {}) for cell in cells for output in cell["outputs"]) == 3


def test_quickstart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The script solves, prints and draws."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / "quickstart.py"), run_name="__main__")
    assert "harbour60" in capsys.readouterr().out
    assert (tmp_path / "harbour60.png").exists()
