"""`dact bench peers`."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dact.instances import generate_set
from fake_peers import FAKE, infeasible, named


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two fakes in the place of the real ones."""
    monkeypatch.setattr("dact.bench.peers.solvers.PEERS", (FAKE, named("Wrong", solve=infeasible)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A set with reference costs."""
    path = tmp_path / "tsp7_set.npz"
    drawn = generate_set("tsp", 7, 3, seed=5)
    replace(drawn, reference_cost=np.full(3, 2.0)).save_npz(path)
    return path


def test_rows_page_and_pictures(dact, file: Path, peers: None, tmp_path: Path):
    """JSON lines for rows and for who is left out; the same command again measures only what failed."""
    out = tmp_path / "out"
    command = ["bench", "peers", file, "--seconds", "0.1", "--cores", 1, "--only", "fake", "--only", "wrong"]
    answer = dact(*command, "--out", out, "--json")
    assert answer.code == 0
    assert [record.get("left_out", "")[:10] for record in answer.records] == ["", "gave an in"]
    assert {path.suffix for path in out.iterdir()} == {".csv", ".md", ".png", ".svg"}
    assert "Wrong in 0.1 s gave an infeasible answer" in (out / "tsp7_set.md").read_text()
    rows = (out / "tsp7_set.csv").read_text()
    assert dact(*command, "--out", out).code == 0
    assert (out / "tsp7_set.csv").read_text() == rows


def test_the_command_on_a_page_makes_the_page(dact, file: Path, peers: None, tmp_path: Path):
    """Measured again for one solver, the page with all of them does not say that this solver's command made it."""
    command = ["bench", "peers", file, "--seconds", "0.1", "--cores", 1, "--out", tmp_path / "out"]
    dact(*command, "--only", "fake")
    page = tmp_path / "out" / "tsp7_set.md"
    assert "--cores 1 --only fake`" in page.read_text()
    dact(*command, "--only", "hybrid")
    assert "--cores 1`" in page.read_text()


def test_rows_of_elsewhere_are_shown_beside(dact, file: Path, peers: None, tmp_path: Path):
    """With their own machine, and the others scaled."""
    more = tmp_path / "gpu.csv"
    more.write_text("device,case,instances,seconds,gap\nH200,tsp7,50,1.5,0.2\n")
    scaled = ["--count-as", 50, "--cores-as", 16, "--with", f"DACT hybrid={more}"]
    command = ["bench", "peers", file, "--seconds", "0.1", "--cores", 1, "--only", "fake"]
    answer = dact(*command, *scaled, "--out", tmp_path / "out")
    page = (tmp_path / "out" / "tsp7_set.md").read_text()
    assert answer.code == 0
    assert "| DACT hybrid | - | H200 | 1.5 |" in page
    assert "1 core scaled to 16" in page
    assert str(tmp_path) not in page


def test_files_of_a_folder(dact, peers: None, tmp_path: Path):
    """A row for each file, by the best known values of a table."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for name in ("a", "b"):
        generate_set("tsp", 7, 1, seed=ord(name)).save_npz(folder / f"{name}.npz")
    values = tmp_path / "values.csv"
    values.write_text("name,value\na,2.0\nb,2.5\n")
    command = ["bench", "peers", "--files", folder, "--seconds", "0.1", "--only", "fake", "--cores", 1]
    dact(*command).refused("a", "--best-known")
    answer = dact(*command, "--best-known", values, "--out", tmp_path / "out")
    assert answer.code == 0
    with (tmp_path / "out" / "mine.csv").open() as stream:
        assert [row["instance"] for row in csv.DictReader(stream)] == ["a", "b"]


def test_a_sample_of_files_beside_rows_of_all(dact, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Every second file: a page that names the files, and says what must be said of solvers measured before."""
    monkeypatch.setattr("dact.bench.peers.solvers.PEERS", (FAKE, named("Told", terms="Said of it.")))
    folder, out = tmp_path / "mine", tmp_path / "out"
    folder.mkdir()
    for name in ("a", "b", "c"):
        generate_set("tsp", 7, 1, seed=ord(name)).save_npz(folder / f"{name}.npz")
    values = tmp_path / "values.csv"
    values.write_text("name,value\na,2.0\nb,2.0\nc,2.0\n")
    command = ["bench", "peers", "--files", folder, "--best-known", values, "--cores", 1, "--out", out]
    assert dact(*command, "--seconds", "0.1", "--only", "told").code == 0
    sample = ["--every", 2, "--with", out / "mine.csv"]
    assert dact(*command, "--seconds", "0.2", "--only", "fake", *sample).code == 0
    page = (out / "mine-every-2.md").read_text()
    assert "Files: a, c." in page
    assert "Said of it." in page
    assert [line.split(" | ")[4] for line in page.splitlines() if line.startswith(("| Fake", "| Told"))] == [
        "0.2",
        "0.1",
    ]
    with (out / "mine-every-2.csv").open() as stream:
        assert [row["instance"] for row in csv.DictReader(stream)] == ["a", "c"]


def test_an_interruption_keeps_the_rows(dact, file: Path, peers: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Exit code 130; page and pictures have what was measured, and the same command goes on from there."""
    from dact.cli import bench_peers
    from dact.cli.bench_peers import measure

    def cut_short(*arguments):
        yield next(iter(measure(*arguments)))
        raise KeyboardInterrupt

    monkeypatch.setattr(bench_peers, "measure", cut_short)
    command = ["bench", "peers", file, "--cores", 1, "--only", "fake", "--out", tmp_path / "out"]
    answer = dact(*command, "--seconds", "0.1,0.2")
    assert (answer.code, "1 rows are in" in answer.err) == (130, True)
    assert "| Fake |" in (tmp_path / "out" / "tsp7_set.md").read_text()
    monkeypatch.setattr(bench_peers, "measure", measure)
    assert dact(*command, "--seconds", "0.1,0.2").code == 0
    assert len((tmp_path / "out" / "tsp7_set.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], ["set", "--files"]),
        (["SET", "--files", "folder"], ["set", "--files"]),
        (["SET", "--seconds", "1,x"], ["seconds", "'x'"]),
        (["SET", "--seconds", "1,-3"], ["seconds", "'-3'"]),
        (["SET", "--limit", "0"], ["limit 0"]),
        (["SET", "--every", "2"], ["--every", "--files"]),
        (["SET", "--cores", "100000"], ["cores 100000"]),
        (["SET", "--cores-as", "0"], ["cores-as 0"]),
        (["SET", "--only", "cplex"], ["cplex", "ortools"]),
        (["SET", "--best-known", "x.csv"], ["--best-known", "--files"]),
        (["SET", "--references", "no.npz"], ["no.npz"]),
        (["--files", "folder", "--references", "SET"], ["--references", "--best-known"]),
        (["SET", "--with", "SET"], ["tsp7_set.npz"]),
        (["--files", "folder", "--cores-as", "16"], ["--cores-as"]),
        (["no.npz"], ["no.npz"]),
    ],
)
def test_refusals(dact, file: Path, options: list[str], words: list[str]):
    """One sentence before anything is measured."""
    dact("bench", "peers", *[str(file) if each == "SET" else each for each in options]).refused(*words)


def test_rows_of_other_instances_are_not_mixed(dact, file: Path, peers: None, tmp_path: Path):
    """Another --limit needs another folder."""
    command = ["bench", "peers", file, "--seconds", "0.1", "--cores", 1, "--only", "fake", "--out", tmp_path / "out"]
    assert dact(*command).code == 0
    dact(*command, "--limit", 2).refused("other instances", "--out")
