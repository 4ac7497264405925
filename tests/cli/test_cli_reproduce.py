"""`dact reproduce`."""

from pathlib import Path

import pytest


def test_files(dact, tmp_path: Path):
    """A name gives files, which are named on stderr and in the JSON."""
    answer = dact("reproduce", "gray-code", "--out", tmp_path / "new", "--json")
    assert answer.code == 0
    assert [Path(path).suffix for path in answer.record["files"]] == [".md", ".png", ".svg", ".csv"]
    assert all(Path(path).is_file() and path in answer.err for path in answer.record["files"])


def test_list(dact):
    """Without a name, everything is listed with what it needs."""
    answer = dact("reproduce", "--json")
    assert {"operators", "encoding", "gray-code"} <= {record["name"] for record in answer.records}
    assert all(record["what"] and record["needs"] for record in answer.records)


def test_unknown_name(dact, tmp_path: Path):
    """One sentence with the names there are."""
    dact("reproduce", "figures", "--out", tmp_path).refused("'figures'", "gray-code")


@pytest.mark.parametrize("shard", ["0/0", "3/2", "x"])
def test_shards_that_do_not_exist(shard: str, dact, tmp_path: Path):
    """They are refused, also where nothing is divided."""
    dact("reproduce", "gray-code", "--shard", shard, "--out", tmp_path).refused("shard", shard)


def test_a_shard_makes_no_files(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It says that it is done, and what makes the files."""
    from dact.reproduce import stability

    monkeypatch.setattr(
        stability, "QUICK", stability.StabilityConfig(sets=(("tsp", 20),), count=2, steps=(1, 2), seeds=2)
    )
    answer = dact("reproduce", "stability", "--quick", "--shard", "2/3", "--out", tmp_path, "--device", "cpu", "--json")
    assert answer.code == 0
    assert "stability: shard 2/3 is done; when all are, the same command without --shard makes the files" in answer.err
    assert answer.record["files"] == []


def test_what_it_takes_is_said_first(dact, tmp_path: Path):
    """Minutes on a GPU for what is asked for, and what it needs; before anything else."""
    answer = dact("reproduce", "libraries", "--instances", 3, "--out", tmp_path)
    assert answer.code == 2
    assert answer.err.startswith("libraries: about 0.5 min on one H200; needs: --data with tsplib/ and cvrplib/\n")


def test_missing_models(dact, tmp_path: Path):
    """Where nothing can be made without models, one sentence names the command that trains them."""
    answer = dact("reproduce", "aspects", "--out", tmp_path, "--models", tmp_path / "none")
    assert answer.code == 2
    assert answer.err.splitlines()[-1].startswith("error: aspects needs weights that ")
    assert "`dact reproduce aspects --train` trains them (about 3.5 min on one H200)" in answer.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["main", "--instances", 0], ["instances 0"]),
        (["main", "--instances", 10_001], ["instances 10001", "10,000"]),
        (["main", "--quick", "--instances", 5], ["--quick", "--instances"]),
        (["main", "--seeds", 2], ["main", "--seeds"]),
        (["gray-code", "--instances", 2], ["gray-code", "--instances"]),
    ],
)
def test_numbers_that_make_no_sense(dact, options: list[object], words: list[str], tmp_path: Path):
    """Refused before anything is done."""
    dact("reproduce", *options, "--out", tmp_path).refused(*words)
