"""A set cut into blocks: what is searched side by side, and what shards and processes take turns at."""

from dact.instances import InputError

Shard = tuple[int, int]
"""(i, n): every n-th block from the i-th on, 1 <= i <= n."""
WHOLE: Shard = (1, 1)


def blocks(count: int, rows: int, shard: Shard = WHOLE) -> list[range]:
    """The places of a shard's instances: of each `rows` consecutive ones in the set, every n-th from the i-th on."""
    if rows < 1:
        raise InputError(f"rows {rows} is below 1")
    number, shards = shard
    if not 1 <= number <= shards:
        raise InputError(f"shard {number}/{shards} is not one of 1/{shards} to {shards}/{shards}")
    cut = [range(first, min(first + rows, count)) for first in range(0, count, rows)]
    if number > len(cut):
        raise InputError(
            f"shard {number}/{shards} of {count} instances in blocks of {rows} is empty: choose smaller blocks (--rows)"
        )
    return cut[number - 1 :: shards]
