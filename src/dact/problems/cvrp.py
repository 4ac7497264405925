"""The capacitated vehicle routing problem (Appendix D.2).

The depot is repeated: nodes 0 .. D - 1 of a tour are copies of it, D being the most routes a solution may have,
and customer c of the instance is node D - 1 + c.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn

from dact.instances import Instance, InstanceSet, capacity_for
from dact.kernels.pick_move.moves import close_idle
from dact.kernels.row_draws import many_draws
from dact.kernels.tour_view import CAPACITY, tour_view
from dact.operators import Operator, two_opt
from dact.problems import capacity, construct, distributions, nearest
from dact.problems.base import Batch
from dact.problems.distributions import UNIFORM, InstanceConfig
from dact.problems.loads import searched_loads
from dact.problems.unit_square import instance_points, set_points


def depots_for(
    demand_MN: NDArray[np.int64], capacity_M: NDArray[np.int64], routes_needed: int = 0, preferred: int = 0
) -> int:
    """Number of depots: the preferred if that leaves a packing two spare vehicles, otherwise the paper's for its sizes
    and a quarter more than a packing needs for others.

    One more than `routes_needed`, so that a given start still has a free vehicle. Never more than one per
    customer and one spare, never fewer than two.
    """
    customers = demand_MN.shape[1] - 1
    packed = int(construct.first_fit_decreasing(demand_MN[:, 1:], capacity_M).max()) + 1
    usual = 10 if customers <= 20 else 20
    roomy = preferred if preferred > packed else max(usual, -(-packed * 5 // 4) + 2)
    return int(max(2, min(max(roomy, routes_needed + 1), customers + 1)))


def _batch(
    points_BN2: Tensor, scale_B: Tensor, demand_BN: Tensor, capacity_B: Tensor, depots: int, distance_INN: Tensor | None
) -> Batch:
    """Add depots - 1 copies of node 0 to arrays that have the depot once."""
    rows, device = points_BN2.shape[0], points_BN2.device
    source_N = torch.arange(points_BN2.shape[1] + depots - 1, device=device).sub(depots - 1).clamp(min=0)
    return Batch(
        coordinates_BN2=points_BN2[:, source_N],
        scale_B=scale_B,
        demand_BN=demand_BN[:, source_N].int(),
        capacity_B=capacity_B.int(),
        depots=depots,
        distance_INN=None if distance_INN is None else distance_INN[:, source_N[:, None], source_N],
        matrix_B=None if distance_INN is None else torch.arange(rows, device=device),
    )


def _draw_kool(config: InstanceConfig, size: int, count: int, generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
    device = generator.device
    points_BN2 = torch.rand(count, size + 1, 2, generator=generator, device=device)
    demand_BN = torch.randint(1, 10, (count, size + 1), generator=generator, device=device)
    demand_BN[:, 0] = 0
    return points_BN2, demand_BN, torch.full((count,), capacity_for(size), device=device)


def _draw_other(config: InstanceConfig, size: int, count: int, generator: Generator) -> tuple[Tensor, Tensor, Tensor]:
    customer_BN2 = distributions.draw_points(config, count, size, generator)
    points_BN2 = torch.cat((distributions.draw_depot(config, count, generator), customer_BN2), dim=1)
    demand_BN = distributions.draw_demand(config, customer_BN2, generator)
    if config.capacity == "routes":
        room_B = distributions.draw_capacity(config, demand_BN, generator)
    else:
        room_B = torch.full((count,), capacity_for(size), device=generator.device)
    return points_BN2, nn.functional.pad(demand_BN, (1, 0)), room_B


@dataclass(frozen=True)
class Cvrp:
    """Serve every customer once with vehicles of equal capacity that start and end at the depot."""

    name: str = "cvrp"
    features: int = 7
    view: str | None = CAPACITY
    idle: bool = True
    """Allow 2-opt moves that change no route."""
    preferred_depots: int = 0
    """Depots in a tour where they are enough; 0: the paper's number."""

    def collate(self, instances: Sequence[Instance], routes_needed: int = 0) -> Batch:
        """One row per instance; costs by each instance's own rule."""
        demand_MN = np.stack([instance.demand for instance in instances])
        capacity_M = np.array([instance.capacity for instance in instances])
        demand_MN, capacity_M = searched_loads(demand_MN, capacity_M, [instance.name for instance in instances])
        points, scale, distance = instance_points(instances)
        depots = max(self._depots(instance, routes_needed) for instance in instances)
        return _batch(points, scale, torch.from_numpy(demand_MN), torch.from_numpy(capacity_M), depots, distance)

    def collate_set(self, instances: InstanceSet) -> Batch:
        """One row per instance of a set; Euclidean costs unless the set has another rule."""
        if instances.rule != "euclidean":
            return self.collate(list(instances))
        depots = depots_for(instances.demand, instances.capacity, preferred=self.preferred_depots)
        demand, room = (torch.from_numpy(x.copy()) for x in searched_loads(instances.demand, instances.capacity))
        return _batch(*set_points(instances), demand, room, depots, None)

    def tour_length(self, instance: Instance, routes_needed: int = 0) -> int:
        """Customers and depots."""
        return instance.size - 1 + self._depots(instance, routes_needed)

    def sample(self, size: int, count: int, generator: Generator, config: InstanceConfig = UNIFORM) -> Batch:
        """By default Kool's distribution: nodes uniform in the unit square, demands uniform in 1..9."""
        draw = _draw_kool if config.as_usual else _draw_other
        points_BN2, demand_BN, room_B = draw(config, size, count, generator)
        scale_B = torch.ones(count, device=generator.device)
        return _batch(points_BN2, scale_B, demand_BN, room_B, config.depots(size), None)

    def random_start(self, batch: Batch, stream_B: Tensor) -> Tensor:
        """Customers in random order; a vehicle goes home when no unserved customer fits."""
        key_BN = many_draws(stream_B, batch.length)
        return construct.routes_by_key(batch, lambda here_B1: key_BN)

    def greedy_start(self, batch: Batch) -> Tensor:
        """Always to the nearest unserved customer that fits; home when none does."""
        if nearest.suits(batch):
            return construct.repacked(batch, *nearest.nearest_tours(batch))
        return construct.routes_by_key(batch, batch.distance_from)

    def given_start(self, batch: Batch, routes: Sequence[Sequence[Sequence[int]]]) -> Tensor:
        """Route k starts at depot k; unused depots stand at the end."""
        return torch.tensor([construct.tour_of(row, batch.depots) for row in routes], device=batch.device)

    def node_features(self, batch: Batch, tour_BN: Tensor) -> Tensor:
        """Coordinates, legs and loads: see `dact.kernels.tour_view`."""
        return tour_view(tour_BN, batch, CAPACITY)[0]

    def allowed_moves(self, batch: Batch, tour_BN: Tensor, operator: Operator) -> Tensor | None:
        """Moves that overload no vehicle: by a closed form where there is one, else by trial."""
        closed_form = capacity.CLOSED_FORMS.get(operator)
        feasible_BNN = closed_form(batch, tour_BN) if closed_form else capacity.by_trial(batch, tour_BN, operator)
        return feasible_BNN if self.idle or operator is not two_opt else close_idle(feasible_BNN, tour_BN, batch.depots)

    def with_idle_moves(self, idle: bool) -> "Cvrp":
        """The same with or without moves that change no route."""
        return replace(self, idle=idle)

    def with_depots(self, depots: int) -> "Cvrp":
        """The same with this number of depots in a tour, where they are enough."""
        return replace(self, preferred_depots=depots)

    def routes(self, batch: Batch, tour_N: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """The customers between depots."""
        routes: list[list[int]] = []
        for node in tour_N:
            if node < batch.depots:
                routes.append([])
            else:
                routes[-1].append(node - batch.depots + 1)
        return tuple(tuple(route) for route in routes if route)

    def _depots(self, instance: Instance, routes_needed: int) -> int:
        room_M = np.array([instance.capacity])
        depots = depots_for(instance.demand[None], room_M, routes_needed, self.preferred_depots)
        return min(depots, instance.vehicles) if instance.vehicles else depots
