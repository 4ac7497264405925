"""Files of thousands of nodes: no array of all pairs is made for them."""

import json
from pathlib import Path

import numpy as np
import pytest

import dact
from dact.instances import Instance, read, write_solution
from dact.instances.measures import route_length
from dact.problems import needs_matrix, unit_square
from dact.problems.unit_square import instance_points


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> Instance:
    """Sixty customers that count as many, whose matrix must not be asked for."""
    monkeypatch.setattr(unit_square, "LARGE", 40)

    def refuse(self: Instance) -> None:
        raise AssertionError("all distances were computed")

    monkeypatch.setattr(Instance, "distances", refuse)
    points = np.random.default_rng(1).random((61, 2)) * 100
    return Instance.from_arrays(points, demand=[0, *[3] * 60], capacity=20)


@pytest.mark.parametrize("suffix", [".sol", ".json", ".csv"])
def test_answers_are_written_and_read_without_a_matrix(large: Instance, suffix: str, tmp_path: Path) -> None:
    """Solving, writing, measuring routes, and starting again from a file or from less need lengths of edges only."""
    result = dact.solve(large, steps=3)
    path = tmp_path / f"a{suffix}"
    write_solution(path, large, result.routes, result.cost)
    assert sum(route_length(large, route) for route in result.routes) == pytest.approx(result.cost)
    again = dact.solve(large, start=path, steps=0)
    assert again.cost == pytest.approx(result.cost)
    short = dact.solve(large, start=[route[1:] for route in result.routes if len(route) > 1], steps=0)
    assert short.repairs


def test_rounded_lengths_keep_a_matrix_in_single_precision(large: Instance) -> None:
    """It is made of rows, and the same as the whole one."""
    rounded = large.with_rounding("nearest")
    assert (needs_matrix(large), needs_matrix(rounded)) == (False, True)
    matrix_INN = instance_points([rounded])[2]
    assert matrix_INN is not None
    assert np.array_equal(matrix_INN[0].numpy(), rounded._distances.astype(np.float32))


def test_matrices_count_in_the_memory_that_a_search_needs(large: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    """An instance whose matrix does not fit is refused in one sentence; without a matrix it is solved."""
    monkeypatch.setattr("dact.memory.available_memory", lambda: 20_000)
    with pytest.raises(ValueError, match=r"search over \d+ positions needs about .* GB of memory, but"):
        dact.solve(large.with_rounding("nearest"), steps=0)
    assert dact.solve(large, steps=0).feasible


def test_json_of_a_large_file(large: Instance, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line prints and writes answers without a matrix too."""
    from dact.cli import main

    path, points = tmp_path / "large.csv", large.points()
    path.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in points))
    code = main(["solve", str(path), "--steps", "2", "--json", "--out", str(tmp_path / "a.csv"), "--start", "random"])
    assert code == 0
    assert json.loads(capsys.readouterr().out)["feasible"]
    assert read(path).size == 61
