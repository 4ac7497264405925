"""Kool's test instances, generated from their seed, with reference costs from files."""

from pathlib import Path

from dact.instances import InstanceSet, generate_set, with_references

COUNT, SEED = 10_000, 1234


def published_set(problem: str, size: int, count: int, data: Path | None) -> InstanceSet:
    """The first `count` instances, with costs from `DATA/test_reference/` where there are any."""
    instances = generate_set(problem, size, COUNT, SEED)
    beside = None if data is None else data / "test_reference" / f"{instances.name}.npz"
    if beside is not None and beside.is_file():
        instances = with_references(instances, beside)
    return instances.take(slice(count))
