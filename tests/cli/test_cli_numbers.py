"""Numbers that no option can mean: each is one sentence, or does what it says."""

from pathlib import Path

import pytest

from dact import memory
from dact.cli.options import MAX_NODES
from dact.instances import generate_set, limits

HUGE = (2**63, 10**30, -(10**30), "9" * 5000)
WHOLE = {
    "solve": ("--steps", "--augment", "--patience", "--seed", "--max-nodes", "--capacity"),
    "evaluate": ("--steps", "--augment", "--patience", "--seed", "--max-nodes", "--limit", "--rows"),
    "generate": ("--size", "--count", "--seed"),
    "bench cpu": ("--threads",),
    "bench precision": ("--count", "--steps", "--seed"),
    "bench hybrid": ("--count", "--steps", "--seed"),
}
REAL = {"solve": ("--time-limit", "--target"), "train": ("--minutes",), "bench hybrid": ("--seconds",)}


def command(name: str, square: Path, folder: Path) -> list[object]:
    """A command that works, quickly."""
    one = folder / "one.npz"
    generate_set("tsp", 5, 1, seed=1).save_npz(one)
    usual: dict[str, list[object]] = {
        "solve": [square, "--steps", 1],
        "evaluate": [square, "--steps", 1],
        "generate": ["tsp", "--size", 5, "--count", 1, "--out", folder / "a.npz"],
        "bench cpu": [],
        "bench precision": ["--count", 1, "--steps", 1],
        "bench hybrid": [one, "--count", 1],
        "train": [folder / "none.toml"],
    }
    return [*name.split(), *usual[name]]


@pytest.mark.parametrize(("name", "option"), [(name, option) for name, all_ in WHOLE.items() for option in all_])
def test_whole_numbers(dact, square: Path, tmp_path: Path, name: str, option: str) -> None:
    """Integers beyond 2^63 and far below zero are refused in one sentence, or are as good as infinite."""
    for number in HUGE:
        answer = dact(*command(name, square, tmp_path), option, number)
        if answer.code != 0:
            assert answer.code == 2, answer.err
            assert "Traceback" not in answer.err
        else:
            assert option in ("--max-nodes", "--limit", "--rows")


@pytest.mark.parametrize(("name", "option"), [(name, option) for name, all_ in REAL.items() for option in all_])
def test_real_numbers(dact, square: Path, tmp_path: Path, name: str, option: str) -> None:
    """What is no number is refused."""
    dact(*command(name, square, tmp_path), option, "nan").refused("nan")


def test_an_endless_search_is_refused(dact, square: Path) -> None:
    """A time limit is a time."""
    for limit in ("inf", "1e400", "-1", "0"):
        dact("solve", square, "--time-limit", limit).refused("is not a positive number of seconds")


def test_capacity_of_a_table(dact, tmp_path: Path) -> None:
    """A capacity that no vehicle has is refused with its bound, whatever its number of digits."""
    path = tmp_path / "a.csv"
    path.write_text("0,0,0\n1,1,1\n2,2,1\n")
    for capacity in (2**32, 2**63 - 1, 2**63, 10**30):
        answer = dact("solve", path, "--steps", 2, "--capacity", capacity, "--json")
        if capacity == 2**32:
            assert answer.record["feasible"]
        else:
            answer.refused("a.csv", "capacity", "up to 1e+12")


def test_the_limit_on_nodes(dact, square: Path) -> None:
    """`--max-nodes` refuses before the search, and its default is the readers' own."""
    assert MAX_NODES == limits.MAX_NODES
    for name in ("solve", "evaluate"):
        dact(name, square, "--max-nodes", 5).refused("square.tsp", "has 6 nodes, above the limit of 5")
        assert dact(name, square, "--max-nodes", 6, "--steps", 1).code == 0


def test_an_instance_beyond_memory(dact, square: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine has no memory for is refused before the search, with and without a time limit."""
    monkeypatch.setattr(memory, "available_memory", lambda: 1)
    for limit in ((), ("--time-limit", 1)):
        dact("solve", square, *limit, "--device", "cpu").refused("needs about", "GB of memory", "6 positions")
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    assert dact("solve", square, "--steps", 1).code == 0


def test_memory_is_told() -> None:
    """On Linux the free memory is known."""
    known = memory.available_memory()
    assert known is None or known > 2**20
