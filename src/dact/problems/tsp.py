"""The travelling salesman problem (Appendix D.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor

from dact import tours
from dact.instances import Instance, InstanceSet
from dact.kernels.pick_move.moves import close_idle
from dact.kernels.row_draws import many_draws
from dact.kernels.tour_view import COORDINATES, tour_view
from dact.operators import Operator, two_opt
from dact.problems import nearest
from dact.problems.base import Batch
from dact.problems.distributions import UNIFORM, InstanceConfig, draw_points
from dact.problems.unit_square import instance_points, set_points


def _batch(points_BN2: Tensor, scale_B: Tensor, distance_INN: Tensor | None) -> Batch:
    rows, size, device = points_BN2.shape[0], points_BN2.shape[1], points_BN2.device
    return Batch(
        coordinates_BN2=points_BN2,
        scale_B=scale_B,
        demand_BN=torch.zeros(rows, size, dtype=torch.int32, device=device),
        capacity_B=torch.zeros(rows, dtype=torch.int32, device=device),
        distance_INN=distance_INN,
        matrix_B=None if distance_INN is None else torch.arange(rows, device=device),
    )


@dataclass(frozen=True)
class Tsp:
    """Visit every node once and return."""

    name: str = "tsp"
    features: int = 2
    view: str | None = COORDINATES
    idle: bool = True
    """Allow 2-opt moves that change nothing."""

    def collate(self, instances: Sequence[Instance], routes_needed: int = 0) -> Batch:
        """One row per instance; costs by each instance's own rule."""
        return _batch(*instance_points(instances))

    def collate_set(self, instances: InstanceSet) -> Batch:
        """One row per instance of a set; Euclidean costs unless the set has another rule."""
        if instances.rule != "euclidean":
            return self.collate(list(instances))
        return _batch(*set_points(instances), None)

    def tour_length(self, instance: Instance, routes_needed: int = 0) -> int:
        """One position per node."""
        return instance.size

    def sample(self, size: int, count: int, generator: Generator, config: InstanceConfig = UNIFORM) -> Batch:
        """Nodes in the unit square."""
        if config.vehicles:
            raise ValueError("instances.depot, demand, capacity and most_routes do not go with tsp: it has no vehicles")
        points_BN2 = draw_points(config, count, size, generator)
        return _batch(points_BN2, torch.ones(count, device=generator.device), None)

    def random_start(self, batch: Batch, stream_B: Tensor) -> Tensor:
        """A uniformly random order per row."""
        key_BN = many_draws(stream_B, batch.length)
        return tours.anchor(key_BN.argsort(1))

    def greedy_start(self, batch: Batch) -> Tensor:
        """From node 0 always to the nearest node not yet visited."""
        if nearest.suits(batch):
            return nearest.nearest_tours(batch)[0]
        tour_BN = torch.zeros(batch.rows, batch.length, dtype=torch.long, device=batch.device)
        visited_BN = torch.zeros_like(tour_BN, dtype=torch.bool)
        visited_BN[:, 0] = True
        for place in range(1, batch.length):
            reach_BN = batch.distance_from(tour_BN[:, place - 1 : place]).masked_fill_(visited_BN, torch.inf)
            nearest_B1 = reach_BN.argmin(1, keepdim=True)
            tour_BN[:, place : place + 1] = nearest_B1
            visited_BN.scatter_(1, nearest_B1, True)
        return tour_BN

    def given_start(self, batch: Batch, routes: Sequence[Sequence[Sequence[int]]]) -> Tensor:
        """The one route of each row."""
        return tours.anchor(torch.tensor([list(row[0]) for row in routes], device=batch.device))

    def node_features(self, batch: Batch, tour_BN: Tensor) -> Tensor:
        """The coordinates."""
        return tour_view(tour_BN, batch, COORDINATES)[0]

    def allowed_moves(self, batch: Batch, tour_BN: Tensor, operator: Operator) -> Tensor | None:
        """Every order of the nodes is a tour."""
        return None if self.idle or operator is not two_opt else close_idle(None, tour_BN, batch.depots)

    def with_idle_moves(self, idle: bool) -> "Tsp":
        """The same with or without moves that change nothing."""
        return replace(self, idle=idle)

    def with_depots(self, depots: int) -> "Tsp":
        """The same: there are no depots."""
        return self

    def routes(self, batch: Batch, tour_N: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """The tour itself."""
        return (tuple(tour_N),)
