"""Outcomes as files, and the list of what can be reproduced."""

import csv
from pathlib import Path

import pytest

from dact.instances import InputError
from dact.plotting.panels import new_figure
from dact.reproduce import STUDIES, Outcome, Picture, Request, Study, Table, reproduce
from dact.reproduce.writing import write


def outcome() -> Outcome:
    """A table and a picture of nothing."""
    figure = new_figure(3, 2)
    figure.add_subplot()
    table = Table(name="costs", title="Costs", columns={"set": None, "cost": 2}, rows=(("a|b", 1.23456), ("c", None)))
    outputs = (table, Picture(name="empty", title="Nothing", figure=figure))
    return Outcome(outputs=outputs, instances="3 of TSP20", seeds="7", smaller="3 instead of 10", missing=("a model",))


STUDY = Study(name="study", what="A study.", where="Table 0", make=lambda request: outcome())


def test_every_file_says_how_it_was_made(tmp_path: Path):
    """Command, commit, hardware, seeds and instances are in the Markdown, CSV, PNG and SVG."""
    paths = write(STUDY, Request(out=tmp_path, quick=True), outcome())
    assert {path.name for path in paths} == {"study.md", "study-costs.csv", "study-empty.png", "study-empty.svg"}
    for path in paths:
        text = path.read_bytes().decode("latin-1")
        for fact in ("command: dact reproduce study --quick", "commit: ", "hardware: ", "seeds: 7", "3 of TSP20"):
            assert fact in text, (path.name, fact)
        assert "3 instead of 10" in text


def test_pictures_are_titled(tmp_path: Path):
    """A picture that is seen without its page says what it shows."""
    made = outcome()
    write(STUDY, Request(out=tmp_path), made)
    (picture,) = (output for output in made.outputs if isinstance(output, Picture))
    assert picture.figure.get_suptitle() == picture.title


def test_page_and_rows(tmp_path: Path):
    """Markdown is rounded and escaped and names what is missing; CSV has the numbers as they are."""
    page, rows, *_ = write(STUDY, Request(out=tmp_path), outcome())
    text = page.read_text()
    assert "| a\\|b | 1.23 |" in text
    assert "| c | - |" in text
    assert "- a model" in text
    assert "quick version" not in text
    lines = [line for line in rows.read_text().splitlines() if not line.startswith("#")]
    assert list(csv.reader(lines)) == [["set", "cost"], ["a|b", "1.23456"], ["c", ""]]


def test_commands_do_not_tell_folders(tmp_path: Path):
    """What is written down can be called elsewhere."""
    request = Request(out=tmp_path, data=tmp_path, train=True, shard=(2, 4), device="cpu")
    assert request.command("main") == "dact reproduce main --train --data DATA --shard 2/4 --device cpu"


def test_uneven_rows_are_refused():
    """A row with a cell too many would shift what stands below a header."""
    with pytest.raises(ValueError, match="2 columns, but a row of 1"):
        Table(name="t", title="T", columns={"a": None, "b": None}, rows=((1,),))


def test_unknown_names_are_refused(tmp_path: Path):
    """The error lists the names there are."""
    with pytest.raises(InputError, match="'figure' is not one of main"):
        reproduce("figure", Request(out=tmp_path))


def test_names_are_listed():
    """The page of reproductions has a row for every name."""
    page = (Path(__file__).parents[2] / "docs/reproduction/README.md").read_text()
    for name in STUDIES:
        assert f"| `{name}` |" in page
