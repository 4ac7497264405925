"""Every code block of the documentation is run, or says why it is not."""

import shutil
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import matplotlib as mpl
import pytest
from blocks import RUN, Command, blocks, faults, pages, prepare, run

from dact.cli import main

FEW = ("--steps", "30")
"""For searches whose page names no number of steps and shows no output, so that pages are quick."""


@pytest.fixture
def dact(capsys: pytest.CaptureFixture[str]):
    """A command that returns its exit code and all that it printed, stderr first."""

    def call(arguments: list[str], shown: bool) -> tuple[int, str]:
        capsys.readouterr()
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 0
        captured = capsys.readouterr()
        return code, captured.out if "--json" in arguments else captured.err + captured.out

    return call


@pytest.fixture(scope="module")
def port() -> Iterator[int | None]:
    """The port of a running page; None where it or curl is not installed."""
    if not (find_spec("fastapi") and find_spec("uvicorn") and shutil.which("curl") and shutil.which("bash")):
        yield None
        return
    from dact.web.server import listen, make_server

    with listen(0) as listener:
        server = make_server(listener)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.02)
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_blocks_can_be_run(page: Path):
    """Every block has a language, and every one that is not run a reason."""
    assert faults(page.read_text()) == []


def _pages_with_code() -> list[Path]:
    return [page for page in pages() if any(b.language in RUN and not b.reason for b in blocks(page.read_text()))]


def _run(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, command: Command, port: int | None) -> None:
    mpl.use("Agg")
    prepare(page.read_text(), folder)
    monkeypatch.chdir(folder)
    assert run(page.read_text(), folder, command, port) > 0 or port is None


@pytest.mark.parametrize("page", _pages_with_code(), ids=lambda page: page.name)
def test_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dact: Command, port: int | None):
    """Commands and scripts succeed, and print what is shown."""

    def quick(arguments: list[str], shown: bool) -> tuple[int, str]:
        short = arguments[0] == "solve" and "--steps" not in arguments and not shown
        return dact([*arguments, *FEW] if short else arguments, shown)

    _run(page, tmp_path, monkeypatch, quick, port)


@pytest.mark.slow
@pytest.mark.parametrize("page", _pages_with_code(), ids=lambda page: page.name)
def test_blocks_run_as_they_stand(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dact: Command, port: int | None
):
    """The same, with searches as long as on the page."""
    _run(page, tmp_path, monkeypatch, dact, port)


def test_forgotten_blocks_are_found():
    """Commands in a plain block, unknown languages and files without a name."""
    assert "holds commands" in faults("```\ndact solve x\n```\n")[0]
    assert "is not one of" in faults("```rust\n```\n")[0]
    assert "no title" in faults("```csv\n1,2\n```\n")[0]
    assert "indented" in faults("    python x.py\n")[0]
    assert faults("<!-- not run: GPU -->\n```bash\ndact train x\n```\n") == []
