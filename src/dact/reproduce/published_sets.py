"""Kool's test instances, which are drawn again, and their reference costs, which are read."""

from dataclasses import replace
from pathlib import Path

from dact.instances import InputError, InstanceSet, generate_set
from dact.instances.archives import load_arrays
from dact.instances.errors import naming
from dact.instances.files import read_bytes

COUNT, SEED = 10_000, 1234


def published_set(problem: str, size: int, count: int, data: Path | None) -> InstanceSet:
    """The first `count` instances, with costs from `DATA/test_reference/` where there are any."""
    instances = generate_set(problem, size, COUNT, SEED)
    beside = None if data is None else data / "test_reference" / f"{instances.name}.npz"
    if beside is not None and beside.is_file():
        with naming(beside):
            arrays, _ = load_arrays(read_bytes(beside), ("reference_cost",))
            if "reference_cost" not in arrays:
                raise InputError("holds no reference_cost")
            instances = replace(instances, reference_cost=arrays["reference_cost"])
    return instances.take(slice(count))
