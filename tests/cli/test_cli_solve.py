"""`dact solve`: what it prints, writes and finds."""

import json
from pathlib import Path

import pytest
from cli_files import read_tour_ids

from dact.instances import check, generate_set, read, read_solution

KEYS = {
    *("name", "problem", "nodes", "cost", "start_cost", "gap", "best_known"),
    *("interrupted", "numbering", "feasible", "steps", "seconds", "seed", "search", "local_optimum", "weights"),
    *("trace", "walks", "walks_apart"),
}


def test_json_of_a_tsp(dact, square: Path):
    """The object has exactly the promised keys, the file's stem, whole costs and the file's node ids."""
    record = dact("solve", square, "--search", "policy", "--steps", 20, "--json").record
    assert set(record) == KEYS | {"tour"}
    assert (record["name"], record["problem"], record["nodes"]) == ("square", "tsp", 6)
    assert sorted(record["tour"]) == [1, 2, 3, 4, 5, 6]
    assert (record["gap"], record["best_known"], record["feasible"], record["steps"]) == (None, None, True, 20)
    assert isinstance(record["cost"], int)
    assert record["cost"] == check(read(square), [[node - 1 for node in record["tour"]]]).cost
    assert record["cost"] <= record["start_cost"]


def test_json_of_a_cvrp(dact, depot: Path):
    """Routes number customers from 1, as .sol files do, and their cost is the one printed."""
    record = dact("solve", depot, "--steps", 20, "--json", "--seed", 3).record
    assert set(record) == KEYS | {"routes"}
    verdict = check(read(depot), record["routes"])
    assert (verdict.feasible, verdict.cost) == (True, record["cost"])
    assert record["seed"] == 3


def test_walks_that_were_asked_for_are_reported(dact, depot: Path):
    """How many there were and how different, where --walks is given."""
    assert (
        "depot: 3 walks, whose last tours differ from the answer in "
        in dact("solve", depot, "--steps", 3, "--walks", 3).err
    )
    assert "walks" not in dact("solve", depot, "--steps", 3).err


def test_tables_go_to_stdout(dact, square: Path):
    """Without --json the table is all that stdout gets; the warning about weights is on stderr."""
    answer = dact("solve", square, "--steps", 3, "--weights", "untrained")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()] == ["instance", "square"]
    assert "square" not in answer.err
    assert "untrained" in answer.err


def test_unrounded_costs_are_real(dact, square: Path):
    """--rounding none prints a real cost."""
    whole = dact("solve", square, "--steps", 0, "--json").record["cost"]
    real = dact("solve", square, "--steps", 0, "--json", "--rounding", "none").record["cost"]
    assert isinstance(real, float)
    assert real == pytest.approx(whole, abs=3)


def test_best_known_gives_a_gap(dact, square: Path):
    """A solution beside the file gives the best known value, and the gap is in percent of it."""
    square.with_suffix(".opt.tour").write_text("TOUR_SECTION\n1\n2\n5\n3\n4\n6\n-1\nEOF\n")
    record = dact("solve", square, "--steps", 0, "--json").record
    assert record["gap"] == pytest.approx(100 * (record["cost"] / record["best_known"] - 1))


def test_time_limit_without_steps(dact, square: Path, clock):
    """A time limit alone means as many steps as fit, not 1000."""
    clock.tick = 0.001
    record = dact("solve", square, "--search", "policy", "--time-limit", 0.05, "--json").record
    assert 0 < record["steps"] < 1000


def test_target_stops_early(dact, square: Path):
    """A target that the start meets leaves nothing to do."""
    assert dact("solve", square, "--target", 1e9, "--json").record["steps"] == 0


def test_same_seed_same_answer(dact, depot: Path):
    """Two runs with one seed print the same cost and routes."""
    one, two = (dact("solve", depot, "--steps", 30, "--start", "random", "--json").record for _ in range(2))
    assert (one["cost"], one["routes"]) == (two["cost"], two["routes"])


def test_files_of_different_sizes_in_one_call(dact, square: Path, depot: Path, tmp_path: Path):
    """Several files, and a set among them, are answered in the order given."""
    many = tmp_path / "many.npz"
    generate_set("tsp", 6, 3, 0).save_npz(many)
    answer = dact("solve", depot, many, square, "--steps", 2, "--json", "--augment", 2)
    names = [record["name"] for record in answer.records]
    assert names == ["depot", "many[0]", "many[1]", "many[2]", "square"]
    assert all(record["feasible"] for record in answer.records)


def test_csv_with_capacity(dact, tmp_path: Path):
    """A CSV file with a demand column takes its capacity from the option."""
    path = tmp_path / "shop.csv"
    path.write_text("x,y,demand\n0,0,0\n3,4,2\n6,8,2\n")
    record = dact("solve", path, "--capacity", 2, "--steps", 2, "--json").record
    assert (record["problem"], record["cost"]) == ("cvrp", 30.0)


@pytest.mark.parametrize(("suffix", "name"), [(".tour", "square"), (".sol", "depot"), (".json", "depot")])
def test_out_is_read_back(dact, request: pytest.FixtureRequest, tmp_path: Path, suffix: str, name: str):
    """What --out writes is a solution of the instance at the printed cost."""
    file: Path = request.getfixturevalue(name)
    out = tmp_path / "new" / f"answer{suffix}"
    cost = dact("solve", file, "--steps", 5, "--out", out, "--json").record["cost"]
    instance = read(file)
    assert check(instance, read_solution(out, instance)).cost == cost


def test_out_and_plot_folders(dact, square: Path, depot: Path, tmp_path: Path):
    """Several instances fill a folder each with solutions and pictures, named after the files."""
    out, plots = tmp_path / "out", tmp_path / "plots"
    assert dact("solve", square, depot, "--steps", 2, "--out", out, "--plot", plots).code == 0
    assert sorted(path.name for path in out.iterdir()) == ["depot.sol", "square.tour"]
    assert sorted(path.name for path in plots.iterdir()) == ["depot.png", "square.png"]
    assert (plots / "depot.png").read_bytes().startswith(b"\x89PNG")


def test_warm_start_is_never_worsened(dact, depot: Path, tmp_path: Path):
    """A start from a file is where the search begins, and its cost is the start cost."""
    start = tmp_path / "start.sol"
    start.write_text("Route #1: 1 2\nRoute #2: 3 4 5\n")
    record = dact("solve", depot, "--start", start, "--steps", 10, "--json").record
    assert record["start_cost"] == check(read(depot), [[1, 2], [3, 4, 5]]).cost
    assert record["cost"] <= record["start_cost"]


def test_a_start_of_another_day(dact, depot: Path, tmp_path: Path):
    """A start that lacks a customer, has one that is gone and overloads a vehicle is repaired, which is reported."""
    start = tmp_path / "start.sol"
    start.write_text("Route #1: 1 2 3\nRoute #2: 4 77\n")
    answer = dact("solve", depot, "--start", start, "--steps", 0, "--json")
    assert answer.record["feasible"]
    told = [line.removeprefix(f"{start}: ") for line in answer.err.splitlines() if line.startswith(str(start))]
    assert told == [
        "1 customer that is gone was dropped: 77",
        "route 1 was overloaded and split into 2",
        "1 customer that is new was inserted: 5",
    ]


def test_ids_that_do_not_start_at_one(dact, tmp_path: Path):
    """A file that numbers its nodes from 0 gets them back from 0, in JSON and in the .tour file."""
    path, out = tmp_path / "zero.tsp", tmp_path / "zero.tour"
    path.write_text(
        "TYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n0 0 0\n1 0 9\n2 9 9\n3 9 0\nEOF\n"
    )
    record = dact("solve", path, "--steps", 1, "--json", "--out", out).record
    assert sorted(record["tour"]) == [0, 1, 2, 3]
    assert read_tour_ids(out) == record["tour"]


@pytest.mark.parametrize("operator", ["two_opt", "insert", "swap"])
def test_every_operator(dact, depot: Path, operator: str):
    """Each operator gives a feasible answer."""
    assert dact("solve", depot, "--steps", 5, "--operator", operator, "--json").record["feasible"]


def test_json_lines_are_plain(dact, square: Path):
    """Stdout parses as JSON with no NaN or Infinity in it."""
    out = dact("solve", square, "--steps", 1, "--json").out
    json.loads(out, parse_constant=lambda name: pytest.fail(name))


def test_a_policy_far_beyond_its_training_is_told(dact, tmp_path: Path):
    """One note on stderr, for all files and seeds, where an instance is far larger than those of the weights."""
    for name, size in (("small", 20), ("large", 301), ("larger", 400)):
        rows = [f"{place % 20},{place // 20},{int(place > 0)}" for place in range(size + 1)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["# capacity: 400", *rows, ""]))
    (policy, steps), said = (["--search", "policy"], ["--steps", 0]), "--search hybrid is meant for such sizes"
    answer = dact("solve", tmp_path, *policy, *steps, "--seeds", 2, "--json")
    assert (answer.code, len(answer.records)) == (0, 3)
    assert answer.err.count(said) == 1
    start = "note: larger has 401 nodes, but the policy (weights cvrp100) was trained on at most 100 nodes: "
    assert answer.err.startswith(start)
    assert said in dact("solve", tmp_path / "large.csv", "--weights", "cvrp20", *steps).err
    for command in ((tmp_path / "small.csv", *policy), (tmp_path / "large.csv",)):
        assert said not in dact("solve", *command, *steps).err
