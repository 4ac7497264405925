"""Sets: .npz archives, and single files as sets of one."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from instance_cases import CSV, EXPLICIT, TSP, refusal, saved, set_refusal

from dact.instances import InputError, InstanceSet, generate_set, read, read_set, with_references

TSP_SET = generate_set("tsp", 5, 3, 1)
CVRP_SET = generate_set("cvrp", 5, 3, 1)


def archive(**arrays) -> bytes:
    """Make an .npz archive in memory."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def cvrp_arrays(**changes) -> dict[str, object]:
    """Make the arrays of a small CVRP set; None removes one."""
    arrays = {
        "depot": np.zeros((2, 2), np.float32),
        "locs": np.full((2, 3, 2), 0.5, np.float32),
        "demand": np.array([[1, 2, 3], [4, 5, 6]], np.uint8),
        "capacity": np.int32(9),
    } | changes
    return {key: value for key, value in arrays.items() if value is not None}


def test_reads_cvrp_archive(tmp_path: Path) -> None:
    """The depot becomes node 0 with demand 0, and a single capacity serves all instances."""
    instances = read_set(saved(tmp_path, "mine.npz", archive(**cvrp_arrays())))
    assert (instances.name, instances.problem, len(instances)) == ("mine", "cvrp", 2)
    assert instances.coordinates.shape == (2, 4, 2)
    assert instances.demand.tolist() == [[0, 1, 2, 3], [0, 4, 5, 6]]
    assert instances.capacity.tolist() == [9, 9]
    assert instances.reference_cost is None


def test_reads_tsp_archive_with_costs(tmp_path: Path) -> None:
    """A finite reference cost is the best known value of its instance; NaN means unknown."""
    content = archive(coords=np.zeros((2, 3, 2), np.float32), reference_cost=np.array([1.5, np.nan]))
    instances = read_set(saved(tmp_path, "a.npz", content))
    assert [instance.best_known for instance in instances] == [1.5, None]


def test_instances_of_a_set() -> None:
    """An instance of a set is unrounded, is named after its place and has read-only arrays."""
    instance = CVRP_SET[1]
    assert (instance.name, instance.rule, instance.capacity) == ("cvrp5_seed1[1]", "euclidean", 20)
    assert np.array_equal(instance.coordinates, CVRP_SET.coordinates[1])
    assert np.array_equal(CVRP_SET[-1].demand, CVRP_SET.demand[2])
    with pytest.raises(IndexError):
        CVRP_SET[3]
    with pytest.raises(ValueError, match="read-only"):
        CVRP_SET.coordinates[0] = 0


def test_take_keeps_names() -> None:
    """A slice of a set keeps the names that its instances had."""
    part = TSP_SET.take(slice(1, 3))
    assert len(part) == 2
    assert part[0].name == "tsp5_seed1[1]"
    assert np.array_equal(part[1].coordinates, TSP_SET[2].coordinates)
    assert part.take(slice(1, 2))[0].name == "tsp5_seed1[2]"


def test_take_nothing() -> None:
    """An empty slice is not a set."""
    with pytest.raises(InputError, match="a set needs at least one instance"):
        TSP_SET.take(slice(0, 0))


def test_set_of_one_is_named_after_its_file(tmp_path: Path) -> None:
    """`read` takes a set file with one instance, and names it after the file."""
    one = generate_set("tsp", 4, 1, 2)
    one.save_npz(tmp_path / "only.npz")
    assert read(tmp_path / "only.npz").name == "only"
    TSP_SET.save_npz(tmp_path / "many.npz")
    with pytest.raises(InputError, match="holds 3 instances, not one: use read_set"):
        read(tmp_path / "many.npz")


@pytest.mark.parametrize("instances", [TSP_SET, CVRP_SET], ids=["tsp", "cvrp"])
def test_save_and_read(tmp_path: Path, instances: InstanceSet) -> None:
    """A saved set comes back bit for bit, stored in single precision where that loses nothing."""
    instances.save_npz(tmp_path / "a.npz")
    again = read_set(tmp_path / "a.npz")
    assert again.problem == instances.problem
    for name in ("coordinates", "demand", "capacity"):
        assert np.array_equal(getattr(again, name), getattr(instances, name))
    with np.load(tmp_path / "a.npz") as stored:
        assert stored["coords" if instances.problem == "tsp" else "locs"].dtype == np.float32
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_save_keeps_what_is_unusual(tmp_path: Path) -> None:
    """Double precision, capacities of their own, costs and another rule survive the file."""
    instances = InstanceSet(
        name="odd",
        problem="cvrp",
        coordinates=np.full((2, 3, 2), 0.1),
        demand=np.array([[0, 300, 1], [0, 2, 3]]),
        capacity=np.array([300, 5]),
        reference_cost=np.array([2.0, np.nan]),
        rule="ceil_2d",
    )
    instances.save_npz(tmp_path / "a.npz")
    again = read_set(tmp_path / "a.npz")
    assert (again.rule, again.capacity.tolist()) == ("ceil_2d", [300, 5])
    assert np.array_equal(again.coordinates, instances.coordinates)
    assert np.array_equal(again.reference_cost, instances.reference_cost, equal_nan=True)


def test_save_to_nowhere(tmp_path: Path) -> None:
    """A folder that does not exist is named."""
    with pytest.raises(InputError, match="cannot be written"):
        TSP_SET.save_npz(tmp_path / "none" / "a.npz")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"PK\x03\x04 broken", "is not an .npz archive of plain arrays"),
        (b"not a zip", "is not an .npz archive of plain arrays"),
        (archive(coords=np.array([{}, {}], dtype=object)), "is not an .npz archive of plain arrays"),
        (archive(points=np.zeros((1, 2, 2))), "has neither coords nor depot among its keys ['points']"),
        (archive(**cvrp_arrays(capacity=None)), "has neither coords nor capacity among its keys"),
        (archive(coords=np.zeros((3, 2))), "coords must be real numbers in 3 axes, not float64 in 2"),
        (archive(coords=np.zeros((3, 2, 3))), "coordinates have shape (3, 2, 3), not (M, N, 2)"),
        (archive(coords=np.zeros((0, 4, 2))), "a set needs at least one instance"),
        (archive(coords=np.zeros((1, 0, 2))), "coordinates have shape (1, 0, 2)"),
        (archive(coords=np.full((1, 1, 2), np.nan)), "coords[0, 0, 0] is nan, not a number up to"),
        (archive(coords=np.array([[["a", "b"]]])), "coords must be real numbers in 3 axes, not <U1"),
        (
            archive(coords=np.zeros((1, 1, 2)), reference_cost=np.zeros(2)),
            "reference_cost holds 2 instances and",
        ),
        (
            archive(coords=np.zeros((1, 1, 2)), reference_cost=np.array([-1.0])),
            "reference_cost holds -1.0, which is",
        ),
        (archive(coords=np.zeros((1, 1, 2)), rule="far"), "a set cannot have the distance rule 'far'"),
        (
            archive(**cvrp_arrays(demand=np.full((2, 3), 10))),
            "demand 10 of customer 1 of instance 0 is above the",
        ),
        (
            archive(**cvrp_arrays(demand=np.full((2, 3), -1))),
            "demand -1 of customer 1 of instance 0 is negative",
        ),
        (archive(**cvrp_arrays(demand=np.full((2, 3), 0.5))), "demand[0, 0] is 0.5, not a whole number"),
        (
            archive(**cvrp_arrays(demand=np.ones((2, 4)))),
            "has shapes depot (2, 2), locs (2, 3, 2), demand (2, 4)",
        ),
        (archive(**cvrp_arrays(capacity=np.int32(0))), "capacity 0 of instance 0 is not positive"),
        (
            archive(**cvrp_arrays(capacity=np.array([9, 9, 9]))),
            "capacity holds 3 instances and coordinates 2",
        ),
        (archive(**cvrp_arrays(locs=np.zeros((2, 0, 2)), demand=np.zeros((2, 0)))), "at least one customer"),
        (b"", "is empty"),
    ],
)
def test_archive_refusals(tmp_path: Path, content: bytes, expected: str) -> None:
    """A broken archive, or one that is not a set, is refused with the reason."""
    assert expected in set_refusal(tmp_path, "a.npz", content)


def test_single_files_are_sets_of_one(tmp_path: Path) -> None:
    """A table or a TSPLIB file is a set of one that keeps its rule and its name."""
    table = read_set(saved(tmp_path, "a.csv", CSV))
    assert (len(table), table.problem, table[0].capacity) == (1, "cvrp", 10)
    rounded = read_set(saved(tmp_path, "b.tsp", TSP))
    assert (rounded[0].name, rounded[0].rule) == ("rectangle", "euc_2d")


def test_matrix_is_no_set(tmp_path: Path) -> None:
    """A distance matrix does not fit into a set of coordinates."""
    with pytest.raises(InputError, match="has a distance matrix, which a set cannot hold: use read"):
        read_set(saved(tmp_path, "a.tsp", EXPLICIT))


def test_wrong_problem() -> None:
    """A set is of TSP or of CVRP instances."""
    zeros = np.zeros((1, 2), dtype=np.int64)
    with pytest.raises(InputError, match="problem 'pdp' is neither tsp nor cvrp"):
        InstanceSet(name="a", problem="pdp", coordinates=np.zeros((1, 2, 2)), demand=zeros, capacity=zeros[0, :1])


def test_archive_called_tsp(tmp_path: Path) -> None:
    """An archive with the extension of a text file is refused as binary."""
    assert refusal(tmp_path, "a.tsp", archive(coords=np.zeros((1, 2, 2)))) == "is a binary file, not text"


def test_references_of_another_file(tmp_path: Path) -> None:
    """The first costs go with the instances; too few, or none, are refused with the file."""
    path = saved(tmp_path, "costs.npz", archive(reference_cost=np.array([1.0, np.nan, 3.0, 4.0])))
    known = with_references(TSP_SET, path).reference_cost
    assert known is not None
    np.testing.assert_equal(known, [1.0, np.nan, 3.0])
    for arrays, words in (({"reference_cost": np.ones(2)}, "2 reference costs for 3"), ({"x": np.ones(3)}, "holds no")):
        other = saved(tmp_path, "other.npz", archive(**arrays))
        with pytest.raises(InputError, match=f"other.npz: .*{words}"):
            with_references(TSP_SET, other)
