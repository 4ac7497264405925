"""Reading instances: the extension decides the format; failures are InputError."""

from __future__ import annotations

from dataclasses import replace
from os.path import isfile
from pathlib import Path

import numpy as np

from dact.instances.archives import load_arrays
from dact.instances.checker import check
from dact.instances.distances import RULES
from dact.instances.errors import InputError, NoDemandsError, naming, shown
from dact.instances.files import read_bytes, read_text
from dact.instances.instance import Instance
from dact.instances.instance_set import InstanceSet
from dact.instances.limits import MAX_NODES
from dact.instances.matrix_files import parse_npy, read_distances
from dact.instances.published import best_known
from dact.instances.set_files import parse_npz, parse_pickle
from dact.instances.solutions import read_solution_cost
from dact.instances.table import Wishes, instance_of, is_table, parse_table
from dact.instances.tsplib import parse_tsplib
from dact.instances.workbooks import workbook_text

KEYWORD_SUFFIXES = (".tsp", ".vrp", ".txt")
TABLE_SUFFIXES = (".csv", ".tsv", ".xlsx")
SET_PARSERS = {".npz": parse_npz, ".pkl": parse_pickle}


def read(
    path: str | Path,
    *,
    capacity: float | None = None,
    demand_unit: float | None = None,
    matrix: str | Path | None = None,
    vehicles: int | None = None,
    max_nodes: int = MAX_NODES,
) -> Instance:
    """Read one instance: .tsp, .vrp, .txt, a table (.csv, .tsv, .xlsx), a matrix (.npy, .csv), or a set (.npz, .pkl)
    that holds just one.

    `vehicles` is the largest number of routes, and wins over what the file says. A file of more than `max_nodes` nodes
    is refused before memory is taken for them.

    The other settings are for tables: `capacity` wins over their `# capacity:` comment, demands may be decimal
    with a `demand_unit` in which they are counted, and `matrix` names a file (.csv, .tsv, .xlsx, .npy) with their
    distances.
    The best known value is the lowest of those stated by a solution beside a .tsp, .vrp or .txt file, by its
    COMMENT and by the shipped table, each only where it belongs to the rule in force.
    """
    path = Path(path)
    with naming(path):
        suffix = _suffix(path)
        for what, given in (("capacity", capacity), ("demand_unit", demand_unit), ("matrix", matrix)):
            if given is not None and suffix not in TABLE_SUFFIXES:
                kind = InputError if what == "matrix" else NoDemandsError
                raise kind(f"a {what} can be given for tables only ({', '.join(TABLE_SUFFIXES)})")
    distances = None if matrix is None else read_distances(matrix, max_nodes)
    with naming(path):
        if suffix in SET_PARSERS:
            instances = SET_PARSERS[suffix](read_bytes(path), path, max_nodes)
            if len(instances) != 1:
                raise InputError(f"holds {len(instances)} instances, not one: use read_set")
            return _limited(instances[0], vehicles)
        wishes = Wishes(capacity=capacity, demand_unit=demand_unit, distances=distances)
        instance = _parse(path, suffix, wishes, max_nodes)
        values = (_value_beside(instance, path), instance.best_known, _published(instance))
        best = min((value for value in values if value is not None), default=None)
        return _limited(replace(instance, best_known=best), vehicles)


def read_set(path: str | Path, *, capacity: float | None = None, max_nodes: int = MAX_NODES) -> InstanceSet:
    """Read a set: .npz or .pkl, or any file that `read` takes as a set of one."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix in SET_PARSERS and capacity is None:
        with naming(path):
            return SET_PARSERS[suffix](read_bytes(path), path, max_nodes)
    return _set_of_one(read(path, capacity=capacity, max_nodes=max_nodes), path)


def with_references(instances: InstanceSet, path: str | Path) -> InstanceSet:
    """Return the set with the `reference_cost` of an .npz file; its first costs where it has more than instances."""
    path = Path(path)
    with naming(path):
        arrays, _ = load_arrays(read_bytes(path), ("reference_cost",))
        if "reference_cost" not in arrays:
            raise InputError("holds no reference_cost")
        costs = arrays["reference_cost"]
        if costs.ndim != 1 or len(costs) < len(instances):
            raise InputError(f"holds {len(costs) if costs.ndim else 0} reference costs for {len(instances)} instances")
        return replace(instances, reference_cost=costs[: len(instances)])


def _parse(path: Path, suffix: str, wishes: Wishes, max_nodes: int) -> Instance:
    if suffix == ".npy":
        return instance_of(parse_npy(read_bytes(path), max_nodes), path, wishes)
    if suffix in TABLE_SUFFIXES:
        text = workbook_text(read_bytes(path), max_nodes, place=path) if suffix == ".xlsx" else read_text(path)
        return parse_table(text, path, wishes, max_nodes)
    text = read_text(path)
    if suffix == ".txt" and is_table(text):
        raise InputError("is a table: give it a name that ends in .csv")
    return parse_tsplib(text, path, max_nodes)


def _limited(instance: Instance, vehicles: int | None) -> Instance:
    return instance if vehicles is None else instance.with_vehicles(vehicles)


def _set_of_one(instance: Instance, path: Path) -> InstanceSet:
    if instance.coordinates is None or instance.rule == "explicit":
        raise InputError(f"{path}: has a distance matrix, which a set cannot hold: use read")
    cost = instance.best_known
    return InstanceSet(
        name=instance.name,
        problem=instance.problem,
        coordinates=instance.coordinates[None],
        demand=instance.demand[None],
        capacity=np.array([instance.capacity]),
        reference_cost=None if cost is None else np.array([cost]),
        rule=instance.rule,
        source=path,
    )


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    known = (*KEYWORD_SUFFIXES, *TABLE_SUFFIXES, ".npy", *SET_PARSERS)
    # For folders and missing files, the error of read_bytes is more helpful.
    if isfile(path) and suffix in (".xls", ".xlsm", ".ods"):
        raise InputError("is a spreadsheet: save it as .csv or .xlsx")
    if isfile(path) and suffix not in known:
        raise InputError(f"the extension {shown(suffix)} is not one of {', '.join(known)}")
    return suffix


def _published(instance: Instance) -> float | None:
    return best_known(instance.name, instance.size, instance.rule)


def _value_beside(instance: Instance, path: Path) -> float | None:
    """The cost stated by a solution file beside the instance, if the checker confirms it.

    Only formats of benchmark libraries have that convention. Beside a table lie earlier answers, perhaps for another
    capacity.
    """
    if path.suffix.lower() not in KEYWORD_SUFFIXES:
        return None
    for suffix in (f".opt{instance.facts.suffix}", instance.facts.suffix):
        beside = path.with_suffix(suffix)
        try:
            routes, stated = read_solution_cost(beside, instance)
        except InputError:
            continue
        cost = check(instance, routes).cost
        # Published real-valued costs have two decimals; a rounded rule must agree exactly.
        tolerance = 0.01 if RULES[instance.rule][1] == "none" else 0.0
        if stated is None or abs(cost - stated) <= tolerance:
            return cost if stated is None else stated
    return None
