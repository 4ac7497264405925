"""A third problem by its facts alone: vehicles that do not come back."""

from pathlib import Path

import numpy as np
import pytest

from dact.instances import (
    FACTS,
    Facts,
    Instance,
    InstanceSet,
    check,
    generate_set,
    read,
    read_set,
    read_solution,
    to_pyvrp,
    write_solution,
)
from dact.pipeline import judge
from dact.problems import PROBLEMS

OPEN = Facts(name="ovrp", title="OVRP", depot=True, capacity=True, returns=False, suffix=".sol", by_id=False)
TEXT = """NAME : o
TYPE : OVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 3 0
3 3 4
4 0 8
DEMAND_SECTION
1 0
2 5
3 5
4 7
DEPOT_SECTION
1
-1
EOF
"""


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The record is all that is added."""
    monkeypatch.setitem(FACTS, OPEN.name, OPEN)


def test_every_problem_has_facts():
    """What can be searched can be read, written and checked."""
    assert PROBLEMS.keys() == FACTS.keys()


@pytest.mark.usefixtures("opened")
def test_files_are_read_checked_and_written(tmp_path: Path):
    """Depot-1-2 is 3 + 4 and depot-3 is 8; the ways back would be 5 + 8."""
    (tmp_path / "o.vrp").write_text(TEXT)
    instance = read(tmp_path / "o.vrp")
    assert (instance.problem, instance.customers, instance.label(2)) == ("ovrp", 3, "customer 2")
    verdict = check(instance, [(1, 2), (3,)])
    assert (verdict.feasible, verdict.cost) == (True, 15.0)
    assert not check(instance, [(1, 2, 3)]).feasible
    write_solution(tmp_path / "o.sol", instance, [(1, 2), (3,)], 15)
    assert read_solution(tmp_path / "o.sol", instance) == ((1, 2), (3,))


@pytest.mark.usefixtures("opened")
def test_files_of_every_kind_name_the_problem(tmp_path: Path):
    """A set and a CSV file come back as what they were; files that name no problem are CVRP as ever."""
    drawn = generate_set("ovrp", 4, 2, seed=1)
    drawn.save_npz(tmp_path / "o.npz")
    assert read_set(tmp_path / "o.npz").problem == "ovrp"
    rows = "x,y,demand\n0,0,0\n3,0,5\n3,4,5\n"
    (tmp_path / "o.csv").write_text(f"# capacity: 10\n# Problem: OVRP\n{rows}")
    assert check(read(tmp_path / "o.csv"), [(1, 2)]).cost == 7
    (tmp_path / "c.csv").write_text(f"# capacity: 10\n{rows}")
    assert check(read(tmp_path / "c.csv"), [(1, 2)]).cost == 12
    points, demand = [[0, 0], [3, 0], [3, 4]], [0, 5, 5]
    assert check(Instance.from_arrays(points, demand, 10, problem="ovrp"), [(1, 2)]).cost == 7
    with pytest.raises(ValueError, match="OVRP needs a demand column"):
        Instance.from_arrays(points, problem="ovrp")


def test_usual_problems_are_not_written(tmp_path: Path):
    """Sets of TSP and CVRP have the keys that they always had; a name that is unknown is refused."""
    for problem in ("tsp", "cvrp"):
        generate_set(problem, 4, 2, seed=1).save_npz(tmp_path / f"{problem}.npz")
        with np.load(tmp_path / f"{problem}.npz") as arrays:
            assert "problem" not in arrays
    (tmp_path / "o.csv").write_text("# problem: vrptw\n0,0\n3,0\n")
    with pytest.raises(ValueError, match=r"o.csv: line 1: problem 'vrptw' is neither tsp nor cvrp"):
        read(tmp_path / "o.csv")


@pytest.mark.usefixtures("opened")
def test_pyvrp_gets_no_open_routes():
    """PyVRP would solve another problem without a word."""
    with pytest.raises(ValueError, match="PyVRP cannot solve the OVRP"):
        to_pyvrp(generate_set("ovrp", 4, 1, seed=1)[0])


@pytest.mark.usefixtures("opened")
def test_sets_are_drawn_and_judged():
    """The judge of sets agrees with the checker on ways that are not ridden."""
    drawn = generate_set("ovrp", 4, 2, seed=1)
    assert isinstance(drawn, InstanceSet)
    tours = np.array([[0, 2, 3, 1, 4, 5], [0, 5, 4, 1, 3, 2]])
    expected = [check(drawn[0], [(1, 2), (3, 4)]).cost, check(drawn[1], [(4, 3), (2, 1)]).cost]
    assert judge(drawn, tours, depots=2) == pytest.approx(expected)


@pytest.mark.usefixtures("opened")
def test_a_depot_needs_a_customer():
    """Refusals name the problem by its title."""
    with pytest.raises(ValueError, match="OVRP needs a depot and at least one customer"):
        Instance(
            name="o", problem="ovrp", rule="euclidean", coordinates=np.zeros((1, 2)), demand=np.zeros(1), capacity=1
        )
