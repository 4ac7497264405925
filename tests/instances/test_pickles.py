"""Kool's pickles as sets: read without running code, and refused in one sentence."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from instance_cases import saved, set_refusal

from dact.instances import read, read_set


def test_reads_tsp_pickle(tmp_path: Path) -> None:
    """Kool's TSP pickles hold lists of points, rounded to float32 as their readers do."""
    instances = read_set(saved(tmp_path, "a.pkl", pickle.dumps([[[0.1, 0.2], [0.3, 0.4]], [[0, 1], [1, 0]]])))
    assert (instances.problem, instances.coordinates.shape) == ("tsp", (2, 2, 2))
    assert instances.coordinates[0, 0, 0] == float(np.float32(0.1))


def test_four_nodes_are_not_a_cvrp(tmp_path: Path) -> None:
    """A TSP of four points is not mistaken for (depot, locs, demand, capacity)."""
    points = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    assert read(saved(tmp_path, "a.pkl", pickle.dumps([points]))).problem == "tsp"


def test_reads_cvrp_pickle(tmp_path: Path) -> None:
    """Kool's CVRP pickles hold (depot, locs, demand, capacity) with a capacity like 30.0."""
    item = ([0.5, 0.5], [[0.1, 0.2], [0.3, 0.4]], [3, 9], 30.0)
    instance = read(saved(tmp_path, "a.pkl", pickle.dumps([item])))
    assert (instance.problem, instance.capacity, instance.demand.tolist()) == ("cvrp", 30, [0, 3, 9])


class Bomb:
    """An object whose pickle calls os.mkdir."""

    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self):
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_calls_nothing(tmp_path: Path, protocol: int) -> None:
    """A pickle that names a function is refused by that name, and the function is not called."""
    content = pickle.dumps([Bomb(tmp_path / "made")], protocol=protocol)
    assert "mkdir': only lists, tuples and numbers are admitted" in set_refusal(tmp_path, "a.pkl", content)
    assert not (tmp_path / "made").exists()


def knotted() -> list[object]:
    """Make a list that holds itself twice."""
    knot: list[object] = []
    knot += [knot, knot]
    return knot


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (pickle.dumps(np.zeros(3)), "only lists, tuples and numbers are admitted"),
        (pickle.dumps({"a": 1}), "operation '}' at byte 11, but only lists, tuples and numbers are admitted"),
        (pickle.dumps(3), "does not hold a list of instances"),
        (pickle.dumps([]), "does not hold a list of instances"),
        (pickle.dumps([[]]), "instance 0 is not a list of [x, y]"),
        (pickle.dumps([[["1", "2"]]]), "instance 0 holds a str, not a number up to"),
        (pickle.dumps([[[True, 2]]]), "instance 0 holds a bool, not a number"),
        (pickle.dumps([[[1.0, float("nan")]]]), "instance 0 holds nan, not a number"),
        (pickle.dumps([[[1.0, 10**5000]]]), "instance 0 holds a huge int, not a number"),
        (pickle.dumps([[[1.0, 2.0, 3.0]]]), "instance 0 holds a point that is not [x, y]"),
        (pickle.dumps([[[0, 0]], [[0, 0], [1, 1]]]), "instance 1 has 2 nodes but instance 0 has 1"),
        (pickle.dumps(knotted()), "instance 0 holds a list, not a number"),
        (
            pickle.dumps([([0, 0], [[1, 1]], [3, 4], 9)]),
            "instance 0 has a depot, locs and demand that do not fit",
        ),
        (
            pickle.dumps([([0, 0], [[1, 1]], [3], 9), [[0, 0]]]),
            "instance 1 is not (depot, locs, demand, capacity)",
        ),
        (
            pickle.dumps([([0, 0], [[1, 1]], [3], 2)]),
            "demand 3 of customer 1 of instance 0 is above the capacity",
        ),
        (pickle.dumps([([0, 0], [[1, 1]], [1.5], 2)]), "demand[0, 0] is 1.5, not a whole number"),
        (pickle.dumps([[[0.0, 0.0]]])[:-4], "is not a pickle of lists and numbers"),
        (b"rubbish", "is not a pickle of lists and numbers"),
        (b"", "is empty"),
    ],
)
def test_pickle_refusals(tmp_path: Path, content: bytes, expected: str) -> None:
    """A pickle that is not a set of plain numbers is refused with the reason."""
    assert expected in set_refusal(tmp_path, "a.pkl", content)
