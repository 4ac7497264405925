"""Building feasible routes: packing vehicles, and visiting customers in the order of a key."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from dact.problems.base import Batch


class FleetError(RuntimeError):
    """No routes within the limit on vehicles were found in time; they may exist nevertheless."""


def first_fit_decreasing(demand_MC: NDArray[np.int64], capacity_M: NDArray[np.int64]) -> NDArray[np.int64]:
    """(M, C): the vehicle of each customer, largest demands first, each into the first vehicle with room."""
    rows, customers = demand_MC.shape
    order_MC = np.argsort(-demand_MC, axis=1, kind="stable")
    row_M = np.arange(rows)
    room_MV = np.repeat(capacity_M[:, None], max(customers, 1), axis=1)
    vehicle_MC = np.zeros((rows, customers), dtype=np.int64)
    used = 1
    for rank in range(customers):
        customer_M = order_MC[:, rank]
        demand_M = demand_MC[row_M, customer_M]
        first_M = np.argmax(room_MV[:, :used] >= demand_M[:, None], axis=1)
        fits_M = room_MV[row_M, first_M] >= demand_M
        if not fits_M.all():
            first_M = np.where(fits_M, first_M, used)
            used += 1
        room_MV[row_M, first_M] -= demand_M
        vehicle_MC[row_M, customer_M] = first_M
    return vehicle_MC


def tour_of(routes: Sequence[Sequence[int]], depots: int) -> list[int]:
    """The tour that drives the routes (customers 1..n) in turn, unused depots at the end."""
    if len(routes) > depots:
        raise ValueError(f"{len(routes)} routes do not fit into {depots} depots")
    tour: list[int] = []
    for depot, route in enumerate(routes):
        tour += [depot, *(depots - 1 + customer for customer in route)]
    return tour + list(range(len(routes), depots))


def routes_by_key(batch: Batch, key: Callable[[Tensor], Tensor]) -> Tensor:
    """Build tours: from node `here_B1` to the customer with the smallest `key(here_B1)_BN` that fits, to the depot if
    none fits.

    Rows that would need more routes than there are depots are packed first-fit decreasing instead.
    """
    rows, size, device = batch.rows, batch.length, batch.device
    tour_BN = torch.zeros(rows, size, dtype=torch.long, device=device)
    open_BN = (torch.arange(size, device=device) >= batch.depots).repeat(rows, 1)
    room_B1 = batch.capacity_B.unsqueeze(1).clone()
    depot_B1 = torch.zeros(rows, 1, dtype=torch.long, device=device)
    for place in range(1, size):
        fits_BN = open_BN & (batch.demand_BN <= room_B1)
        key_BN = key(tour_BN[:, place - 1 : place]).masked_fill(~fits_BN, torch.inf)
        goes_on_B1 = fits_BN.any(1, keepdim=True)
        depot_B1 = torch.where(goes_on_B1, depot_B1, depot_B1 + 1)
        # A depot index beyond the last marks a row that has run out of depots.
        node_B1 = torch.where(goes_on_B1, key_BN.argmin(1, keepdim=True), depot_B1.clamp(max=batch.depots - 1))
        tour_BN[:, place : place + 1] = node_B1
        open_BN = open_BN.scatter(1, node_B1, False)
        room_B1 = torch.where(goes_on_B1, room_B1 - batch.demand_BN.gather(1, node_B1), batch.capacity_B.unsqueeze(1))
    return repacked(batch, tour_BN, open_BN.any(1))


def repacked(batch: Batch, tour_BN: Tensor, short_B: Tensor) -> Tensor:
    """Repack rows that have run out of depots; FleetError names the first that cannot be packed."""
    for row in short_B.nonzero().flatten().tolist():
        demand_C = batch.demand_BN[row, batch.depots :].cpu().numpy().astype(np.int64)
        vehicle_C = first_fit_decreasing(demand_C[None], batch.capacity_B[row : row + 1].cpu().numpy())[0]
        count = int(vehicle_C.max()) + 1
        if count > batch.depots:
            raise FleetError(f"row {row} needs {count} vehicles but the batch has {batch.depots} depots")
        routes = [(np.flatnonzero(vehicle_C == vehicle) + 1).tolist() for vehicle in range(count)]
        tour_BN[row] = torch.tensor(tour_of(routes, batch.depots), device=batch.device)
    return tour_BN
