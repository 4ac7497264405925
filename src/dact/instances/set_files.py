"""Sets of instances on disk: .npz archives and the pickles of Kool et al. (2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dact.instances.archives import load_arrays
from dact.instances.arrays import LARGEST, FloatArray, bounded, integers
from dact.instances.errors import InputError, plural, shown
from dact.instances.facts import usual_problem
from dact.instances.instance_set import InstanceSet
from dact.instances.limits import MAX_NODES, check_nodes, check_unpacked
from dact.instances.pickles import load_plain

_CVRP_KEYS = ("depot", "locs", "demand", "capacity")


def parse_npz(content: bytes, path: Path, max_nodes: int = MAX_NODES) -> InstanceSet:
    """Read `coords`, or `depot`, `locs`, `demand` and `capacity`, and maybe `reference_cost`, `rule` and `problem`."""
    arrays, names = load_arrays(content, ("coords", *_CVRP_KEYS, "reference_cost", "rule", "problem"))
    missing = [key for key in _CVRP_KEYS if key not in arrays]
    if "coords" in arrays:
        instances = _tsp_set(path, arrays["coords"])
    elif not missing:
        instances = _cvrp_set(path, *(arrays[key] for key in _CVRP_KEYS))
    else:
        raise InputError(f"has neither coords nor {missing[0]} among its keys {shown(names)}")
    check_nodes(instances.coordinates.shape[1], max_nodes)
    rule = str(arrays.get("rule", "euclidean"))
    problem = str(arrays.get("problem", instances.problem))
    return replace(instances, problem=problem, reference_cost=arrays.get("reference_cost"), rule=rule)


def parse_pickle(content: bytes, path: Path, max_nodes: int = MAX_NODES) -> InstanceSet:
    """Read a list of TSP instances [[x, y], ...] or of CVRP (depot, locs, demand, capacity)."""
    data = load_plain(content)
    if not isinstance(data, list | tuple) or not data:
        raise InputError("does not hold a list of instances")
    cvrp = _is_cvrp(data[0])
    _check_sizes(data, cvrp, len(content), max_nodes)
    if cvrp:
        return _pickled_cvrp(data, path)
    # Published results on these sets use float32 coordinates: round likewise.
    return _tsp_set(path, np.stack([_points(item, f"instance {number}") for number, item in enumerate(data)]))


def _is_cvrp(item: object) -> bool:
    return isinstance(item, list | tuple) and len(item) == 4 and isinstance(item[3], int | float)


def _check_sizes(data: Sequence[Any], cvrp: bool, file_bytes: int, max_nodes: int) -> None:
    """Refuse unequal or excessive sizes before anything is copied: a pickle may refer to one list many times."""
    sizes: list[int] = []
    for number, item in enumerate(data):
        if cvrp and not _is_cvrp(item):
            raise InputError(f"instance {number} is not (depot, locs, demand, capacity)")
        nodes = item[1] if cvrp else item
        if not isinstance(nodes, list | tuple) or not nodes:
            raise InputError(f"instance {number} is not a list of [x, y]")
        if sizes and len(nodes) != sizes[0]:
            raise InputError(
                f"instance {number} has {len(nodes)} {plural(len(nodes), 'node')} but instance 0 has {sizes[0]}"
            )
        sizes.append(len(nodes))
    check_nodes(sizes[0] + cvrp, max_nodes)
    check_unpacked(sum(sizes) * (3 if cvrp else 2), file_bytes)


def _pickled_cvrp(data: Sequence[Any], path: Path) -> InstanceSet:
    depots, locs, demand, capacity = [], [], [], []
    for number, item in enumerate(data):
        if not _is_list(item[0], 2) or not _is_list(item[2], len(item[1])):
            raise InputError(f"instance {number} has a depot, locs and demand that do not fit")
        depots.append(_numbers(item[0], f"depot of instance {number}"))
        locs.append(_points(item[1], f"instance {number}"))
        demand.append(np.array(_numbers(item[2], f"demand of instance {number}")))
        capacity += _numbers([item[3]], f"capacity of instance {number}")
    return _cvrp_set(path, np.array(depots, np.float32), np.stack(locs), np.stack(demand), capacity)


def _points(item: Sequence[Any], what: str) -> FloatArray:
    """Copy points as float32, one instance at a time: as lists they take ten times the memory."""
    points = []
    for point in item:
        if isinstance(point, list | tuple) and len(point) != 2:
            raise InputError(f"{what} holds a point that is not [x, y]")
        points.append(_numbers(point, what))
    return np.array(points, dtype=np.float32).astype(np.float64)


def _is_list(item: object, length: int) -> bool:
    return isinstance(item, list | tuple) and len(item) == length


def _numbers(values: object, what: str) -> list[float]:
    """Check every number: numpy would accept strings, and recurse into lists that contain themselves."""
    if not isinstance(values, list | tuple):
        raise InputError(f"{what} is not a list of numbers")
    for value in values:
        if type(value) not in (int, float) or not -LARGEST <= value <= LARGEST:
            kind = shown(value) if type(value) in (int, float) else f"a {type(value).__name__}"
            raise InputError(f"{what} holds {kind}, not a number up to {LARGEST:g} in size")
    return list(values)


def _tsp_set(path: Path, coords: ArrayLike) -> InstanceSet:
    coordinates = bounded(coords, "coords", 3)
    shape = coordinates.shape[:2]
    return InstanceSet(
        name=path.stem,
        problem=usual_problem(capacity=False),
        coordinates=coordinates,
        demand=np.zeros(shape, dtype=np.int64),
        capacity=np.zeros(shape[0], dtype=np.int64),
        source=path,
    )


def _cvrp_set(path: Path, depot: ArrayLike, locs: ArrayLike, demand: ArrayLike, capacity: ArrayLike) -> InstanceSet:
    depots, points = bounded(depot, "depot", 2), bounded(locs, "locs", 3)
    loads = integers(demand, "demand", 2)
    count = len(points)
    if depots.shape != (count, 2) or points.shape[2] != 2 or loads.shape != points.shape[:2]:
        shapes = f"depot {depots.shape}, locs {points.shape}, demand {loads.shape}"
        raise InputError(f"has shapes {shapes}, not (M, 2), (M, N, 2), (M, N)")
    vehicles = np.asarray(capacity)
    return InstanceSet(
        name=path.stem,
        problem=usual_problem(capacity=True),
        coordinates=np.concatenate((depots[:, None], points), axis=1),
        demand=np.concatenate((np.zeros((count, 1), dtype=np.int64), loads), axis=1),
        capacity=integers(np.full(count, vehicles) if vehicles.ndim == 0 else vehicles, "capacity", 1),
        source=path,
    )
