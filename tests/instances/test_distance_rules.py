"""TSPLIB's distance rules: worked by hand, against the scalar checker, and on canonical tours."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instance_cases import DATA, RECTANGLE, needs_data

from dact.instances import InputError, Instance, check, read
from dact.instances.checker import LENGTHS
from dact.instances.distances import RULES, pairwise, rounded_rule


def between(rule: str, first: tuple[float, float], second: tuple[float, float]) -> float:
    """Measure one edge by the vectorised rule."""
    return float(pairwise(rule, np.array([first, second]))[0, 1])


def test_three_four_five() -> None:
    """The legs of a 3-4-5 triangle have a hypotenuse of 5 under every Euclidean rule."""
    for rule in ("euclidean", "euc_2d", "ceil_2d"):
        assert between(rule, (0, 0), (3, 4)) == 5.0


@pytest.mark.parametrize(
    ("rule", "there", "expected"),
    [
        ("euclidean", (1, 1), math.sqrt(2)),
        ("euc_2d", (1, 1), 1),
        ("ceil_2d", (1, 1), 2),
        ("euc_2d", (2.5, 0), 3),
        ("euc_2d", (0.5, 0), 1),
        ("ceil_2d", (2, 0), 2),
        ("man_2d", (1.2, 1.2), 2),
        ("man_2d", (1.25, 1.25), 3),
        ("man_2d_none", (1.25, 1.25), 2.5),
        ("man_2d_ceil", (1.1, 1.0), 3),
        ("max_2d", (1.5, 7.4), 7),
        ("max_2d", (1.5, -7.5), 8),
        ("max_2d_none", (1.5, 7.4), 7.4),
        ("max_2d_ceil", (1.5, 7.4), 8),
        ("att", (10, 0), 4),
        ("att", (3, 1), 1),
        ("att", (4, 4), 2),
    ],
)
def test_worked_by_hand(rule: str, there: tuple[float, float], expected: float) -> None:
    """Each rule gives the length computed by hand from the origin; halves round up, not to even."""
    assert between(rule, (0, 0), there) == pytest.approx(expected, abs=1e-12)
    assert LENGTHS[rule](0.0, 0.0, *map(float, there)) == pytest.approx(expected, abs=1e-12)


def test_geo_quarter_turn() -> None:
    """A quarter of the equator is int(6378.388 * pi / 2 + 1) with TSPLIB's pi."""
    expected = int(6378.388 * 3.141592 / 2 + 1)
    assert between("geo", (0, 0), (0, 90)) == expected


def test_geo_degrees_truncate_toward_zero() -> None:
    """-1.30 is minus one degree and minus thirty minutes, so -1.5 degrees; flooring would give -2."""
    expected = int(6378.388 * (3.141592 * 1.5 / 180) + 1)
    assert between("geo", (0, 0), (-1.30, 0)) == expected
    assert between("geo", (0, 0), (1.30, 0)) == expected


def test_geo_same_place() -> None:
    """Two nodes in one place are 1 apart under GEO, but a node is 0 from itself."""
    assert pairwise("geo", np.array([[48.1, 11.3], [48.1, 11.3]])).tolist() == [[0, 1], [1, 0]]


LAST_BITS = {"geo": 1.0, "great_circle": 1e-8, "great_circle_nearest": 1.0, "great_circle_ceil": 1.0}
"""Sines and cosines may differ in the last bit between numpy and math."""


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([rule for rule in RULES if rule != "explicit"]),
    st.lists(st.tuples(*[st.floats(-179, 179, allow_nan=False)] * 2), min_size=2, max_size=6),
)
def test_arrays_agree_with_scalars(rule: str, points: list[tuple[float, float]]) -> None:
    """The vectorised rules and the checker's own scalar rules give the same lengths."""
    matrix = pairwise(rule, np.array(points))
    for row, first in enumerate(points):
        for column, second in enumerate(points):
            if row != column:
                assert abs(matrix[row, column] - LENGTHS[rule](*first, *second)) <= LAST_BITS.get(rule, 0.0)


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "explicit"])
def test_matrices_are_symmetric_with_zero_diagonal(rule: str) -> None:
    """Every rule gives a symmetric matrix of non-negative lengths with zeros on its diagonal."""
    matrix = pairwise(rule, np.random.RandomState(3).uniform(-80, 80, (7, 2)))
    assert np.array_equal(matrix, matrix.T)
    assert not matrix.diagonal().any()
    assert (matrix >= 0).all()


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "explicit"])
def test_single_lengths_are_those_of_the_matrix(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths of some edges, and a matrix that is computed row by row, are the same to the bit."""
    points = np.random.RandomState(4).uniform(-80, 80, (9, 2))
    points[3] = points[5]
    instance = Instance(name="r", problem="tsp", rule=rule, coordinates=points)
    matrix = instance.distances()
    node = np.arange(9)
    assert np.array_equal(instance.lengths(node[:, None], node), matrix)
    monkeypatch.setattr("dact.instances.distances.BLOCK", 20)
    assert np.array_equal(pairwise(rule, points), matrix)


def test_rounding_replaces_rounding_only() -> None:
    """The metric survives another rounding, and a rounding of its own cannot be replaced."""
    assert rounded_rule("euc_2d", "none") == "euclidean"
    assert rounded_rule("euclidean", "ceil") == "ceil_2d"
    assert rounded_rule("ceil_2d", "nearest") == "euc_2d"
    assert rounded_rule("man_2d", "none") == "man_2d_none"
    assert rounded_rule("max_2d_none", "nearest") == "max_2d"
    for rule in ("att", "geo", "explicit"):
        with pytest.raises(InputError, match=f"rule {rule} has its own rounding"):
            rounded_rule(rule, "none")
    with pytest.raises(InputError, match="'down', not one of nearest, ceil, none"):
        rounded_rule("euc_2d", "down")


def test_rectangle_perimeter() -> None:
    """The tour around a 3 x 4 rectangle costs 14."""
    instance = Instance(name="r", problem="tsp", rule="euclidean", coordinates=RECTANGLE)
    assert check(instance, [(0, 1, 2, 3)]).cost == 14.0


@needs_data
@pytest.mark.parametrize(("name", "cost"), [("pcb442", 221440), ("gr666", 423710), ("att532", 309636)], ids=str)
def test_canonical_tours(name: str, cost: int) -> None:
    """The tour 1, 2, ..., n has the length that TSPLIB's documentation publishes."""
    instance = read(DATA / "tsplib_more" / f"{name}.tsp")
    tour = np.arange(instance.size)
    assert instance.distances()[tour, np.roll(tour, -1)].sum() == cost
    assert check(instance, [tuple(tour)]).cost == cost
