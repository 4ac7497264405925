"""Tours of a batch costed again in float64 by plain PyTorch, sharing nothing with the search that made them."""

import torch
from torch import Tensor

from dact.problems import Batch


def recost(batch: Batch, tour_BN: Tensor) -> Tensor:
    """(B,) costs; a tour that is no solution is a bug of ours and raises."""
    node_N = torch.arange(batch.length, device=batch.device)
    _refuse((tour_BN.sort(1).values != node_N).any(1), "does not visit every node once")
    if batch.depots:
        _refuse((_loads(batch, tour_BN) > batch.capacity_B.unsqueeze(1)).any(1), "overloads a vehicle")
    onward_BN = tour_BN.roll(-1, dims=1)
    row_B1 = torch.arange(batch.rows, device=batch.device).unsqueeze(1)
    if batch.distance_INN is not None and batch.matrix_B is not None:
        own_BN: Tensor = batch.distance_INN[batch.matrix_B.unsqueeze(1), tour_BN, onward_BN]
        return own_BN.double().sum(1)
    point_BN2 = batch.coordinates_BN2.double()
    leg_BN: Tensor = torch.linalg.vector_norm(point_BN2[row_B1, tour_BN] - point_BN2[row_B1, onward_BN], dim=2)
    return batch.scale_B.double() * leg_BN.sum(1)


def _loads(batch: Batch, tour_BN: Tensor) -> Tensor:
    """(B, depots + 1): a tour is cut before every depot, and what precedes the first ends the last route."""
    route_BN = (tour_BN < batch.depots).cumsum(1)
    route_BN = torch.where(route_BN == 0, route_BN[:, -1:], route_BN)
    load_BR = torch.zeros(batch.rows, batch.depots + 1, dtype=torch.int64, device=batch.device)
    return load_BR.scatter_add(1, route_BN, batch.demand_BN.gather(1, tour_BN).long())


def _refuse(wrong_B: Tensor, fault: str) -> None:
    if wrong_B.any():
        raise RuntimeError(f"the solution found for row {int(wrong_B.int().argmax())} {fault}")
