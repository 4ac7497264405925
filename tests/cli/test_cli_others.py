"""`dact evaluate`, `generate`, `info` and `bench cpu`."""

import csv
from pathlib import Path

import numpy as np
import pytest

from dact.bench import CpuCase
from dact.cards import Card
from dact.cli import bench_cpu, information
from dact.instances import generate_set, read_set
from dact.instances.errors import plural
from dact.policy import Weights, save_weights
from dact.policy.weights import untrained


@pytest.mark.parametrize(("count", "said"), [(1, "1 CVRP instance of size 5"), (2, "2 CVRP instances of size 5")])
def test_one_is_not_many(dact, tmp_path: Path, count: int, said: str):
    """A number of one stands before a word without an s."""
    answer = dact("generate", "cvrp", "--size", 5, "--count", count, "--out", tmp_path / "a.npz")
    assert f"{tmp_path / 'a.npz'}: {said}, seed 1234" in answer.err
    assert f"{count} instance{'s' if count > 1 else ''} of size 5)" in repr(read_set(tmp_path / "a.npz"))
    assert plural(1, "entry") == "entry"
    assert plural(2, "entry") == "entries"


def test_generate_writes_the_published_draws(dact, tmp_path: Path):
    """The file holds what `generate_set` draws; stdout stays empty."""
    path = tmp_path / "new" / "set.npz"
    answer = dact("generate", "cvrp", "--size", 6, "--count", 3, "--seed", 5, "--out", path)
    assert (answer.code, answer.out) == (0, "")
    stored, drawn = read_set(path), generate_set("cvrp", 6, 3, 5)
    assert np.array_equal(stored.coordinates, drawn.coordinates)
    assert np.array_equal(stored.demand, drawn.demand)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_evaluate(dact, tmp_path: Path, problem: str):
    """The figures have the promised keys and are those of the shard; no references, no gap."""
    path = tmp_path / "set.npz"
    dact("generate", problem, "--size", 6, "--count", 7, "--seed", 5, "--out", path)
    shard = ("--limit", 5, "--shard", "2/2", "--rows", 2)
    answer = dact("evaluate", path, "--steps", 3, *shard, "--augment", 2, "--json")
    record = answer.record
    keys = {"mean_cost", "gap", "seconds", "instance_steps_per_second", "instances", "name", "rows", "weights"}
    assert set(record) == keys | {"search", "steps", "augment", "seed", "problem", "solved_now"}
    assert (record["instances"], record["gap"], record["name"]) == (2, None, "set")
    assert record["mean_cost"] > 0
    assert "mean_cost" in answer.err


def test_info_says_untrained(dact, monkeypatch: pytest.MonkeyPatch):
    """Without weights, `dact info` says so plainly."""
    monkeypatch.setattr(information, "shipped", list)
    answer = dact("info")
    assert (answer.code, answer.err) == (0, "")
    assert "untrained" in answer.out
    assert dact("info", "--json").record["weights"] == []


def test_info_shows_cards(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Weights are listed with problem, size, measured gaps and date."""
    plain = untrained("tsp", 2, 20)
    card = Card(name="tsp20", problem="tsp", size=20, gaps={"T=1k": 1.25}, created="2024-01-02", note="barely trained")
    save_weights(tmp_path / "tsp20.safetensors", Weights(policy=plain.policy, critic=plain.critic, card=card))
    monkeypatch.setattr(information, "shipped", lambda: [tmp_path / "tsp20.safetensors"])
    out = dact("info").out
    for word in ("tsp20", "TSP", "20", "1.250 %", "2024-01-02", "T=1k"):
        assert word in out
    assert "barely" not in out
    record = dact("info", "--json").record
    assert record["weights"][0]["gaps"] == {"T=1k": 1.25}
    assert {"dact", "torch", "numpy", "python", "triton", "searches", "devices", "threads"} <= set(record)


def test_bench_cpu(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A table with the authors' time beside ours, one JSON line per row, and rows appended to a CSV file."""
    case = CpuCase(problem="tsp", size=6, rows=2, authors_ms=14, steps=4)
    monkeypatch.setattr(bench_cpu, "CASES", (case,))
    path = tmp_path / "cpu.csv"
    for _ in range(2):
        answer = dact("bench", "cpu", "--threads", 1, "--json", "--out", path)
    record = answer.record
    assert record["p20_ms"] <= record["p50_ms"] <= record["p80_ms"]
    assert record["times_faster"] == pytest.approx(14 / record["p50_ms"], rel=0.1)
    assert "tsp6 x 2" in answer.err
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 2
    assert rows[1]["threads"] == "1"


def test_bench_refuses(dact, tmp_path: Path):
    """No threads, and files that are no CSV, are refused before anything is measured."""
    dact("bench", "cpu", "--threads", 0).refused("threads 0")
    dact("bench", "cpu", "--out", tmp_path / "cpu.txt").refused("cpu.txt", ".csv")
