"""Demands and capacities for the search, scaled so that no sum of loads exceeds int32."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dact.instances import InputError

MOST = 2**30 - 1
"""Largest sum of an instance's demands: feasibility tests add two loads, which stays below 2^31."""

Integers = NDArray[np.int64]


def searched_loads(demand_MN: Integers, capacity_M: Integers, names: Sequence[str] = ()) -> tuple[Integers, Integers]:
    """Demands and capacities that allow the same routes, with sums that fit int32.

    Rows with small numbers stay as they are. In others the demands are divided by their greatest common factor, and
    a capacity above all demands together is lowered. An instance whose demands still add up to more than `MOST` is
    refused, by its name or its place.
    """
    # Sums of demands up to 1e12 stay below 2^63 for any number of nodes.
    total_M = demand_MN.sum(axis=1)
    large_M = total_M > MOST
    if large_M.any():
        factor_M = np.where(large_M, np.maximum(np.gcd.reduce(demand_MN, axis=1), 1), 1)
        demand_MN, capacity_M = demand_MN // factor_M[:, None], capacity_M // factor_M
        total_M = total_M // factor_M
        _refuse(total_M, names)
    return demand_MN, np.minimum(capacity_M, MOST)


def _refuse(total_M: Integers, names: Sequence[str]) -> None:
    row = int(total_M.argmax())
    if total_M[row] > MOST:
        place = f" of {names[row]}" if names else f" of instance {row}" if len(total_M) > 1 else ""
        raise InputError(
            f"the demands{place}, divided by their common factor, add up to {total_M[row]}, above the {MOST} "
            "that loads are exact for: scale them down"
        )
