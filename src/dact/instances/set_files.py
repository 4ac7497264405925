"""Sets of instances on disk: .npz archives and the pickles of Kool et al. (2019)."""

from __future__ import annotations

import io
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from dact.instances.arrays import LARGEST, bounded, integers
from dact.instances.errors import InputError, shown
from dact.instances.instance_set import InstanceSet

_CVRP_KEYS = ("depot", "locs", "demand", "capacity")


def parse_npz(content: bytes, path: Path) -> InstanceSet:
    """Read `coords`, or `depot`, `locs`, `demand` and `capacity`, and maybe `reference_cost`."""
    arrays = _load_arrays(content)
    missing = [key for key in _CVRP_KEYS if key not in arrays]
    if "coords" in arrays:
        instances = _tsp_set(path, arrays["coords"])
    elif not missing:
        instances = _cvrp_set(path, *(arrays[key] for key in _CVRP_KEYS))
    else:
        raise InputError(f"has neither coords nor {missing[0]} among its keys {shown(sorted(arrays))}")
    rule = str(arrays.get("rule", "euclidean"))
    return replace(instances, reference_cost=arrays.get("reference_cost"), rule=rule)


def _load_arrays(content: bytes) -> dict[str, Any]:
    # Rubbish can fail anywhere in zipfile, zlib or numpy's header parser, each with errors of its own.
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except Exception as error:
        raise InputError(f"is not an .npz archive of plain arrays ({_brief(error)})") from None


class _PlainUnpickler(pickle.Unpickler):
    """An unpickler that builds lists, tuples and numbers, and never looks up a name to call."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise InputError(f"asks for {shown(f'{module}.{name}')}: only lists, tuples and numbers are admitted")


def parse_pickle(content: bytes, path: Path) -> InstanceSet:
    """Read a list of TSP instances [[x, y], ...] or of CVRP (depot, locs, demand, capacity)."""
    try:
        data = _PlainUnpickler(io.BytesIO(content)).load()
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"is not a pickle of lists and numbers ({_brief(error)})") from None
    if not isinstance(data, list | tuple) or not data:
        raise InputError("does not hold a list of instances")
    if _is_cvrp(data[0]):
        return _pickled_cvrp(data, path)
    coords = [_points(item, f"instance {number}") for number, item in enumerate(data)]
    _check_equal_sizes([len(item) for item in coords])
    # Those who read these sets before us worked in float32: round as they did.
    return _tsp_set(path, np.array(coords, dtype=np.float32))


def _is_cvrp(item: object) -> bool:
    return isinstance(item, list | tuple) and len(item) == 4 and isinstance(item[3], int | float)


def _pickled_cvrp(data: list[Any] | tuple[Any, ...], path: Path) -> InstanceSet:
    depots, locs, demand, capacity = [], [], [], []
    for number, item in enumerate(data):
        if not _is_cvrp(item):
            raise InputError(f"instance {number} is not (depot, locs, demand, capacity)")
        depots.append(_numbers(item[0], f"depot of instance {number}"))
        locs.append(_points(item[1], f"instance {number}"))
        demand.append(_numbers(item[2], f"demand of instance {number}"))
        capacity += _numbers([item[3]], f"capacity of instance {number}")
        if len(depots[-1]) != 2 or len(demand[-1]) != len(locs[-1]):
            raise InputError(f"instance {number} has a depot, locs and demand that do not fit")
    _check_equal_sizes([len(item) for item in locs])
    single = np.float32
    return _cvrp_set(path, np.array(depots, single), np.array(locs, single), np.array(demand), capacity)


def _points(item: object, what: str) -> list[list[float]]:
    if not isinstance(item, list | tuple) or not item:
        raise InputError(f"{what} is not a list of [x, y]")
    points = [_numbers(point, what) for point in item]
    if any(len(point) != 2 for point in points):
        raise InputError(f"{what} holds a point that is not [x, y]")
    return points


def _numbers(values: object, what: str) -> list[float]:
    """Check every number by hand: numpy would take text, and recurse into a list that holds itself."""
    if not isinstance(values, list | tuple):
        raise InputError(f"{what} is not a list of numbers")
    for value in values:
        if type(value) not in (int, float) or not -LARGEST <= value <= LARGEST:
            kind = shown(value) if type(value) in (int, float) else f"a {type(value).__name__}"
            raise InputError(f"{what} holds {kind}, not a number up to {LARGEST:g} in size")
    return list(values)


def _check_equal_sizes(sizes: list[int]) -> None:
    for number, size in enumerate(sizes):
        if size != sizes[0]:
            raise InputError(f"instance {number} has {size} nodes but instance 0 has {sizes[0]}")


def _tsp_set(path: Path, coords: ArrayLike) -> InstanceSet:
    coordinates = bounded(coords, "coords", 3)
    shape = coordinates.shape[:2]
    return InstanceSet(
        name=path.stem,
        problem="tsp",
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
        problem="cvrp",
        coordinates=np.concatenate((depots[:, None], points), axis=1),
        demand=np.concatenate((np.zeros((count, 1), dtype=np.int64), loads), axis=1),
        capacity=integers(np.full(count, vehicles) if vehicles.ndim == 0 else vehicles, "capacity", 1),
        source=path,
    )


def _brief(error: Exception) -> str:
    """Give the first line of a foreign error, or its type where it says nothing."""
    text = str(error).strip()
    return shown(text.splitlines()[0]).strip("'\"") if text else type(error).__name__
