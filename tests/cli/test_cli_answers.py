"""`dact solve`: lists of routes, stops, seeds and summaries, and going on after an interruption."""

import csv
import json
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from cli_files import SQUARE, tsp_text

from dact.cli.kept import NAME
from dact.cli.screen import Bar
from dact.instances import check, read, read_solution


@pytest.fixture
def shops(tmp_path: Path) -> Path:
    """A bakery and four shops, with names and decimal demands."""
    path = tmp_path / "shops.csv"
    path.write_text("# capacity: 3\nname,x,y,demand\nBakery,0,0,0\nAnn,0,1,1.5\nBen,0,2,1.5\nCem,3,0,1\nDan,4,0,1.5\n")
    return path


def test_routes(dact, shops: Path):
    """--routes prints names, loads in the file's units and lengths after the table."""
    answer = dact("solve", shops, "--demand-unit", 0.5, "--steps", 50, "--routes")
    lines = answer.out.splitlines()
    assert lines[2] == "shops: cost 12"
    assert sorted(line.split(" (")[1] for line in lines[3:]) in (
        ["load 2.5 of 3, length 8): Cem, Dan", "load 3 of 3, length 4): Ann, Ben"],
        ["load 2.5 of 3, length 8): Dan, Cem", "load 3 of 3, length 4): Ben, Ann"],
    )
    dact("solve", shops, "--routes", "--json").refused("--routes", "--json")


def test_stops(dact, shops: Path, tmp_path: Path):
    """A .csv file has a row for every stop; its legs add up to the cost, and it is read back."""
    out = tmp_path / "stops.csv"
    cost = dact("solve", shops, "--demand-unit", 0.5, "--steps", 50, "--out", out, "--json").record["cost"]
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert list(rows[0]) == ["route", "stop", "name", "load", "leg", "distance"]
    assert sum(float(row["leg"]) for row in rows) == pytest.approx(cost)
    assert sum(float(row["load"]) for row in rows) == 5.5
    assert [row["name"] for row in rows].count("Bakery") == 4
    instance = read(shops, demand_unit=0.5)
    assert check(instance, read_solution(out, instance)).cost == pytest.approx(cost)


def test_a_format_for_all_files(dact, depot: Path, square: Path, tmp_path: Path):
    """Lists of stops for several files, in a folder; they are read back, and a run goes on with them."""
    out = tmp_path / "answers"
    ordered = ("solve", depot, square, "--steps", 1, "--out", out, "--out-format", "CSV")
    assert dact(*ordered).code == 0
    assert sorted(path.name for path in out.iterdir()) == [f"{depot.stem}.csv", f"{square.stem}.csv"]
    assert (out / f"{depot.stem}.csv").read_text().startswith("route,stop,name,load,leg,distance\n")
    again = dact("solve", depot, "--start", out / f"{depot.stem}.csv", "--steps", 0, "--json")
    assert again.record["cost"] == dact("solve", depot, "--steps", 1, "--json").record["cost"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--out-format", "csv"), "--out-format 'csv' goes with a folder as --out"),
        (("--out", "a.sol", "--out-format", "csv"), "--out-format 'csv' goes with a folder as --out, not with a.sol"),
        (("--out", "answers", "--out-format", "xlsx"), "--out-format 'xlsx' does not hold answers of "),
        (("--out", "answers", "--out-format", "tour"), ": sol or json or csv do"),
    ],
)
def test_wrong_formats(dact, depot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options, said: str):
    """Refused before the search."""
    monkeypatch.chdir(tmp_path)
    dact("solve", depot, *options).refused(said)
    assert not (tmp_path / "answers").exists()


def test_kilometres(dact, tmp_path: Path):
    """Where distances are kilometres, table and routes say so, and stops are to the metre."""
    table, out = tmp_path / "towns.csv", tmp_path / "stops.csv"
    table.write_text("# capacity: 9\nname,lat,lon,demand\nBase,52.09,5.12,0\nAnn,52.37,4.89,5\nBen,52.38,4.64,3\n")
    command = ("solve", table, "--steps", 5, "--routes")
    lines = dact(*command, "--out", out).out.splitlines()
    cost = lines[1].split()[4]
    assert lines[1].split()[2:6] == [cost, "km", cost, "km"]
    assert lines[2] == f"towns: cost {cost} km"
    assert lines[3].startswith(f"Route 1 (load 8 of 9, length {cost} km): ")
    best, mean, worst = dact(*command, "--seeds", 2).out.splitlines()[1].split()[2:8:2]
    assert best == mean == worst == cost
    rows = list(csv.DictReader(out.read_text().splitlines()))
    places = [read(table).names.index(row["name"]) for row in rows]
    exact = [0, *read(table).lengths(places[:-1], places[1:])]
    assert [row["leg"] for row in rows] == [f"{leg:.3f}" if leg else "0" for leg in exact]
    assert [float(row["distance"]) for row in rows] == pytest.approx(np.cumsum(exact), abs=0.0005)


def test_stops_of_a_tour(dact, square: Path, tmp_path: Path):
    """A tour without names is listed by the ids of its nodes and ends where it begins."""
    out = tmp_path / "stops.csv"
    record = dact("solve", square, "--steps", 5, "--out", out, "--json").record
    names = [row["name"] for row in csv.DictReader(out.read_text().splitlines())]
    assert names == [str(node) for node in (*record["tour"], record["tour"][0])]
    assert record["numbering"] == "ids"
    assert check(read(square), read_solution(out, read(square))).cost == record["cost"]


def test_seeds(dact, depot: Path, square: Path, tmp_path: Path):
    """With several seeds the best is the answer, and table, JSON and summary tell of all."""
    summary = tmp_path / "s.csv"
    options = ("--search", "policy", "--start", "random", "--steps", 3, "--summary", summary, "--seed", 4, "--seeds", 3)
    records = dact("solve", depot, square, *options, "--json").records
    for record in records:
        assert (record["cost"], len(record["costs"])) == (min(record["costs"]), 3)
        assert record["seed"] == 4 + record["costs"].index(record["cost"])
    single = dact("solve", depot, *options[:-4], "--seed", 5, "--json").record["cost"]
    assert single == records[0]["costs"][1]
    table = dact("solve", depot, square, *options)
    assert table.out.split("\n")[0].split()[2:5] == ["best", "mean", "worst"]
    assert "2 instances: mean cost" in table.err
    rows = list(csv.DictReader(summary.read_text().splitlines()))
    assert [row["name"] for row in rows] == ["depot", "square"]
    assert float(rows[0]["mean"]) == pytest.approx(sum(records[0]["costs"]) / 3)
    dact("solve", depot, "--seeds", 0).refused("seeds 0")


def test_going_on(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The same command after Ctrl-C solves the rest, shows all, and leaves no trace; another command begins anew."""
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for place, name in enumerate("abc"):
        points = SQUARE[: 6 - place]
        (folder / f"{name}.tsp").write_text(tsp_text(points))
    command = ("solve", folder, "--search", "policy", "--steps", 4, "--out", out, "--json")
    calls = iter(range(1, 10**9))

    def show(self: Bar, fraction: float, detail: str, title: str | None = None) -> None:
        if next(calls) == 7:
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as pressed:
        pressed.setattr(Bar, "show", show)
        first = dact(*command)
    assert (first.code, [record["name"] for record in first.records]) == (130, ["a", "b"])
    assert [record["interrupted"] for record in first.records] == [False, True]
    assert "not begun, and so without an answer: c\n" in first.err
    with (out / NAME).open("a") as stream:
        stream.write('{"key": "cut sho')
    # What was finished is not solved again, by which we know it.
    old = json.loads((out / NAME).read_text().splitlines()[1])
    old["record"]["seconds"] = 77
    (out / NAME).write_text(json.dumps(old) + '\n{"key": "cut sho')
    again = dact(*command)
    assert (again.code, [record["steps"] for record in again.records]) == (0, [4, 4, 4])
    assert [record["seconds"] == 77 for record in again.records] == [True, False, False]
    assert "going on: 1 of 3 were solved before the interruption\n" in again.err
    assert sorted(path.name for path in out.iterdir()) == ["a.tour", "b.tour", "c.tour"]
    assert all(record["seconds"] != 77 for record in dact(*command).records)


def test_other_settings_do_not_go_on(dact, square: Path, tmp_path: Path):
    """What was kept for other settings, another instance or an answer that has been deleted is not used."""
    other, out = tmp_path / "other.tsp", tmp_path / "out"
    other.write_text(tsp_text(SQUARE[:5]))
    command = ("solve", square, other, "--out", out, "--steps", 2, "--json")
    dact(*command)
    assert not (out / NAME).exists()
    (out / NAME).write_text("rubbish\n[]\n{}\n" + json.dumps({"key": 1, "row": 2, "record": 3, "summary": 4}) + "\n")
    answer = dact(*command)
    assert (answer.code, "going on" in answer.err) == (0, False)
