"""Every shared file loads, or is refused with the reason that we expect for it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from instance_cases import DATA, needs_data, shared_files
from vrplib.parse import parse_vrplib

from dact.instances import InputError, check, read, read_set

FILES = shared_files("tsplib*/*.tsp", "cvrplib*/*.vrp")
LIMITED = re.compile(r"CMT([6-9]|10|13|14)|Golden_[1-8]")


def expected_refusal(path: Path) -> str | None:
    """Say why a shared file must be refused, if it must."""
    if path.stem == "linhp318":
        return "FIXED_EDGES_SECTION (edges that the tour must use) is not supported"
    return "DISTANCE (a limit on the length of a route)" if LIMITED.fullmatch(path.stem) else None


@needs_data
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_file(path: Path) -> None:
    """The file loads with its declared size, or is refused with the reason."""
    reason = expected_refusal(path)
    if reason:
        with pytest.raises(InputError, match=re.escape(f"{path}: {reason}")):
            read(path)
        return
    instance = read(path)
    declared = re.search(r"DIMENSION\s*:\s*(\d+)", path.read_text(encoding="latin-1"))
    assert instance.size == int(declared[1])
    assert instance.problem == ("tsp" if path.suffix == ".tsp" else "cvrp")


@needs_data
def test_only_limited_files_lack_a_value() -> None:
    """Every instance that loads has a best known value, with or without rounding."""
    for path in FILES:
        if expected_refusal(path) is None:
            instance = read(path)
            assert instance.best_known or instance.with_rounding("none").best_known, path.stem


@needs_data
@pytest.mark.parametrize("path", shared_files("cvrplib_more/[ABEFMP]-*.vrp"), ids=lambda path: path.stem)
def test_vrplib_agrees(path: Path) -> None:
    """vrplib reads the same coordinates, demands, capacity and weights."""
    instance = read(path)
    other = parse_vrplib(path.read_text(), compute_edge_weights=False)
    assert np.array_equal(other["demand"], instance.demand)
    assert other["capacity"] == instance.capacity
    if instance.rule == "explicit":
        assert np.array_equal(other["edge_weight"], instance.distances())
    else:
        assert np.array_equal(other["node_coord"], instance.coordinates)


@needs_data
@pytest.mark.parametrize("name", ["gr666", "att532", "dsj1000", "si175", "bays29", "brg180", "pr1002", "ali535"])
def test_checker_agrees_with_the_matrix(name: str) -> None:
    """On a random tour the checker's edge-by-edge cost equals the matrix's."""
    instance = read(DATA / "tsplib_more" / f"{name}.tsp")
    tour = np.random.RandomState(7).permutation(instance.size)
    assert check(instance, [tour]).cost == instance.distances()[tour, np.roll(tour, -1)].sum()


@needs_data
@pytest.mark.parametrize("name", ["gr17", "si175", "bayg29"])
def test_layout_of_explicit_instances(name: str) -> None:
    """The layout of a real matrix is finite, and far nodes of the matrix lie far apart in it."""
    instance = read(DATA / "tsplib_more" / f"{name}.tsp")
    plane = instance.points()
    apart = np.sqrt(((plane[:, None] - plane[None]) ** 2).sum(-1))
    upper = np.triu_indices(instance.size, 1)
    correlation = np.corrcoef(apart[upper], instance.distances()[upper])[0, 1]
    assert correlation > (0.95 if name == "bayg29" else 0.5)


@needs_data
@pytest.mark.parametrize("path", shared_files("validation/*.npz"), ids=lambda path: path.stem)
def test_validation_sets(path: Path) -> None:
    """A validation set loads, with the costs that it states."""
    instances = read_set(path)
    problem, size = re.match(r"([a-z]+)(\d+)", path.stem).groups()
    assert (instances.problem, len(instances)) == (problem, 1000)
    assert instances.coordinates.shape[1] == int(size) + (problem == "cvrp")
    known = np.isfinite(instances.reference_cost)
    assert known.sum() == (1000 if problem == "tsp" else 256)
    assert instances[0].best_known == instances.reference_cost[0]


@needs_data
@pytest.mark.parametrize("path", shared_files("test_reference/*.npz", "parity/*.npz"), ids=lambda path: path.stem)
def test_archives_that_are_no_sets(path: Path) -> None:
    """Archives of something else are refused by their keys."""
    with pytest.raises(InputError, match="has neither coords nor depot among its keys"):
        read_set(path)


@needs_data
def test_lists_name_the_files() -> None:
    """Sizes in the shared lists are the sizes that we read."""
    with (DATA / "cvrplib_bks.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["name"].startswith(("A-", "E-", "P-"))]
    for row in rows:
        instance = read(DATA / row["folder"] / f"{row['name']}.vrp")
        assert (instance.size - 1, instance.capacity) == (int(row["customers"]), int(row["capacity"]))
