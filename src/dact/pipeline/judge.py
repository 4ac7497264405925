"""Recomputes costs in float64 and checks tours, independently of the search code.

`judge` uses the instances as they were read, with numpy; `recost` uses a batch, for instances that were drawn on the
device.
"""

import math

import numpy as np
import torch
from torch import Tensor

from dact.instances import InstanceSet, facts_of
from dact.instances.arrays import FloatArray, IntArray
from dact.instances.checker import LENGTHS
from dact.problems import Batch


class InfeasibleError(RuntimeError):
    """A search returned an infeasible tour: a bug of DACT, not a mistake of the user."""


def judge(instances: InstanceSet, tour_MN: IntArray, depots: int) -> FloatArray:
    """The cost of every tour; an infeasible tour raises InfeasibleError.

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
        raise InfeasibleError(f"the solution found for {instances.name}[{instances.numbers[row]}] {fault}")


def _loads(demand_MN: IntArray, stop_MN: IntArray, at_depot_MN: np.ndarray) -> IntArray:
    """The load of each route. Routes begin at depots; stops before the first depot belong to the last route."""
    rows, length = stop_MN.shape
    route_MN = np.cumsum(at_depot_MN, axis=1)
    last_M1 = route_MN[:, -1:]
    route_MN = np.where(route_MN == 0, last_M1, route_MN)
    load_MR = np.zeros((rows, length + 1), dtype=np.int64)
    np.add.at(load_MR, (np.arange(rows)[:, None], route_MN), np.take_along_axis(demand_MN, stop_MN, axis=1))
    return load_MR


def _costs(instances: InstanceSet, stop_MN: IntArray) -> FloatArray:
    """By the set's distance rule, with the checker's code and not the search's."""
    onward_MN = np.roll(stop_MN, -1, axis=1)
    ridden_MN = stop_MN != onward_MN
    if not facts_of(instances.problem).returns:
        ridden_MN &= onward_MN != 0
    row_M1 = np.arange(len(instances))[:, None]
    here_MN2, there_MN2 = instances.coordinates[row_M1, stop_MN], instances.coordinates[row_M1, onward_MN]
    if instances.rule == "euclidean":
        return np.asarray((np.sqrt(((here_MN2 - there_MN2) ** 2).sum(axis=2)) * ridden_MN).sum(axis=1))
    length = LENGTHS[instances.rule]
    legs = np.concatenate((here_MN2, there_MN2), axis=2)
    return np.array([math.fsum(length(*leg) for leg in legs[row][ridden_MN[row]].tolist()) for row in range(len(legs))])


def recost(batch: Batch, tour_BN: Tensor) -> Tensor:
    """(B,) costs; an infeasible tour raises InfeasibleError."""
    node_N = torch.arange(batch.length, device=batch.device)
    _refuse_rows((tour_BN.sort(1).values != node_N).any(1), "does not visit every node once")
    if batch.depots:
        _refuse_rows((_batch_loads(batch, tour_BN) > batch.capacity_B.unsqueeze(1)).any(1), "overloads a vehicle")
    onward_BN = tour_BN.roll(-1, dims=1)
    row_B1 = torch.arange(batch.rows, device=batch.device).unsqueeze(1)
    if batch.distance_INN is not None and batch.matrix_B is not None:
        own_BN: Tensor = batch.distance_INN[batch.matrix_B.unsqueeze(1), tour_BN, onward_BN]
        return own_BN.double().sum(1)
    point_BN2 = batch.coordinates_BN2.double()
    leg_BN: Tensor = torch.linalg.vector_norm(point_BN2[row_B1, tour_BN] - point_BN2[row_B1, onward_BN], dim=2)
    return batch.scale_B.double() * leg_BN.sum(1)


def _batch_loads(batch: Batch, tour_BN: Tensor) -> Tensor:
    """(B, depots + 1) loads. Routes begin at depots; stops before the first depot belong to the last route."""
    route_BN = (tour_BN < batch.depots).cumsum(1)
    route_BN = torch.where(route_BN == 0, route_BN[:, -1:], route_BN)
    load_BR = torch.zeros(batch.rows, batch.depots + 1, dtype=torch.int64, device=batch.device)
    return load_BR.scatter_add(1, route_BN, batch.demand_BN.gather(1, tour_BN).long())


def _refuse_rows(wrong_B: Tensor, fault: str) -> None:
    if wrong_B.any():
        raise InfeasibleError(f"the solution found for row {int(wrong_B.int().argmax())} {fault}")
