"""Every code block of the documentation is run, or says why it is not."""

from pathlib import Path

import matplotlib as mpl
import pytest
from blocks import RUN, Command, blocks, compare, faults, pages, prepare, run

from dact.cli import main

FEW = ("--steps", "30")
"""For searches whose page names no number of steps, so that pages are quick."""


@pytest.fixture
def dact(capsys: pytest.CaptureFixture[str]):
    """A command that returns its exit code and all that it printed, stderr first."""

    def call(arguments: list[str]) -> tuple[int, str]:
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
        captured = capsys.readouterr()
        return code, captured.out if "--json" in arguments else captured.err + captured.out

    return call


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_blocks_can_be_run(page: Path):
    """Every block has a language, and every one that is not run a reason."""
    assert faults(page.read_text()) == []


def _pages_with_code() -> list[Path]:
    return [page for page in pages() if any(b.language in RUN and not b.reason for b in blocks(page.read_text()))]


def _run(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    mpl.use("Agg")
    prepare(page.read_text(), folder)
    monkeypatch.chdir(folder)
    assert run(page.read_text(), folder, command) > 0


@pytest.mark.parametrize("page", _pages_with_code(), ids=lambda page: page.name)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dact: Command):
    """Commands succeed and print what is shown, but for numbers, and scripts run."""

    def quick(arguments: list[str]) -> tuple[int, str]:
        short = arguments[0] == "solve" and "--steps" not in arguments
        return dact([*arguments, *FEW] if short else arguments)

    _run(page, tmp_path, monkeypatch, quick)


@pytest.mark.slow
@pytest.mark.parametrize("page", _pages_with_code(), ids=lambda page: page.name)
def test_blocks_run_as_they_stand(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dact: Command):
    """The same, with searches as long as on the page."""
    _run(page, tmp_path, monkeypatch, dact)


def test_output_is_compared():
    """Other words are a difference, other numbers are not; three dots stand for anything."""
    compare("x", ["a 1", "..."], "a 2.5\nb\n")
    with pytest.raises(AssertionError, match="shown are"):
        compare("x", ["a 1"], "b 1\n")


def test_forgotten_blocks_are_found():
    """Commands in a plain block, unknown languages and files without a name."""
    assert "holds commands" in faults("```\ndact solve x\n```\n")[0]
    assert "is not one of" in faults("```rust\n```\n")[0]
    assert "no title" in faults("```csv\n1,2\n```\n")[0]
    assert "indented" in faults("    python x.py\n")[0]
    assert faults("<!-- not run: GPU -->\n```bash\ndact train x\n```\n") == []
