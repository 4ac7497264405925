"""Best known values: from a solution beside the file, the COMMENT and the shipped table."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from instance_cases import DATA, TSP, VRP, loaded, needs_data, saved

from dact.instances import best_known, check, read, write_solution
from dact.instances.published import stated_value


def test_table() -> None:
    """The shipped table knows published values by name, nodes and rule."""
    assert best_known("eil51", 51, "euc_2d") == 426
    assert best_known("att48", 48, "att") == 10628
    assert best_known("dsj1000", 1000, "ceil_2d") == 18660188
    assert best_known("X-n101-k25", 101, "euc_2d") == 27591
    assert best_known("E-n13-k4", 13, "explicit") == 247
    assert best_known("CMT1", 51, "euclidean") == 524.61


def test_table_needs_everything_to_match() -> None:
    """Another size, another rule or another name has no value."""
    assert best_known("eil51", 52, "euc_2d") is None
    assert best_known("eil51", 51, "euclidean") is None
    assert best_known("CMT1", 51, "euc_2d") is None
    assert best_known("nobody", 51, "euc_2d") is None


def test_table_ignores_case() -> None:
    """Files disagree on the case of names: Tai75a is tai75a."""
    assert best_known("Tai75a", 76, "euclidean") == 1618.36


def test_limited_instances_are_left_out() -> None:
    """Values of instances with a route length limit or a fixed edge would mislead."""
    for name, nodes in (("CMT6", 51), ("Golden_1", 241), ("linhp318", 318)):
        for rule in ("euc_2d", "euclidean"):
            assert best_known(name, nodes, rule) is None


@pytest.mark.parametrize(
    ("comment", "rule", "expected"),
    [
        ("(Augerat et al, No of trucks: 5, Optimal value: 784)", "euc_2d", 784),
        ("(Christophides et al, No of trucks: 17, Best Value: 1373)", "euc_2d", 1373),
        ("Optimal value: 524.61", "euclidean", 524.61),
        ("Optimal value: 524.61", "euc_2d", None),
        ("524.61", "euclidean", None),
        ("No of trucks: 16", "euc_2d", None),
        ("suboptimal value: 3", "euc_2d", None),
        ("", "euc_2d", None),
    ],
)
def test_comment(comment: str, rule: str, expected: float | None) -> None:
    """A comment counts where it says 'optimal value' or 'best value' and fits the rule."""
    assert stated_value(comment, rule) == expected


def test_read_takes_the_comment(tmp_path: Path) -> None:
    """A file's comment gives its instance a best known value."""
    assert loaded(tmp_path, "a.tsp", TSP.replace("four corners", "Optimal value: 14")).best_known == 14


def test_lowest_wins(tmp_path: Path) -> None:
    """A stale comment does not hide a better solution beside the file, nor the reverse."""
    saved(tmp_path, "a.sol", "Route #1: 1 2\nRoute #2: 3\nCost 20\n")
    stale = saved(tmp_path, "a.vrp", VRP.replace("a depot and", "Best value: 25,"))
    assert read(stale).best_known == 20
    better = saved(tmp_path, "a.vrp", VRP.replace("a depot and", "Best value: 19,"))
    assert read(better).best_known == 19


@pytest.mark.parametrize(
    "text",
    [
        "Route #1: 1 2\nRoute #2: 3\nCost 19\n",
        "Route #1: 1 2 3\nCost 14\n",
        "rubbish",
        "Route #1: 1\nCost 1\n",
    ],
)
def test_unconfirmed_solutions_are_ignored(tmp_path: Path, text: str) -> None:
    """A solution beside the file that is broken, infeasible or costs something else does not count."""
    saved(tmp_path, "a.sol", text)
    assert loaded(tmp_path, "a.vrp", VRP).best_known is None


@pytest.mark.parametrize("suffix", ["opt.tour", "tour"])
def test_tour_beside_the_file(tmp_path: Path, suffix: str) -> None:
    """A tour beside a .tsp file is evaluated by the file's own rule."""
    saved(tmp_path, f"a.{suffix}", "TYPE : TOUR\nTOUR_SECTION\n1\n2\n3\n4\n-1\nEOF\n")
    assert loaded(tmp_path, "a.tsp", TSP).best_known == 14


@pytest.mark.parametrize("suffix", [".csv", ".npy"])
def test_earlier_answers_of_a_table_do_not_count(tmp_path: Path, suffix: str) -> None:
    """A solution beside a table or a matrix is an earlier answer, perhaps for another capacity, and no best known
    value; beside a file of a benchmark library it is one."""
    path = tmp_path / f"a{suffix}"
    if suffix == ".csv":
        path.write_text("# capacity: 10\nx,y,demand\n0,0,0\n3,0,4\n3,4,6\n")
    else:
        np.save(path, 1 - np.eye(3))
    instance = read(path)
    routes = ((1, 2),) if instance.facts.depot else ((0, 1, 2),)
    for ending in (instance.facts.suffix, f".opt{instance.facts.suffix}"):
        write_solution(path.with_suffix(ending), instance, routes, check(instance, routes).cost)
    assert read(path).best_known is None


@needs_data
def test_real_valued_costs_need_real_valued_lengths() -> None:
    """tai75a lies beside a real-valued solution: none of it holds for its rounded rule."""
    instance = read(DATA / "cvrplib_more" / "tai75a.vrp")
    assert instance.best_known is None
    assert instance.with_rounding("none").best_known == 1618.36
    assert instance.with_rounding("none").with_rounding("nearest").best_known is None


@needs_data
def test_table_is_complete() -> None:
    """Every optimum of the shared lists is in the table, but for the instances that we refuse."""
    with (DATA / "tsplib_optima.csv").open() as stream:
        for row in csv.DictReader(stream):
            if row["name"] != "linhp318":
                rule = row["edge_weight_type"].lower()
                assert best_known(row["name"], int(row["nodes"]), rule) == float(row["optimum"])
    with (DATA / "cvrplib_bks.csv").open() as stream:
        for row in csv.DictReader(stream):
            if "constraints" not in row["source"]:
                rule = "euclidean" if "." in row["bks"] else "euc_2d"
                rule = "explicit" if "EXPLICIT" in row["source"] else rule
                assert best_known(row["name"], int(row["customers"]) + 1, rule) == float(row["bks"])


@needs_data
def test_stale_comments_lose() -> None:
    """M-n200-k17's comment says 1373, which was beaten long ago."""
    assert read(DATA / "cvrplib_more" / "M-n200-k17.vrp").best_known == 1275
