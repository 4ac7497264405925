"""`dact solve --animate` and `dact plot`."""

import json
from pathlib import Path

import pytest
from PIL import Image

QUICK = ("--search", "policy", "--weights", "untrained", "--steps", 20, "--start", "random")


def test_a_search_is_shown(dact, depot: Path, tmp_path: Path):
    """--animate writes a moving picture whose frames lead to the answer."""
    record = dact("solve", depot, *QUICK, "--animate", tmp_path / "a.html", "--json").record
    text = (tmp_path / "a.html").read_text()
    film = json.loads(text.split("const film = ")[1].split(";\n")[0])
    assert film["frames"][0]["value"] == record["start_cost"]
    assert film["frames"][-1]["value"] == record["cost"]
    assert sorted(map(sorted, film["frames"][-1]["routes"])) == sorted(map(sorted, record["routes"]))


def test_each_instance_has_a_film_of_its_own(dact, square: Path, depot: Path, tmp_path: Path):
    """A folder gets a GIF for each instance, of the best seed, also where instances could be searched side by side."""
    other = square.with_name("other.tsp")
    other.write_text(square.read_text())
    answer = dact("solve", square, other, depot, *QUICK, "--seeds", 2, "--animate", tmp_path / "films")
    assert answer.code == 0
    films = sorted((tmp_path / "films").iterdir())
    assert [film.name for film in films] == ["depot.gif", "other.gif", "square.gif"]
    assert all(Image.open(film).format == "GIF" for film in films)


def test_films_are_refused_before_the_search(dact, square: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Extensions that are none, and films where no ffmpeg is."""
    dact("solve", square, "--animate", tmp_path / "a.avi").refused("--animate", "a.avi", ".gif or .html or .mp4")
    monkeypatch.setenv("PATH", str(tmp_path))
    dact("solve", square, "--animate", tmp_path / "a.mp4").refused(".mp4 needs ffmpeg")


def test_routes_of_a_file_are_drawn(dact, depot: Path, tmp_path: Path):
    """A solution file becomes a picture beside it; one that is no solution is refused."""
    dact("solve", depot, *QUICK, "--out", tmp_path / "day.sol")
    answer = dact("plot", "routes", depot, tmp_path / "day.sol")
    assert (answer.code, answer.err.strip()) == (0, str(tmp_path / "day.png"))
    assert Image.open(tmp_path / "day.png").format == "PNG"
    (tmp_path / "bad.sol").write_text("Route #1: 1 2\n")
    dact("plot", "routes", depot, tmp_path / "bad.sol").refused("bad.sol", "not")
    dact("plot", "routes", depot, tmp_path / "day.sol", "--out", tmp_path / "a.txt").refused("--out", "a.txt")


def test_traces_are_drawn(dact, square: Path, depot: Path, tmp_path: Path):
    """What --json printed becomes curves: costs of one, percent of several."""
    lines = dact("solve", square, depot, *QUICK, "--json").out
    answers = tmp_path / "answers.jsonl"
    answers.write_text(lines)
    answer = dact("plot", "trace", answers, "--out", tmp_path / "two.svg")
    assert (answer.code, answer.err.strip()) == (0, str(tmp_path / "two.svg"))
    assert "percent above the last cost" in (tmp_path / "two.svg").read_text()
    answers.write_text(lines.splitlines()[0])
    dact("plot", "trace", answers, "--steps", "--out", tmp_path / "one.svg")
    text = (tmp_path / "one.svg").read_text()
    assert all(words in text for words in ("best cost", "steps", "square"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("\n", "no answers"),
        ("{", "line 1: '{' is not JSON"),
        ('{"name": "a"}', "no list 'trace'"),
        ('{"trace": [[0, 1]]}', "[0, 1] is not 3 numbers"),
        ('{"trace": [[0, 1, NaN]]}', "not 3 numbers"),
        ('{"trace": [[0, 1, 1' + "0" * 400 + "]]}", "not 3 numbers"),
        ('{"trace": [[0, 1, 2]], "steps": "x", "seconds": 1}', "not 2 numbers"),
    ],
)
def test_other_files_have_no_trace(dact, tmp_path: Path, content: str, words: str):
    """One sentence names the file and the line."""
    path = tmp_path / "answers.jsonl"
    path.write_text(content)
    dact("plot", "trace", path).refused("answers.jsonl", words)
