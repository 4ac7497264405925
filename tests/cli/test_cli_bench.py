"""`dact bench search` and `dact bench precision`."""

import csv
from pathlib import Path

import pytest


def test_search(dact, depot: Path, tmp_path: Path):
    """One JSON line per case, a table, and rows appended to a CSV file; a file replaces the sampled case."""
    path = tmp_path / "search.csv"
    answer = dact(
        "bench", "search", "--quick", "--only", "tsp20-x8", "--only", "depot", "--file", depot, "--json", "--out", path
    )
    assert [record["case"] for record in answer.records] == ["tsp20-x8", "depot"]
    assert "instance-steps/s" in answer.err
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert [row["case"] for row in rows] == ["tsp20-x8", "depot"]
    columns = {"date", "device", "torch", "triton", "commit", "precision", "engine", "rows", "positions", "memory_gib"}
    assert columns | {"cost_error", "p20_ms", "p50_ms", "p80_ms", "authors_per_s", "times_faster"} <= set(rows[0])


def test_precision(dact, tmp_path: Path):
    """Without a GPU two seeds are compared, and the rows say so."""
    path = tmp_path / "precision.csv"
    answer = dact("bench", "precision", "--quick", "--device", "cpu", "--json", "--out", path)
    assert [record["other"] for record in answer.records] == ["float32 seed 1"] * 2
    assert "alike" in answer.err
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["search", "--device", "cpu"], ["--quick"]),
        (["search", "--quick", "--only", "tsp7"], ["tsp7", "tsp20"]),
        (["search", "--quick", "--out", "rows.txt"], ["rows.txt", ".csv"]),
        (["search", "--quick", "--device", "cpu", "--precision", "float16"], ["float16", "GPU"]),
        (["precision", "--device", "cpu"], ["--quick"]),
    ],
)
def test_refusals(dact, options: list[str], words: list[str]):
    """What cannot be measured is refused before anything is."""
    dact("bench", *options).refused(*words)
