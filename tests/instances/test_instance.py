"""Instance: what it refuses, what it computes, and that it never changes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from instance_cases import RECTANGLE

from dact.instances import InputError, Instance

MATRIX = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])


def tsp(**changes) -> Instance:
    """Make the rectangle a TSP, with changes."""
    return Instance(**({"name": "t", "problem": "tsp", "rule": "euc_2d", "coordinates": RECTANGLE} | changes))


def cvrp(**changes) -> Instance:
    """Make the rectangle a CVRP, with changes."""
    return tsp(**({"problem": "cvrp", "demand": np.array([0, 4, 6, 7]), "capacity": 10} | changes))


def explicit(matrix: np.ndarray) -> Instance:
    """Make an explicit TSP."""
    return Instance(name="m", problem="tsp", rule="explicit", matrix=matrix)


def test_defaults() -> None:
    """Ids left out are 1..N and a TSP demands nothing."""
    instance = tsp()
    assert instance.size == 4
    assert instance.node_ids.tolist() == [1, 2, 3, 4]
    assert instance.demand.tolist() == [0, 0, 0, 0]


def test_never_changes() -> None:
    """Neither the fields nor the arrays of an instance can be written, and it keeps its own copy."""
    points = RECTANGLE.copy()
    instance = tsp(coordinates=points)
    points[0] = 99.0
    assert instance.coordinates[0].tolist() == [0, 0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        instance.capacity = 3  # type: ignore[misc]
    arrays = (
        instance.coordinates,
        instance.demand,
        instance.node_ids,
        instance.distances(),
        instance.points(),
    )
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_distances_are_computed_once() -> None:
    """Asking twice gives the same matrix object."""
    instance = tsp()
    assert instance.distances() is instance.distances()
    assert instance.distances()[0].tolist() == [0, 3, 5, 4]


@pytest.mark.parametrize(
    "instance",
    [
        tsp(coordinates=RECTANGLE[:1]),
        tsp(coordinates=RECTANGLE[:2]),
        tsp(coordinates=np.zeros((5, 2))),
        cvrp(coordinates=RECTANGLE[:2], demand=np.array([0, 10])),
        cvrp(demand=np.array([0, 0, 0, 0])),
        explicit(np.zeros((1, 1))),
        explicit(np.zeros((4, 4))),
    ],
    ids=["one node", "two nodes", "one place", "one customer", "no demand", "one by one", "all zero"],
)
def test_small_and_degenerate(instance: Instance) -> None:
    """The smallest and the flattest instances are legal and have finite distances and layouts."""
    assert np.isfinite(instance.distances()).all()
    assert instance.points().shape == (instance.size, 2)
    assert np.isfinite(instance.points()).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"capacity": 3}, r"capacity 3 is below the largest demand 7 \(customer 3\)"),
        ({"capacity": 0}, "capacity 0 is not positive"),
        ({"capacity": -5}, "capacity -5 is not positive"),
        ({"capacity": 10.5}, "capacity 10.5 is not a whole number"),
        ({"demand": np.array([0, 4, -6, 7])}, r"demand -6 is negative \(customer 2\)"),
        ({"demand": np.array([1, 4, 6, 7])}, "the depot has demand 1, but it must be 0"),
        ({"demand": np.array([0, 4, 6.5, 7])}, r"demand\[2\] is 6.5, not a whole number"),
        ({"demand": np.array([0, 4, 6])}, "demand has 3 entries for 4 nodes"),
        ({"coordinates": RECTANGLE[:1], "demand": np.array([0])}, "at least one customer"),
        ({"coordinates": RECTANGLE * np.nan}, r"coordinates\[0, 0\] is nan, not a number"),
        ({"coordinates": np.full((4, 2), 1e300)}, r"coordinates\[0, 0\] is 1e\+300"),
        ({"coordinates": np.zeros((4, 3))}, r"shape \(4, 3\), not \(N, 2\)"),
        ({"coordinates": np.zeros((0, 2))}, r"shape \(0, 2\)"),
        ({"coordinates": np.array(["a", "b"])}, "coordinates must be real numbers in 2 axes"),
        ({"coordinates": None}, "the distance rule euc_2d needs coordinates"),
        ({"matrix": np.zeros((4, 4))}, "a distance matrix and the rule explicit go together"),
        ({"rule": "explicit"}, "a distance matrix and the rule explicit go together"),
        ({"rule": "explicit", "matrix": MATRIX}, "4 coordinates do not fit a matrix of 3 nodes"),
        ({"rule": "xray"}, "distance rule 'xray' is not one of"),
        ({"problem": "vrptw"}, "problem 'vrptw' is neither tsp nor cvrp"),
        ({"problem": "tsp"}, "a TSP has neither demand nor capacity"),
        ({"node_ids": np.array([1, 2, 2, 3])}, "node id 2 is used twice"),
        ({"node_ids": np.array([1, 2, 3])}, "node_ids has 3 entries for 4 nodes"),
    ],
)
def test_refusals(changes: dict[str, object], message: str) -> None:
    """A meaningless instance is refused with a sentence that names the value."""
    with pytest.raises(InputError, match=message):
        cvrp(**changes)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.array([[0, -1], [-1, 0]]), "distance -1 of row 1, column 2 is negative"),
        (np.zeros((2, 3)), r"shape \(2, 3\), not \(N, N\)"),
        (np.array([[0, np.inf], [np.inf, 0]]), r"matrix\[0, 1\] is inf"),
    ],
)
def test_matrix_refusals(matrix: np.ndarray, message: str) -> None:
    """A matrix that is not square, finite and non-negative is refused."""
    with pytest.raises(InputError, match=message):
        explicit(matrix)


def test_diagonal_is_cleared() -> None:
    """The diagonal, which some files fill with a large number, counts for nothing."""
    assert explicit(MATRIX + 9999 * np.eye(3)).distances().tolist() == MATRIX.tolist()


def test_with_rounding() -> None:
    """Another rounding gives another instance; the same rounding gives the same one."""
    instance = tsp(coordinates=np.array([[0.0, 0.0], [1.0, 1.0]]))
    assert instance.with_rounding("nearest") is instance
    lengths = [instance.with_rounding(name).distances()[0, 1] for name in ("nearest", "ceil", "none")]
    assert lengths == [1, 2, np.sqrt(2)]
    assert instance.distances()[0, 1] == 1


def test_with_rounding_drops_the_best_known_value() -> None:
    """A value that was best under one rule is not reported under another."""
    instance = tsp(best_known=14.0)
    assert instance.with_rounding("none").best_known is None
    assert instance.with_rounding("nearest").best_known == 14.0


def test_with_rounding_finds_the_published_value_of_the_rule() -> None:
    """CMT1's published 524.61 is for unrounded lengths and appears with them only."""
    instance = tsp(name="CMT1", coordinates=np.zeros((51, 2)))
    assert instance.best_known is None
    assert instance.with_rounding("none").best_known == 524.61


def test_with_rounding_refuses_an_explicit_matrix() -> None:
    """A given matrix cannot be rounded another way."""
    with pytest.raises(InputError, match="rule explicit has its own rounding"):
        explicit(MATRIX).with_rounding("none")


def test_labels() -> None:
    """A TSP node is called by its id in the file, a customer by its number."""
    assert tsp(node_ids=np.array([5, 6, 7, 8])).label(0) == "node 5"
    assert cvrp().label(3) == "customer 3"
    assert cvrp().label(0) == "the depot"


def test_layout_is_the_coordinates() -> None:
    """Coordinates, where there are some, are the layout."""
    assert tsp().points().tolist() == RECTANGLE.tolist()


def test_layout_reproduces_a_euclidean_matrix() -> None:
    """Points of a plane come back from their distances, up to a rigid motion."""
    points = np.random.RandomState(5).uniform(0, 10, (9, 2))
    distances = np.sqrt(((points[:, None] - points[None]) ** 2).sum(-1))
    plane = explicit((distances + distances.T) / 2).points()
    again = np.sqrt(((plane[:, None] - plane[None]) ** 2).sum(-1))
    assert np.allclose(again, distances)


def test_layout_is_deterministic() -> None:
    """The same matrix gives the same picture, its largest entries positive."""
    first, second = explicit(MATRIX).points(), explicit(MATRIX).points()
    assert np.array_equal(first, second)
    assert (first.max(axis=0) >= -first.min(axis=0) - 1e-9).all()
