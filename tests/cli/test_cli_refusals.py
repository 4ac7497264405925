"""Every mistake is answered with one sentence that names file, field or line and value, and exit code 2."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from cli_files import SQUARE, tsp_text, vrp_text

from dact.policy import save_weights
from dact.policy.weights import untrained

TSP = tsp_text(SQUARE)
VRP = vrp_text(SQUARE, [0, 2, 3, 1, 2, 2], 5)
MATRIX = "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n"

BAD_FILES = {
    "empty file": ("a.tsp", "", ["empty"]),
    "rubbish": ("a.tsp", "\x00\x01\x02", ["binary"]),
    "unknown extension": ("a.foo", TSP, [".foo"]),
    "truncated section": ("a.tsp", TSP.split("5 20.0")[0], ["6", "4"]),
    "non-numeric coordinate": ("a.tsp", TSP.replace("40.0 30.0", "east 30.0"), ["line", "east"]),
    "NaN coordinate": ("a.tsp", TSP.replace("40.0 30.0", "nan 30.0"), ["line", "nan"]),
    "infinite coordinate": ("a.tsp", TSP.replace("40.0 30.0", "inf 30.0"), ["line", "inf"]),
    "node given twice": ("a.tsp", TSP.replace("\n3 40.0", "\n2 40.0"), ["line", "2"]),
    "node missing": ("a.tsp", TSP.replace("\n3 40.0", "\n9 40.0"), ["3"]),
    "wrong dimension": ("a.tsp", TSP.replace("DIMENSION : 6", "DIMENSION : 7"), ["7", "6"]),
    "unknown edge weights": ("a.tsp", TSP.replace("EUC_2D", "XRAY1"), ["EDGE_WEIGHT_TYPE", "XRAY1"]),
    "short matrix": ("a.tsp", MATRIX + "0 1 2\n1 0\nEOF\n", ["EDGE_WEIGHT_SECTION", "5", "9"]),
    "demand above capacity": ("a.vrp", VRP.replace("CAPACITY : 5", "CAPACITY : 2"), ["2", "3"]),
    "negative demand": ("a.vrp", VRP.replace("\n3 3\n", "\n3 -3\n"), ["-3", "negative"]),
    "fractional demand": ("a.vrp", VRP.replace("\n3 3\n", "\n3 2.5\n"), ["2.5"]),
    "zero capacity": ("a.vrp", VRP.replace("CAPACITY : 5", "CAPACITY : 0"), ["0"]),
    "no capacity": ("a.vrp", VRP.replace("CAPACITY : 5\n", ""), ["CAPACITY"]),
    "non-numeric capacity": ("a.vrp", VRP.replace("CAPACITY : 5", "CAPACITY : big"), ["CAPACITY", "big"]),
    "several depots": ("a.vrp", VRP.replace("\n1\n-1", "\n1\n2\n-1"), ["2 depots"]),
    "ragged CSV": ("a.csv", "x,y\n1,2\n3\n", ["line 3"]),
    "broken npz": ("a.npz", "not a zip archive", [".npz"]),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_instance_file(dact, tmp_path: Path, case: str):
    """A file that cannot be used is named, with what is wrong in it."""
    name, text, words = BAD_FILES[case]
    path = tmp_path / name
    path.write_text(text)
    dact("solve", path, "--json").refused(str(path), *words)


def test_missing_file(dact, tmp_path: Path):
    """A file that is not there is named, for every command that reads one."""
    for command in (["solve"], ["evaluate"], ["import", "--size", 20, "--out", tmp_path / "w.safetensors"]):
        dact(*command, tmp_path / "gone.npz").refused("gone.npz", "does not exist")


def test_pickle_that_calls(dact, tmp_path: Path):
    """A pickle that would call something is refused and calls nothing."""
    witness = tmp_path / "witness"

    class Evil:
        def __reduce__(self):
            return (Path.touch, (witness,))

    path = tmp_path / "evil.pkl"
    path.write_bytes(pickle.dumps([Evil()]))
    dact("solve", path).refused("evil.pkl", "only lists")
    dact("evaluate", path).refused("evil.pkl", "only lists")
    assert not witness.exists()


def test_npz_with_wrong_keys(dact, tmp_path: Path):
    """An archive without the keys of a set is refused."""
    path = tmp_path / "odd.npz"
    np.savez(path, something=np.zeros(3))
    dact("evaluate", path).refused("odd.npz", "coords")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--steps", -1], ["steps -1"]),
        (["--time-limit", 0], ["time limit 0"]),
        (["--time-limit", "nan"], ["time limit nan"]),
        (["--augment", 9], ["augment is 9"]),
        (["--augment", 0], ["augment is 0"]),
        (["--patience", 0], ["patience 0"]),
        (["--operator", "three_opt"], ["three_opt", "two_opt"]),
        (["--device", "tpu"], ["tpu", "cpu"]),
        (["--precision", "half"], ["half", "float16"]),
        (["--precision", "bfloat16", "--device", "cpu"], ["bfloat16", "GPU"]),
        (["--seed", -1], ["seed -1"]),
        (["--rounding", "down"], ["down", "nearest"]),
        (["--start", "gready"], ["gready", "greedy"]),
        (["--start", "gone.tour"], ["gone.tour", "does not exist"]),
        (["--weights", "best"], ["best", "untrained"]),
        (["--capacity", 4], ["square.tsp", "capacity"]),
        (["--out", "a.sol"], ["a.sol", ".tour"]),
        (["--out", "a.txt"], ["a.txt", ".tour"]),
        (["--plot", "a.gif"], ["a.gif", ".png"]),
    ],
)
def test_bad_option(dact, square: Path, options: list[object], words: list[str], monkeypatch: pytest.MonkeyPatch):
    """A value that an option does not take is named before anything is searched or written."""
    monkeypatch.chdir(square.parent)
    dact("solve", square, *options).refused(*words)
    assert [path.name for path in square.parent.iterdir()] == ["square.tsp"]


def test_weights_of_another_problem(dact, depot: Path, tmp_path: Path):
    """Weights for the TSP do not solve a CVRP."""
    weights = tmp_path / "tsp.safetensors"
    save_weights(weights, untrained("tsp", 2, 20))
    dact("solve", depot, "--weights", weights).refused("tsp.safetensors", "cvrp")


def test_weights_that_are_rubbish(dact, square: Path, tmp_path: Path):
    """A file that holds no weights is refused."""
    weights = tmp_path / "bad.safetensors"
    weights.write_bytes(b"rubbish" * 9)
    dact("solve", square, "--weights", weights).refused("bad.safetensors")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Route #1: 1 2\nRoute #2: 3 4 5\nRoute #3: 1\n", ["route 3", "customer 1", "as route 1 does"]),
        ("Route #1: 1 2 1\n", ["route 1", "customer 1", "twice"]),
        ("nothing here\n", ["Route #1"]),
    ],
)
def test_wrong_warm_start(dact, depot: Path, tmp_path: Path, text: str, words: list[str]):
    """A start that visits a customer twice or makes no sense is refused."""
    start = tmp_path / "start.sol"
    start.write_text(text)
    dact("solve", depot, "--start", start).refused("start.sol", *words)


def test_start_file_with_several_instances(dact, square: Path, depot: Path, tmp_path: Path):
    """One start cannot fit several instances."""
    dact("solve", square, depot, "--start", tmp_path / "start.sol").refused("one instance", "2 are solved")


def test_unwritable_targets(dact, square: Path, tmp_path: Path):
    """What cannot be written is refused before the search, not after it."""
    blocker = tmp_path / "blocker"
    blocker.write_text("a file where a folder is needed")
    for option, name in (("--out", "a.tour"), ("--plot", "a.png")):
        dact("solve", square, option, blocker / name).refused(option, "blocker")
        dact("solve", square, option, blocker).refused(option, "blocker")
    dact("generate", "tsp", "--size", 5, "--count", 2, "--out", blocker / "a.npz").refused("blocker")


@pytest.mark.parametrize("below", ["", "deeper", "deeper/still"])
def test_a_file_where_a_folder_belongs(dact, square: Path, tmp_path: Path, below: str):
    """A file in place of a folder is named as what it is."""
    plan = tmp_path / "plan"
    plan.write_text("a file without an extension")
    for option in ("--out", "--plot"):
        answer = dact("solve", square, option, plan / below)
        answer.refused(f"{option}: nothing can be written in {plan}, which is a file, not a folder")
    assert plan.read_text() == "a file without an extension"


@pytest.mark.parametrize("option", ["--out", "--plot", "--animate", "--summary"])
def test_a_dash_is_not_stdout(dact, square: Path, option: str, monkeypatch: pytest.MonkeyPatch):
    """A dash, which elsewhere means stdout, makes neither a file nor a folder of that name."""
    monkeypatch.chdir(square.parent)
    dact("solve", square, option, "-").refused(f"{option} - would be a file called '-', not stdout: name another")
    dact("generate", "tsp", "--size", 5, "--count", 1, "--out", "-").refused(
        "--out - would be a file called '-', not stdout"
    )
    assert [path.name for path in square.parent.iterdir()] == ["square.tsp"]


def test_one_file_for_several_instances(dact, square: Path, depot: Path, tmp_path: Path):
    """Several solutions do not fit one file, nor two of one name a folder."""
    dact("solve", square, depot, "--out", tmp_path / "all.json").refused("all.json", "2 instances")
    dact("solve", square, square, "--out", tmp_path / "folder").refused("square.tour")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--shard", "3"], ["shard '3'"]),
        (["--shard", "0/2"], ["0/2"]),
        (["--shard", "3/2"], ["3/2"]),
        (["--shard", "5/5"], ["5/5", "empty"]),
        (["--limit", 0], ["limit 0"]),
        (["--rows", 0], ["rows 0"]),
        (["--out", "results.csv"], ["results.csv", ".jsonl"]),
        (["--start", "gready"], ["gready"]),
        (["--steps", -1], ["steps -1"]),
        (["--weights", "best"], ["best"]),
    ],
)
def test_bad_evaluation(dact, tmp_path: Path, options: list[object], words: list[str]):
    """Options of `dact evaluate` that make no sense are named."""
    path = tmp_path / "set.npz"
    dact("generate", "tsp", "--size", 5, "--count", 4, "--out", path)
    dact("evaluate", path, *options).refused(*words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["knapsack", "--size", 5, "--count", 1], ["knapsack"]),
        (["tsp", "--size", 0, "--count", 1], ["size 0"]),
        (["tsp", "--size", 5, "--count", 0], ["count 0"]),
        (["tsp", "--size", 5, "--count", 1, "--seed", -4], ["seed -4"]),
    ],
)
def test_bad_generation(dact, tmp_path: Path, arguments: list[object], words: list[str]):
    """Sets that cannot be drawn are refused."""
    dact("generate", *arguments, "--out", tmp_path / "set.npz").refused(*words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve"], ["missing argument 'FILE'", "try 'dact solve --help'"]),
        (["solve", "a.csv", "--steps", "many"], ["--steps is 'many', not a whole number"]),
        (["solve", "a.csv", "--steps", "1.5"], ["--steps is '1.5', not a whole number"]),
        (["solve", "a.csv", "--capacity", "12,5"], ["--capacity is '12,5', not a number"]),
        (["solve", "a.csv", "--vehicles", "0"], ["--vehicles is '0': it must be greater than or equal to 1"]),
        (["solve", "a.csv", "--capcity", "12"], ["--capcity", "--capacity"]),
        (["solve", "a.csv", "--out"], ["--out"]),
        (["serve", "--port", "any"], ["--port is 'any', not a whole number", "try 'dact serve --help'"]),
        (["bench", "hybrid", "a.npz", "--count", "x"], ["--count is 'x'"]),
        (["sovle"], ["'sovle'. Did you mean 'solve'?\n"]),
    ],
)
def test_usage_errors(dact, arguments: list[object], words: list[str]):
    """An option that does not exist or does not parse is one sentence with its name and value."""
    dact(*arguments).refused(*words)


def test_no_arguments_print_the_help(dact):
    """Without a command the list of commands is printed, and no error."""
    answer = dact()
    assert answer.code == 2
    assert "evaluate" in answer.out + answer.err
    assert "error" not in answer.err


def test_bugs_still_raise(dact, square: Path, monkeypatch: pytest.MonkeyPatch):
    """What is no mistake of the user is not dressed up as one."""
    monkeypatch.setattr("dact.cli.solving.Plan", lambda *a, **k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        dact("solve", square)


def test_a_folder_where_a_file_belongs(dact, square: Path, depot: Path, tmp_path: Path):
    """Is found before the search, also inside of a folder for many."""
    (tmp_path / "out" / f"{depot.stem}.sol").mkdir(parents=True)
    answer = dact("solve", square, depot, "--steps", 2, "--out", tmp_path / "out")
    assert (answer.code, answer.out) == (2, "")
    assert f"{depot.stem}.sol is a folder, not a file" in answer.err
