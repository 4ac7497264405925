"""No command overwrites what it reads, and no two outputs are one file; both are refused before the search."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cli_files import SQUARE, tsp_text

from dact.cli.targets import check_apart
from dact.instances import InputError, read, read_solution

TABLE = "# capacity: 2\nname,x,y,demand\nBase,0,0,0\nAnn,0,1,1\nBen,0,2,1\nCem,3,0,2\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table in the current folder."""
    (tmp_path / "shops.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _link(folder: Path) -> str:
    (folder / "link.csv").symlink_to("shops.csv")
    return "link.csv"


def _hard_link(folder: Path) -> str:
    os.link(folder / "shops.csv", folder / "other.csv")
    return "other.csv"


def _through_a_folder(folder: Path) -> str:
    (folder / "sub").mkdir()
    (folder / "again").symlink_to(folder)
    return "again/sub/../shops.csv"


NAMES: dict[str, Callable[[Path], str]] = {
    "the same": lambda folder: "shops.csv",
    "with dots": lambda folder: f"../{folder.name}/shops.csv",
    "absolute": lambda folder: str(folder / "shops.csv"),
    "a link": _link,
    "a hard link": _hard_link,
    "through a folder": _through_a_folder,
}


@pytest.mark.parametrize("option", ["--out", "--summary"])
@pytest.mark.parametrize("name", NAMES)
def test_the_table_is_kept(dact, folder: Path, name: str, option: str):
    """An output that is the instance by any name is refused with the option and the file, and nothing is written."""
    target = NAMES[name](folder)
    dact("solve", "shops.csv", "--steps", 1, option, target).refused(
        option, target, "would overwrite the input shops.csv"
    )
    assert (folder / "shops.csv").read_text() == TABLE


def test_other_inputs_are_kept(dact, folder: Path):
    """A matrix, best known values, and a file that cannot be read are inputs too."""
    (folder / "roads.csv").write_text("0,1,2,3\n1,0,1,3\n2,1,0,3\n3,3,3,0\n")
    (folder / "values.csv").write_text("name,value\nshops,3\n")
    (folder / "broken.csv").write_text("x,y\nnorth,east\n")
    inputs = ("shops.csv", "--matrix", "roads.csv", "--best-known", "values.csv")
    dact("solve", *inputs, "--out", "roads.csv").refused("--out roads.csv would overwrite --matrix roads.csv")
    dact("solve", *inputs, "--summary", "values.csv").refused("--summary values.csv would overwrite --best-known")
    command = ("solve", "shops.csv", "broken.csv", "--steps", 1)
    dact(*command, "--summary", "broken.csv").refused("--summary broken.csv would overwrite the input broken.csv")


def test_inputs_in_the_folder_of_the_answers(dact, folder: Path):
    """Of several instances, none may be where the answer of another goes."""
    for name in "ab":
        (folder / f"{name}.tsp").write_text(tsp_text(SQUARE))
    (folder / "out").mkdir()
    (folder / "out" / "b.tour").symlink_to(folder / "a.tsp")
    answer = dact("solve", "a.tsp", "b.tsp", "--steps", 1, "--out", "out")
    answer.refused("--out out/b.tour would overwrite the input a.tsp")
    assert (folder / "a.tsp").read_text() == tsp_text(SQUARE)


def test_a_solution_is_improved_in_its_place(dact, folder: Path):
    """--out may replace the --start, which has been read and is never better than the answer; --summary may not."""
    (folder / "old.csv").write_text("route,name\n1,Ann\n2,Ben\n3,Cem\n")
    answer = dact("solve", "shops.csv", "--steps", 20, "--start", "old.csv", "--out", "old.csv", "--json")
    assert answer.code == 0, answer.err
    assert (answer.record["start_cost"], answer.record["cost"]) == (12, 10)
    assert len(read_solution(folder / "old.csv", read(folder / "shops.csv"))) == 2
    command = ("solve", "shops.csv", "--steps", 1, "--start", "old.csv")
    dact(*command, "--summary", "old.csv").refused("--summary old.csv would overwrite --start old.csv")


def test_two_outputs_are_two_files(dact, folder: Path):
    """Outputs that are one file are refused, whether it is there yet or not."""
    command = ("solve", "shops.csv", "--steps", 1)
    for _ in range(2):
        refusal = dact(*command, "--out", "a.csv", "--summary", "./a.csv")
        refusal.refused("--summary a.csv and --out a.csv are one file: name two")
        (folder / "a.csv").write_text("old\n")
    assert (folder / "a.csv").read_text() == "old\n"
    assert dact(*command, "--out", "stops.csv", "--summary", "a.csv").code == 0


def test_a_link_to_nowhere():
    """Two names of a file that is not there yet are one file; names that no file can have are compared as they are."""
    with pytest.raises(InputError, match="are one file"):
        check_apart([("--out", Path("gone/../a.csv")), ("--summary", Path("a.csv"))], [])
    check_apart([("--out", Path("a\0")), ("--plot", Path("b\0"))], [("the input", Path("c\0"))])


def test_an_option_for_a_file_is_given_once(dact, folder: Path):
    """A second file for an option is refused: the first would not be written. Other options may be overridden."""
    command = ("solve", "shops.csv", "--steps", 1)
    for option in ("--out", "--plot", "--summary", "--best-known"):
        dact(*command, option, "a.csv", option, "b.csv").refused(f"{option} is given twice")
    assert [path.name for path in folder.iterdir()] == ["shops.csv"]
    assert dact(*command, "--seed", 2, "--seed", 3, "--json").record["seed"] == 3
    dact("generate", "tsp", "--size", 5, "--count", 1, "--out", "a.npz", "--out", "b.npz").refused("--out")


def test_other_commands_keep_their_inputs(dact, folder: Path):
    """Evaluations, conversions and pictures do not overwrite what they are made from either."""
    np.savez(folder / "set.npz", coords=np.random.default_rng(1).random((2, 5, 2)))
    (folder / "set.jsonl").symlink_to("set.npz")
    dact("evaluate", "set.npz", "--steps", 1, "--out", "set.jsonl").refused("--out set.jsonl would overwrite")
    (folder / "w.safetensors").write_text("a checkpoint under an odd name")
    dact("import", "w.safetensors").refused("--out w.safetensors would overwrite the input w.safetensors")
    (folder / "a.sol").write_text("Route #1: 1 2\nRoute #2: 3\n")
    for source in ("shops.csv", "a.sol"):
        (folder / "a.png").unlink(missing_ok=True)
        (folder / "a.png").symlink_to(source)
        dact("plot", "routes", "shops.csv", "a.sol").refused(f"--out a.png would overwrite the input {source}")
    (folder / "t.jsonl").write_text(dact("solve", "shops.csv", "--steps", 1, "--json").out)
    (folder / "t.png").symlink_to("t.jsonl")
    dact("plot", "trace", "t.jsonl").refused("--out t.png would overwrite the input t.jsonl")


def test_a_summary_among_the_inputs(dact, folder: Path):
    """The same command works twice where its summary and stops lie in the folder that is solved."""
    command = ("solve", folder, "--steps", 1, "--summary", folder / "all.csv", "--out", folder / "stops.csv", "--json")
    first = dact(*command)
    assert (first.code, "skipped" in first.err) == (0, False)
    again = dact(*command)
    assert (again.code, [record["name"] for record in again.records]) == (0, ["shops"])
    assert "skipped, written by `dact solve` itself: " in again.err
