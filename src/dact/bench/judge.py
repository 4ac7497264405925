"""Whole sets of tours judged with numpy in float64, sharing nothing with the search that made them."""

import numpy as np

from dact.instances import InstanceSet
from dact.instances.arrays import FloatArray, IntArray
from dact.instances.distances import pairwise


def judge(instances: InstanceSet, tour_MN: IntArray, depots: int) -> FloatArray:
    """The cost of every tour; a tour that is no solution is a bug of ours and raises.

    Nodes 0 .. depots - 1 of a tour stand for the depot, the others for the customers in order (depots = 0:
    nodes are instance indices).
    """
    _refuse(np.sort(tour_MN, axis=1) != np.arange(tour_MN.shape[1]), instances, "does not visit every node once")
    stop_MN = np.maximum(tour_MN - max(depots - 1, 0), 0)
    overload = _loads(instances.demand, stop_MN, tour_MN < depots) > instances.capacity[:, None]
    _refuse(overload, instances, "overloads a vehicle")
    return _costs(instances, stop_MN)


def _refuse(wrong_MN: np.ndarray, instances: InstanceSet, fault: str) -> None:
    if wrong_MN.any():
        row = int(np.argmax(wrong_MN.any(axis=1)))
        raise RuntimeError(f"the solution found for {instances.name}[{instances.numbers[row]}] {fault}")


def _loads(demand_MN: IntArray, stop_MN: IntArray, at_depot_MN: np.ndarray) -> IntArray:
    """The load of each route: a tour is cut before every depot, and what precedes the first ends the last route."""
    rows, length = stop_MN.shape
    route_MN = np.cumsum(at_depot_MN, axis=1)
    last_M1 = route_MN[:, -1:]
    route_MN = np.where(route_MN == 0, last_M1, route_MN)
    load_MR = np.zeros((rows, length + 1), dtype=np.int64)
    np.add.at(load_MR, (np.arange(rows)[:, None], route_MN), np.take_along_axis(demand_MN, stop_MN, axis=1))
    return load_MR


def _costs(instances: InstanceSet, stop_MN: IntArray) -> FloatArray:
    onward_MN = np.roll(stop_MN, -1, axis=1)
    row_M1 = np.arange(len(instances))[:, None]
    if instances.rule == "euclidean":
        legs = instances.coordinates[row_M1, stop_MN] - instances.coordinates[row_M1, onward_MN]
        return np.asarray(np.sqrt((legs**2).sum(axis=2)).sum(axis=1))
    lengths = [pairwise(instances.rule, points) for points in instances.coordinates]
    return np.array([d[here, there].sum() for d, here, there in zip(lengths, stop_MN, onward_MN, strict=True)])
