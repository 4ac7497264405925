"""Generated sets: the published bytes, the capacities, and refusals."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
from instance_cases import DATA, needs_data

from dact.instances import InputError, InstanceSet, capacity_for, generate_set, read_set

NAME = re.compile(r"(tsp|cvrp)(\d+)_seed(\d+)")


def digest(instances: InstanceSet) -> str:
    """Hash the raw bytes in the order in which the sets store them."""
    points = instances.coordinates.astype(np.float32)
    arrays = [points]
    if instances.problem == "cvrp":
        arrays = [points[:, 0], points[:, 1:], instances.demand[:, 1:].astype(np.uint8)]
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()


def checksums() -> list[tuple[str, int, str]]:
    """List the published sets with their checksums; none where the data is absent."""
    path = DATA / "synthetic_sha256.txt"
    if not path.exists():
        return []
    rows = [line.split() for line in path.read_text().splitlines()]
    return [(Path(name).stem, int(count), value) for name, count, value in rows]


@needs_data
@pytest.mark.parametrize(("name", "count", "expected"), checksums(), ids=lambda value: str(value)[:20])
def test_published_bytes(name: str, count: int, expected: str) -> None:
    """The generator reproduces the published sets byte for byte."""
    problem, size, seed = NAME.fullmatch(name).groups()
    assert digest(generate_set(problem, int(size), count, int(seed))) == expected


@needs_data
@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_files_hold_what_we_generate(problem: str) -> None:
    """The validation files on disk load as exactly the sets that we generate."""
    stored = read_set(DATA / "validation" / f"{problem}20_seed4321.npz")
    drawn = generate_set(problem, 20, 1000, 4321)
    for name in ("coordinates", "demand", "capacity"):
        assert np.array_equal(getattr(stored, name), getattr(drawn, name))


def test_shapes_and_ranges() -> None:
    """Points lie in the unit square as float32 values, demands in 1..9, the depot demands nothing."""
    instances = generate_set("cvrp", 7, 4, 0)
    assert instances.coordinates.shape == (4, 8, 2)
    assert np.array_equal(instances.coordinates, instances.coordinates.astype(np.float32))
    assert not instances.demand[:, 0].any()
    assert set(np.unique(instances.demand[:, 1:])) <= set(range(1, 10))
    assert generate_set("tsp", 7, 4, 0).coordinates.shape == (4, 7, 2)


def test_the_first_draws() -> None:
    """The first TSP point is the first two draws of numpy's legacy stream."""
    expected = np.random.RandomState(1234).uniform(size=2).astype(np.float32)
    assert np.array_equal(generate_set("tsp", 3, 2, 1234).coordinates[0, 0], expected)


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
def test_parts(problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing some instances at a time, with reports of progress, gives the same set as drawing all at once."""
    whole, reports = generate_set(problem, 7, 100, 3), []
    monkeypatch.setattr("dact.instances.generate.AT_ONCE", 70)
    parts = generate_set(problem, 7, 100, 3, reports.append)
    assert digest(parts) == digest(whole)
    assert len(reports) >= 20
    assert (reports, reports[-1]) == (sorted(reports), 1.0)


def test_seeds_differ() -> None:
    """The same seed repeats the set and another seed changes it."""
    first, again, other = (generate_set("tsp", 3, 2, seed).coordinates for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("customers", "capacity"),
    [
        (1, 20),
        (10, 20),
        (15, 25),
        (20, 30),
        (21, 31),
        (35, 35),
        (50, 40),
        (75, 45),
        (100, 50),
        (101, 51),
        (200, 70),
        (1000, 230),
    ],
)
def test_capacities(customers: int, capacity: int) -> None:
    """Published sizes have the published capacity; the others lie on the lines between, rounded up."""
    assert capacity_for(customers) == capacity


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("vrp", 5, 1, 0), "problem 'vrp' is neither tsp nor cvrp"),
        (("tsp", 0, 1, 0), "size 0 is below 1"),
        (("tsp", 5, 0, 0), "count 0 is below 1"),
        (("tsp", 5, 1, -1), "seed -1 is below 0"),
        (("tsp", 5, 1, 2**32), "seed 4294967296 is not below"),
    ],
)
def test_refusals(arguments: tuple[str, int, int, int], message: str) -> None:
    """What cannot be drawn is refused by name."""
    with pytest.raises(InputError, match=message):
        generate_set(*arguments)
