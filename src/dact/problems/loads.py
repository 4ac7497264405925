"""Demands and capacities as the search sees them: small enough that no sum of loads leaves int32."""

import numpy as np
from numpy.typing import NDArray

from dact.instances import InputError

MOST = 2**30 - 1
"""Of all demands of an instance together: feasibility tests add two loads, which stays below 2^31."""

Integers = NDArray[np.int64]


def searched_loads(demand_MN: Integers, capacity_M: Integers) -> tuple[Integers, Integers]:
    """Demands and capacities that admit the same routes, every sum of which is exact in int32.

    Rows with small numbers stay as they are. In others the demands are divided by their greatest common factor, and
    a capacity above all demands together is lowered. An instance whose demands still add up to more than `MOST` is
    refused.
    """
    # Demands of 1e12 of 20,000 nodes and more stay far below 2^63.
    total_M = demand_MN.sum(axis=1)
    large_M = total_M > MOST
    if large_M.any():
        factor_M = np.where(large_M, np.maximum(np.gcd.reduce(demand_MN, axis=1), 1), 1)
        demand_MN, capacity_M = demand_MN // factor_M[:, None], capacity_M // factor_M
        total_M = total_M // factor_M
        _refuse(total_M)
    return demand_MN, np.minimum(capacity_M, MOST)


def _refuse(total_M: Integers) -> None:
    row = int(total_M.argmax())
    if total_M[row] > MOST:
        place = f" of instance {row}" if len(total_M) > 1 else ""
        raise InputError(
            f"the demands{place}, divided by their common factor, add up to {total_M[row]}, above the {MOST} "
            "that loads are exact for: scale them down"
        )
