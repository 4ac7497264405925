"""Nothing that was found is lost: whatever fails after a search, its answer ends up somewhere."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_files import SQUARE, tsp_text
from rich.console import Console

import dact as package
from dact.cli import desk
from dact.cli.saving import Saver
from dact.cli.screen import Bar
from dact.instances import read, read_solution
from dact.pipeline import Found, InfeasibleError
from dact.pipeline.pipeline import check
from dact.plotting import FORMATS

DACT = (sys.executable, "-m", "dact")
SOURCES = str(Path(package.__file__).parents[1])
ENVIRONMENT = os.environ | {
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": SOURCES,
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
}


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rescue files go to the folder that the program was started in."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def rescued(tmp_path: Path) -> list[dict[str, object]]:
    """The answers of the only rescue file."""
    (path,) = (tmp_path / "here").glob("dact-rescue-*.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_one_failed_write_does_not_abandon_the_others(dact, square: Path, depot: Path, tmp_path: Path, monkeypatch):
    """A solution and a picture that cannot be written cost neither the other files nor the answer."""
    out = tmp_path / "out"
    write = desk.write_solution

    def in_the_way(path: Path, *answer: object) -> None:
        # It came there while the search ran.
        if path.name == "square.tour":
            path.mkdir()
        write(path, *answer)

    monkeypatch.setattr(desk, "write_solution", in_the_way)
    answer = dact("solve", square, depot, "--steps", 2, "--out", out, "--plot", out)
    assert answer.code == 1
    assert f"error: {out / 'square.tour'}: cannot be written" in answer.err
    assert sorted(path.name for path in out.iterdir()) == ["depot.png", "depot.sol", "square.png", "square.tour"]
    (record,) = rescued(tmp_path)
    assert (record["name"], sorted(record["tour"])) == ("square", [1, 2, 3, 4, 5, 6])
    assert "the answer was saved as a line of" in answer.err


def test_the_line_comes_after_the_file(dact, square: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whoever reads a line of JSON finds its file."""
    out = tmp_path / "a.tour"
    there = []
    monkeypatch.setattr("dact.cli.saving.emit", lambda line: there.append(out.exists()) or True)
    dact("solve", square, "--steps", 1, "--json", "--out", out)
    assert there == [True]


def test_lines_are_printed_in_order_and_none_is_kept_back(monkeypatch: pytest.MonkeyPatch):
    """Lines wait for those before them; where these never come, they are printed at the end."""
    saver, lines = Saver(), []
    monkeypatch.setattr("dact.cli.saving.emit", lambda line: lines.append(line) or True)
    for place, line in ((2, "c"), (0, "a"), (4, "e")):
        saver.save(place, line, {}, None, as_json=True)
    assert lines == ["a"]
    saver.close()
    assert lines == ["a", "c", "e"]


def test_a_process_whose_stdout_is_full(square: Path, tmp_path: Path):
    """Every file is saved though stdout takes nothing, and Python has nothing to add at its end."""
    out, picture = tmp_path / "a.tour", tmp_path / "a.png"
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*DACT, "solve", square, "--steps", "2", "--json", "--out", out, "--plot", picture],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            env=ENVIRONMENT,
            check=False,
        )
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("error: stdout cannot be written (No space left on device)\n")
    assert "Exception" not in done.stderr
    assert read_solution(out, read(square))
    assert picture.exists()


class Deaf:
    """A stdout that nobody reads."""

    def write(self, text: str) -> None:
        raise BrokenPipeError(32, "Broken pipe")

    def flush(self) -> None:
        raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize("stdout", [None, Deaf()])
def test_a_stdout_that_takes_nothing(dact, stdout: object, square: Path, tmp_path: Path, monkeypatch):
    """Where stdout is closed or its reader has gone, the files are written; without files there is a rescue file."""
    out = tmp_path / "a.tour"
    monkeypatch.setattr(sys, "stdout", stdout)
    assert dact("solve", square, "--steps", 2, "--json", "--out", out).code == 1
    assert out.exists()
    assert not list((tmp_path / "here").iterdir())
    assert dact("solve", square, "--steps", 2, "--json").code == 1
    assert [record["name"] for record in rescued(tmp_path)] == ["square"]


@pytest.mark.parametrize("options", [("--json",), ("--routes",), ()], ids=str)
def test_a_picture_is_no_solution(dact, options: tuple[str, ...], square: Path, tmp_path: Path, monkeypatch):
    """Routes that only stdout would have told are in the rescue file, also where a picture of them was saved."""
    monkeypatch.setattr(sys, "stdout", Deaf())
    picture = tmp_path / "a.png"
    answer = dact("solve", square, "--steps", 2, "--plot", picture, *options)
    assert answer.code == 1
    assert picture.exists()
    assert [record["name"] for record in rescued(tmp_path)] == ["square"]


def test_a_title_is_no_markup(monkeypatch: pytest.MonkeyPatch):
    """Names are shown as they are."""
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr("dact.cli.screen.CONSOLE", console)
    with Bar("[/x]") as bar:
        bar.show(0.5, "[/y]")
    assert "[/x]" in console.file.getvalue()
    assert "[/y]" in console.file.getvalue()


@pytest.mark.parametrize(("after", "seen"), [(0.05, True), (60.0, False)])
def test_a_bar_that_waits(monkeypatch: pytest.MonkeyPatch, after: float, seen: bool):
    """A bar for what may take long is seen only where it does, and is over when the work is."""
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    monkeypatch.setattr("dact.cli.screen.CONSOLE", console)
    with Bar("a set", after=after) as bar:
        bar.show(0.5, "drawing")
        if seen:
            assert bar._later is not None
            bar._later.join()
    assert ("drawing" in console.file.getvalue()) == seen
    assert bar._progress.live.is_started is False


NAMES = ["$x$ and $", "a$b_{", "[red]", "ä", "x" * 245, "two  words", "a\nb", "%s {} \\", "\u202e"]


@pytest.mark.parametrize("name", NAMES)
def test_odd_names(dact, name: str, tmp_path: Path):
    """Names that Matplotlib, rich or a terminal would take for more than names are answered, written and drawn."""
    path = tmp_path / f"{name}.tsp"
    path.write_text(tsp_text(SQUARE))
    picture = tmp_path / f"p{FORMATS[len(name) % len(FORMATS)]}"
    answer = dact("solve", path, "--steps", 1, "--out", tmp_path / "o", "--plot", picture)
    assert answer.code == 0, answer.err
    assert picture.exists()
    assert (tmp_path / "o" / f"{name}.tour").exists()


def test_names_in_no_encoding(tmp_path: Path):
    """A name that is no UTF-8, and one that is no ASCII under the C locale, are solved, written and drawn."""
    folder = os.fsencode(tmp_path)
    names = (b"\xff\xfe", "ä".encode())
    for name in names:
        with open(os.path.join(folder, name + b".tsp"), "wb") as stream:
            stream.write(tsp_text(SQUARE).encode())
    files = [os.path.join(folder, name + b".tsp") for name in names]
    targets = [b"--out", os.path.join(folder, b"o"), b"--plot", os.path.join(folder, b"o")]
    done = subprocess.run(
        [*DACT, b"solve", *files, b"--steps", b"1", b"--json", *targets],
        capture_output=True,
        timeout=60,
        env=ENVIRONMENT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(os.listdir(os.path.join(folder, b"o"))) == sorted(
        name + suffix for name in names for suffix in (b".png", b".tour")
    )
    assert [json.loads(line)["nodes"] for line in done.stdout.splitlines()] == [6, 6]


@pytest.mark.parametrize("command", ["solve {} --steps 1", "evaluate {}", "solve x.tsp --weights {}", "train {}"])
def test_names_that_are_too_long(dact, square: Path, command: str):
    """A name longer than any file's is refused like one that does not exist."""
    words = [word.format("n" * 300 + ".tsp") if "{}" in word else word for word in command.split()]
    words = [str(square) if word == "x.tsp" else word for word in words]
    dact(*words).refused("nnn")


def test_outputs_with_names_that_are_too_long(dact, square: Path, tmp_path: Path):
    """A name that cannot be written is refused before the search."""
    for option, suffix in (("--out", ".tour"), ("--plot", ".png")):
        dact("solve", square, option, tmp_path / ("n" * 252 + suffix)).refused(option, "File name too long")


def test_an_infeasible_answer_is_never_given(dact, depot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where a search gives a tour that is no solution, we say so, give the start, and exit with code 1."""
    monkeypatch.setattr("dact.pipeline.pipeline.best_tours", lambda state, augment: state.incumbent_BN * 0 + 1)
    answer = dact("solve", depot, "--steps", 2, "--json", "--out", tmp_path / "a.sol")
    assert answer.code == 1
    assert "error of DACT, please report it: depot: the search gave a tour that is no solution" in answer.err
    record = answer.record
    assert record["feasible"]
    assert record["cost"] == record["start_cost"] == check(read(depot), record["routes"]).cost
    assert read_solution(tmp_path / "a.sol", read(depot))


def test_not_even_the_start_is_a_solution(dact, square: Path, depot: Path, monkeypatch: pytest.MonkeyPatch):
    """Where nothing of ours is feasible, the answer is the simplest solution there is."""
    judged = Found._judged
    monkeypatch.setattr(Found, "_judged", lambda self, instance, tour: judged(self, instance, [99] * len(tour)))
    answer = dact("solve", depot, square, "--steps", 1, "--json")
    assert answer.code == 1
    assert [record.get("routes") for record in answer.records] == [[[1], [2], [3], [4], [5]], None]
    assert all(record["feasible"] for record in answer.records)


def test_an_evaluation_that_finds_no_solution(dact, square: Path, monkeypatch: pytest.MonkeyPatch):
    """An evaluation of infeasible tours is an error of ours, in one sentence."""

    def fail(*arguments: object, **settings: object) -> None:
        raise InfeasibleError("the solution found for a[3] overloads a vehicle")

    monkeypatch.setattr("dact.cli.evaluating.evaluate", fail)
    answer = dact("evaluate", square)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "error of DACT, please report it: the solution found for a[3] overloads a vehicle\n"
