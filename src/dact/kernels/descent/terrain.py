"""Builds a Terrain from coordinates or matrices: neighbour lists and least gains."""

import numpy as np
import torch
from torch import Tensor

from dact.kernels.descent.job import LEAST_GAIN, Terrain
from dact.kernels.descent.nearest import nearest_in_plane

CHUNK = 2**24
"""Distances that are held at a time while neighbours are found."""
FEW = 500
"""Up to so many nodes all pairs are looked at in the plane as well."""
SORTED = 4_000
"""Up to so many nodes all distances of a node are sorted; beyond that only those of the nearest ones."""
EXACT = 2**24
"""Whole numbers below this are exact in float32."""


def make_terrain(
    coordinates_IN2: Tensor,
    demand_IN: Tensor,
    capacity_I: Tensor,
    depots: int,
    *,
    neighbours: int,
    start_cost_I: Tensor,
    distance_MNN: Tensor | None = None,
    matrix_I: Tensor | None = None,
) -> Terrain:
    """Descents over the `neighbours` nearest customers of each node; 0 stands for all.

    `start_cost_I` are costs of starts, in the units of the matrices or coordinates. If all lengths are whole numbers,
    and gains exact, any positive gain counts; otherwise at least about a millionth of the cost.
    """
    device, instances = coordinates_IN2.device, len(coordinates_IN2)
    if distance_MNN is None or matrix_I is None:
        distance_MNN, matrix_I = None, torch.zeros(instances, dtype=torch.int32, device=device)
    customers = coordinates_IN2.shape[1] - depots
    kept = min(neighbours, customers - 1)
    least_I, one_way_I = LEAST_GAIN / 2 * start_cost_I, torch.zeros(instances, dtype=torch.bool, device=device)
    if distance_MNN is not None:
        exact_M, one_way_M = _looked_over(distance_MNN)
        least_I = torch.where(exact_M[matrix_I.long()], 0.5, least_I)
        one_way_I = one_way_M[matrix_I.long()]
    return Terrain(
        xy_IN2=coordinates_IN2.float().contiguous() if distance_MNN is None else None,
        distance_MNN=None if distance_MNN is None else distance_MNN.float().contiguous(),
        matrix_I=matrix_I.int().contiguous(),
        one_way_I=one_way_I.int(),
        demand_IN=demand_IN.int().contiguous(),
        capacity_I=capacity_I.int().contiguous(),
        near_INK=_nearest(coordinates_IN2, distance_MNN, matrix_I, depots, kept),
        least_I=least_I.float().contiguous(),
        depots=depots,
        asymmetric=distance_MNN is not None and bool(one_way_I.any()),
    )


def _looked_over(distance_MNN: Tensor) -> tuple[Tensor, Tensor]:
    """(M,) bool twice: are gains exact, being sums of whole numbers so small that float32 rounds none of them; and do
    directions differ?"""
    matrices, nodes, _ = distance_MNN.shape
    whole_M, one_way_M = distance_MNN.new_ones(matrices, dtype=torch.bool), distance_MNN.new_zeros(matrices).bool()
    longest_M, turned_M = distance_MNN.new_zeros(matrices), distance_MNN.new_zeros(matrices)
    rows = max(1, CHUNK // (matrices * nodes))
    for top in range(0, nodes, rows):
        there_MRN = distance_MNN[:, top : top + rows]
        more_MRN = there_MRN - distance_MNN[:, :, top : top + rows].transpose(1, 2)
        whole_M &= (there_MRN == there_MRN.round()).flatten(1).all(1)
        one_way_M |= (more_MRN != 0).flatten(1).any(1)
        longest_M = torch.maximum(longest_M, there_MRN.abs().flatten(1).amax(1))
        turned_M += more_MRN.clamp(min=0).amax(2).sum(1)
    # A gain adds up to four edges, and the extra cost of reversed stretches.
    return whole_M & (4 * longest_M + turned_M < EXACT), one_way_M


def _nearest(
    coordinates_IN2: Tensor, distance_MNN: Tensor | None, matrix_I: Tensor, depots: int, neighbours: int
) -> Tensor:
    """(I, N, K) uint16: customers, nearest first; by matrices in the shorter of the two directions."""
    instances, nodes, _ = coordinates_IN2.shape
    if neighbours < 1:
        return torch.zeros(instances, nodes, 0, dtype=torch.uint16, device=coordinates_IN2.device)
    if distance_MNN is None and nodes > FEW and coordinates_IN2.device.type == "cpu":
        lists_I = [nearest_in_plane(points.double().numpy(), depots, neighbours) for points in coordinates_IN2]
        return torch.from_numpy(np.stack(lists_I).astype(np.uint16))
    rows, step = max(1, CHUNK // nodes), max(1, CHUNK // nodes**2)
    parts = []
    for first in range(0, instances, step):
        part = slice(first, first + step)
        points, matrix_J = coordinates_IN2[part].double(), matrix_I[part].long()
        lists = []
        for top in range(0, nodes, rows):
            some = slice(top, top + rows)
            if distance_MNN is None:
                x_JRN, y_JRN = (points[:, some, None, axis] - points[:, None, :, axis] for axis in (0, 1))
                apart_JRN = x_JRN.square_().add_(y_JRN.square_()).sqrt_()
            else:
                back_JRN = distance_MNN[matrix_J, :, some].transpose(1, 2)
                apart_JRN = torch.minimum(distance_MNN[matrix_J, some], back_JRN)
            apart_JRN[:, :, :depots] = torch.inf
            apart_JRN.diagonal(offset=top, dim1=1, dim2=2).fill_(torch.inf)
            lists.append(_least(apart_JRN, neighbours))
        parts.append(torch.cat(lists, dim=1))
    return torch.cat(parts).contiguous()


def _least(apart_JRN: Tensor, count: int) -> Tensor:
    """(J, R, K) uint16: the nodes at the least distances, of equal ones the lowest number."""
    if apart_JRN.shape[2] <= SORTED:
        # A stable sort, so that ties are broken in the same way on every device.
        return apart_JRN.sort(dim=2, stable=True).indices[:, :, :count].to(torch.uint16)
    some = min(4 * count + 16, apart_JRN.shape[2])
    node_JRC = apart_JRN.topk(some, dim=2, largest=False, sorted=False).indices.sort(dim=2).values
    order_JRC = apart_JRN.gather(2, node_JRC).sort(dim=2, stable=True).indices[:, :, :count]
    return node_JRC.gather(2, order_JRC).to(torch.uint16)
