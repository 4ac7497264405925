"""`dact bench search`, `dact bench precision` and `dact bench hybrid`."""

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


def test_hybrid(dact, tmp_path: Path):
    """A row for each variant under each limit, as JSON, table, page and CSV, with curves, a descent and a picture."""
    set_file, out = tmp_path / "set.npz", tmp_path / "out"
    dact("generate", "cvrp", "--size", 8, "--count", 3, "--seed", 1, "--out", set_file)
    answer = dact(
        *("bench", "hybrid", set_file, "--count", 4, "--steps", "3,6", "--variant", "usual"),
        *("--vary", "kick_size=1,2", "--device", "cpu", "--json", "--out", out),
    )
    expected = [(f"kick_size={size}", f"{steps} rounds") for steps in (3, 6) for size in (1, 2)]
    assert [(record["variant"], record["limit"]) for record in answer.records] == expected
    assert "against the first" in answer.err
    assert "kick_size=2 | 6 rounds" in (out / "hybrid.md").read_text()
    assert (out / "hybrid.png").read_bytes().startswith(b"\x89PNG")
    for name, least in (("hybrid", 4), ("hybrid-curves", 4), ("hybrid-descents", 1)):
        assert len(list(csv.DictReader((out / f"{name}.csv").read_text().splitlines()))) >= least
    again = dact("bench", "hybrid", set_file, "--count", 2, "--steps", 1, "--device", "cpu", "--out", out)
    assert again.code == 0
    assert len((out / "hybrid.csv").read_text().splitlines()) == 2


def test_learnt_kicks(dact, tmp_path: Path):
    """Runs of one kind are one row, whose error is that of independent runs; there is a page and a picture of them."""
    rows = [
        "table,case,device,centres,limit,seconds,rounds,network's share %,gap %,more than anywhere,error,date,commit",
        "equal time,tsp9,one,anywhere,2,2.1,100,0,1.0,0,0,today,c",
        "equal time,tsp9,one,learnt,2,2.2,90,5,1.1,0.1,0.03,today,c",
        "equal time,tsp9,one,learnt,2,2.4,80,7,1.3,0.3,0.04,today,c",
        "equal time,tsp9,one,learnt,8,8.4,800,7,0.3,0.1,0.02,today,c",
        "training,tsp9,one,,,,,,,,,today,c",
    ]
    file, out = tmp_path / "rows.csv", tmp_path / "out"
    file.write_text("\n".join(rows))
    answer = dact("bench", "hybrid", "--kicks", file, "--out", out)
    assert answer.code == 0
    page = (out / "kicks.md").read_text()
    assert "| tsp9 | one | 2 s | learnt | 2 | 2.30 | 85 | 6.0 | 1.2000 | +0.2000 | 0.0250 |" in page
    assert (out / "kicks.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (out / "kicks.svg").read_bytes()


def test_measured_kicks_are_refused_by_name(dact, tmp_path: Path):
    """Files that are not there, have other rows, or a cell that is no number."""
    file = tmp_path / "rows.csv"
    dact("bench", "hybrid", "--kicks", file).refused("rows.csv", "cannot be read")
    file.write_text("a,b\n1,2\n")
    dact("bench", "hybrid", "--kicks", file).refused("rows.csv", "no row whose table is 'equal time'")
    file.write_text("table,limit\nequal time,soon\n")
    dact("bench", "hybrid", "--kicks", file).refused("row 1", "limit 'soon' is not a number")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["search", "--device", "cpu"], ["--quick"]),
        (["search", "--quick", "--only", "tsp7"], ["tsp7", "tsp20"]),
        (["search", "--quick", "--out", "rows.txt"], ["rows.txt", ".csv"]),
        (["search", "--quick", "--device", "cpu", "--precision", "float16"], ["float16", "GPU"]),
        (["precision", "--device", "cpu"], ["--quick"]),
        (["hybrid"], ["name a set or instances, or with --kicks"]),
        (["hybrid", "gone.npz"], ["gone.npz", "does not exist"]),
        (["hybrid", "examples/harbour60.vrp", "--variant", "kik=1"], ["kik", "did you mean 'kick'"]),
        (["hybrid", "examples/harbour60.vrp", "--count", "3"], ["count is for one set"]),
        (["hybrid", "examples/harbour60.vrp", "--vary", "3"], ["vary '3'"]),
        (["hybrid", "examples/harbour60.vrp", "--steps", "3,many"], ["steps 'many' is not a whole number"]),
    ],
)
def test_refusals(dact, options: list[str], words: list[str]):
    """What cannot be measured is refused before anything is."""
    dact("bench", *options).refused(*words)
