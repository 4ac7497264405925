"""Positions, loads and routes of tours, as the references in plain PyTorch look them up.

Shape letters: R rows, N positions, D routes, X any shape.
"""

import torch
from torch import Tensor

from dact.kernels.descent.job import Terrain


class View:
    """Positions, loads and routes of tours, for the rules of moves."""

    def __init__(self, terrain: Terrain, tour_RN: Tensor, source_R: Tensor) -> None:
        self.terrain, self.source_R, self.tour_RN = terrain, source_R.long(), tour_RN.long()
        self.size = tour_RN.shape[1]
        place_RN = torch.arange(self.size, device=tour_RN.device).expand_as(tour_RN)
        self.position_RN = torch.empty_like(self.tour_RN).scatter_(1, self.tour_RN, place_RN)
        # Twice around, so that no stretch is split at the end of the tour.
        here_RN, there_RN = self.tour_RN.repeat(1, 2), self.tour_RN.roll(-1, dims=1).repeat(1, 2)
        self.backwards_RN = _running_sum(self.length(there_RN, here_RN) - self.length(here_RN, there_RN))
        if terrain.depots:
            self._find_routes()

    def _find_routes(self) -> None:
        depot_RN = self.tour_RN < self.terrain.depots
        self.route_RN = depot_RN.long().cumsum(1) - 1
        self.start_RD = depot_RN.long().argsort(dim=1, descending=True, stable=True)[:, : self.terrain.depots]
        self.end_RD = torch.cat((self.start_RD[:, 1:], torch.full_like(self.start_RD[:, :1], self.size)), dim=1)
        demand_RN = self.terrain.demand_IN[self.source_R].long().gather(1, self.tour_RN)
        self.served_RN = _running_sum(demand_RN)

    def node(self, place_RX: Tensor) -> Tensor:
        """The node at a place."""
        return take(self.tour_RN, place_RX % self.size)

    def length(self, from_RX: Tensor, to_RX: Tensor) -> Tensor:
        """float64 of the float32 lengths that all forms see."""
        source_RX = self.source_R.view(-1, *(1,) * (from_RX.dim() - 1))
        if self.terrain.distance_MNN is not None:
            return self.terrain.distance_MNN[self.terrain.matrix_I.long()[source_RX], from_RX, to_RX].double()
        assert self.terrain.xy_IN2 is not None
        step_RX2 = self.terrain.xy_IN2[source_RX, from_RX] - self.terrain.xy_IN2[source_RX, to_RX]
        return step_RX2.square().sum(-1).sqrt().double()

    def turning(self, first_RX: Tensor, count_RX: Tensor) -> Tensor:
        """Extra cost of a stretch in reverse."""
        first_RX = first_RX % self.size
        last_RX = first_RX + (count_RX - 1).clamp(min=0)
        return take(self.backwards_RN, last_RX) - take(self.backwards_RN, first_RX)

    def route(self, place_RX: Tensor) -> Tensor:
        """The number of the route that passes there."""
        return take(self.route_RN, place_RX)

    def start(self, route_RX: Tensor) -> Tensor:
        """Place of its depot."""
        return take(self.start_RD, route_RX)

    def end(self, route_RX: Tensor) -> Tensor:
        """The place after its last customer."""
        return take(self.end_RD, route_RX)

    def load(self, first_RX: Tensor, behind_RX: Tensor) -> Tensor:
        """Total demand at the places from `first` to just before `behind`."""
        return take(self.served_RN, behind_RX) - take(self.served_RN, first_RX)


def take(values_RN: Tensor, place_RX: Tensor) -> Tensor:
    """Each row's values at places of its own."""
    return values_RN.gather(1, place_RX.flatten(1)).view_as(place_RX)


def _running_sum(values_RN: Tensor) -> Tensor:
    """(R, N + 1): sums of the values before each place."""
    return torch.nn.functional.pad(values_RN.cumsum(1), (1, 0))
