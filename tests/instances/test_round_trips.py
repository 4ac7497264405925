"""Whatever we write, we read, in any units."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dact.instances import InputError, Instance, InstanceSet, check, read_set, read_solution, write_solution
from dact.instances.solutions import read_solution_cost

MAGNITUDES = st.floats(1e-9, 1e15)
NAMES = st.sampled_from(
    ["plain", "two words", "line\nTOUR_SECTION\n1", "a:b", "EOF", "", "\udcff", "\ud800", "é", "x" * 300]
)


def instance(problem: str, unit: float, name: str = "i") -> Instance:
    """Four nodes at a distance."""
    points = np.array([[0, 0], [3, 0], [3, 4], [0, 4]]) * unit
    loads = {"demand": np.array([0, 1, 2, 3]), "capacity": 3} if problem == "cvrp" else {}
    return Instance(name=name, problem=problem, rule="euclidean", coordinates=points, **loads)


@pytest.mark.parametrize("suffix", [".sol", ".tour", ".json"])
def test_solutions(suffix: str, tmp_path: Path) -> None:
    """A solution of any cost and any name is read back, and a .sol states the very cost."""
    path = tmp_path / f"a{suffix}"
    problem, routes = ("tsp", ((0, 2, 1, 3),)) if suffix == ".tour" else ("cvrp", ((1, 2), (3,)))

    @settings(max_examples=100, deadline=None)
    @given(MAGNITUDES, NAMES)
    def run(cost: float, name: str) -> None:
        solved = instance(problem, 1.0, name)
        write_solution(path, solved, routes, cost)
        again, stated = read_solution_cost(path, solved)
        assert again == routes
        assert stated == (cost if suffix == ".sol" else None)

    run()


@settings(max_examples=60, deadline=None)
@given(st.floats(-9, 11.3), st.integers(1, 10**9))
def test_sets(exponent: float, load: int) -> None:
    """A set in any units is read back to the bit."""
    unit = 10**exponent
    points = np.array([[[0, 0], [3, 0], [3, 4], [0, 4]]]) * unit
    instances = InstanceSet(
        name="a",
        problem="cvrp",
        coordinates=points,
        demand=np.array([[0, 1, 2, 3]]) * load,
        capacity=np.array([3 * load]),
        reference_cost=np.array([16 * unit]),
    )
    with TemporaryDirectory() as folder:
        instances.save_npz(Path(folder) / "a.npz")
        again = read_set(Path(folder) / "a.npz")
    for name in ("coordinates", "demand", "capacity", "reference_cost"):
        assert np.array_equal(getattr(instances, name), getattr(again, name)), name


def test_a_route_of_our_own_cost(tmp_path: Path) -> None:
    """The cost of a tour through the farthest points that are admitted is written and read."""
    far = instance("cvrp", 2.5e11)
    cost = check(far, ((1, 2), (3,))).cost
    assert cost > 1e12
    write_solution(tmp_path / "a.sol", far, ((1, 2), (3,)), cost)
    assert read_solution_cost(tmp_path / "a.sol", far) == (((1, 2), (3,)), cost)


def test_negative_ids_are_refused(tmp_path: Path) -> None:
    """A node id of -1 would end the tour it stands in."""
    with pytest.raises(InputError, match="node id -1 is negative"):
        Instance(name="i", problem="tsp", rule="euclidean", coordinates=np.zeros((2, 2)), node_ids=np.array([-1, 4]))
    fine = Instance(name="i", problem="tsp", rule="euclidean", coordinates=np.zeros((2, 2)), node_ids=np.array([0, 4]))
    write_solution(tmp_path / "a.tour", fine, ((1, 0),), 0.0)
    assert read_solution(tmp_path / "a.tour", fine) == ((1, 0),)
