"""Random instances for training: uniform ones as in the paper, and others for generalisation.

Depots, clusters, demands and capacities follow the generator of the X instances (Uchoa et al., 2017), in the unit
square instead of their grid of 1000 x 1000. Everything is drawn on the generator's device, without synchronisation.
Shape letters: B rows, N nodes, C clusters, T tries.
"""

import math
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Generator, Tensor

from dact.instances import capacity_for
from dact.instances.limits import MAX_NODES

NODES = ("uniform", "clustered", "mixed")
DEPOTS = ("uniform", "centre", "corner")
DEMANDS: dict[str, tuple[int, int]] = {
    "kool": (1, 9),
    "unit": (1, 1),
    "1-10": (1, 10),
    "5-10": (5, 10),
    "1-100": (1, 100),
    "50-100": (50, 100),
    "quadrant": (1, 50),
    "many-small": (1, 10),
}
"""Smallest and largest demand. The large demands of `quadrant` and `many-small` are drawn separately."""
CAPACITIES = ("kool", "routes")
ANY = "any"
MOST_BANDS = 16
MOST_CLUSTERS = 8
CLUSTER_WIDTH = 0.04
"""Density falls as exp(-distance / width) around a seed."""
TRIES = 6
DEPOT_ROOM = 1.4
"""Depots per route of average length: packing wastes some capacity, and a search needs spare vehicles."""


@dataclass(frozen=True, kw_only=True)
class InstanceConfig:
    """What instances look like. The defaults are the paper's; `any` draws a kind for each instance."""

    nodes: str = "uniform"
    """`uniform`, `clustered` around 3 to 8 seeds, or `mixed`: about half of them clustered."""
    depot: str = "uniform"
    """`uniform`, in the `centre`, or in a `corner`."""
    demand: str = "kool"
    """`kool` (1-9), `unit`, `1-10`, `5-10`, `1-100`, `50-100`, `quadrant` (1-50 in two opposite quadrants, 51-100 in
    the others) or `many-small` (most 1-10, a few 50-100). `any` leaves out `kool`."""
    capacity: str = "kool"
    """`kool`: by the size alone; `routes`: such that a full route has so many customers on average."""
    route_low: float = 3.0
    route_mode: float = 6.0
    route_high: float = 25.0
    """Customers on a full route, drawn for each instance from this triangular distribution."""
    route_from: float = 0.0
    route_to: float = 1.0
    """Only the routes between these shares of the distribution: 0 to 0.5 are the shorter half."""
    bands: int = 1
    """So many equal parts of the routes, which batches have in turn. A batch needs depots for its shortest routes, and
    with one band nearly all instances have far more than they would have in a search of their own."""
    most_routes: int = 0
    """Depots in a tour; 0: the paper's number where that is enough. Fewer make tours shorter, and training faster."""

    def __post_init__(self) -> None:
        choices = {"nodes": NODES, "depot": DEPOTS, "demand": tuple(DEMANDS), "capacity": CAPACITIES}
        for name, known in choices.items():
            allowed = known if name == "capacity" else (*known, ANY)
            if getattr(self, name) not in allowed:
                raise ValueError(f"instances.{name} '{getattr(self, name)}' is not one of {', '.join(allowed)}")
        if not 2 <= self.route_low <= self.route_mode <= self.route_high or self.route_low == self.route_high:
            raise ValueError(
                f"instances.route_low, route_mode and route_high are {self.route_low:g}, {self.route_mode:g} and "
                f"{self.route_high:g}, but must rise from 2 or more"
            )
        if not 0 <= self.route_from < self.route_to <= 1:
            ends = f"{self.route_from:g} and {self.route_to:g}"
            raise ValueError(f"instances.route_from and route_to are {ends}, but must rise, within 0 and 1")
        if not 1 <= self.bands <= MOST_BANDS:
            raise ValueError(f"instances.bands {self.bands} is not between 1 and {MOST_BANDS}")
        if self.capacity == "kool" and (self.route_from, self.route_to, self.bands) != (0, 1, 1):
            raise ValueError("instances.route_from, route_to and bands need instances.capacity 'routes'")
        if self.bands > 1 and self.most_routes:
            raise ValueError(
                f"instances.bands {self.bands} goes with most_routes = 0, not with {self.most_routes}: each band has "
                "the depots that it needs"
            )
        if not 0 <= self.most_routes <= MAX_NODES:
            fault = "negative" if self.most_routes < 0 else f"above {MAX_NODES}"
            raise ValueError(f"instances.most_routes {self.most_routes} is {fault}")
        if self.capacity == "kool" and self.demand not in ("kool", "unit", "1-10", "5-10"):
            raise ValueError(f"instances.demand '{self.demand}' needs instances.capacity 'routes'")

    @property
    def as_usual(self) -> bool:
        """Is it the paper's distribution, apart from the number of depots?"""
        return replace(self, most_routes=0) == UNIFORM

    @property
    def vehicles(self) -> bool:
        """Is a setting used that only problems with vehicles have?"""
        return (self.depot, self.demand, self.capacity, self.most_routes) != ("uniform", "kool", "kool", 0)

    def each_band(self) -> "tuple[InstanceConfig, ...]":
        """The config of every band."""
        width = (self.route_to - self.route_from) / self.bands
        ends = [self.route_from + place * width for place in range(self.bands)] + [self.route_to]
        return tuple(replace(self, route_from=low, route_to=high, bands=1) for low, high in pairwise(ends))

    def depots(self, customers: int) -> int:
        """Depots that suffice for all instances of a size: those asked for, or the paper's number."""
        if self.capacity == "routes":
            shortest = float(_route(self, torch.tensor(self.route_from)))
            needed, usual = math.ceil(DEPOT_ROOM * customers / shortest) + 2, 0
        else:
            demand = sum(DEMANDS[self.demand]) / 2
            needed = math.ceil(DEPOT_ROOM * customers * demand / capacity_for(customers)) + 2
            usual = 10 if customers <= 20 else 20
        needed = min(needed, customers + 1)
        if 0 < self.most_routes < needed:
            raise ValueError(
                f"instances.most_routes {self.most_routes} is below the {needed} that {customers} customers may need"
            )
        return min(self.most_routes or max(usual, needed), customers + 1)


UNIFORM = InstanceConfig()


def draw_points(config: InstanceConfig, rows: int, size: int, generator: Generator) -> Tensor:
    """(B, N, 2) in the unit square."""
    uniform_BN2 = torch.rand(rows, size, 2, generator=generator, device=generator.device)
    if config.nodes == "uniform":
        return uniform_BN2
    kind_B1 = _kind(config.nodes, NODES, rows, generator).unsqueeze(1)
    coin_BN = torch.rand(rows, size, generator=generator, device=generator.device) < 0.5
    near_BN = (kind_B1 == NODES.index("clustered")) | ((kind_B1 == NODES.index("mixed")) & coin_BN)
    return torch.where(near_BN.unsqueeze(2), _clustered(rows, size, generator), uniform_BN2)


def draw_depot(config: InstanceConfig, rows: int, generator: Generator) -> Tensor:
    """(B, 1, 2) in the unit square; each of the four corners is as likely as the others."""
    point_B2 = torch.rand(rows, 2, generator=generator, device=generator.device)
    kind_B1 = _kind(config.depot, DEPOTS, rows, generator).unsqueeze(1)
    point_B2 = torch.where(kind_B1 == DEPOTS.index("centre"), 0.5, point_B2)
    return torch.where(kind_B1 == DEPOTS.index("corner"), point_B2.round(), point_B2).unsqueeze(1)


def draw_demand(config: InstanceConfig, points_BN2: Tensor, generator: Generator) -> Tensor:
    """(B, N) integers for customers at these points."""
    rows, size = points_BN2.shape[:2]
    device = generator.device
    names = tuple(DEMANDS)
    kind_B1 = _kind(config.demand, names, rows, generator, first=1).unsqueeze(1)
    low_BN, high_BN = torch.ones(2, rows, size, device=device)
    for place, (low, high) in enumerate(DEMANDS.values()):
        low_BN = torch.where(kind_B1 == place, float(low), low_BN)
        high_BN = torch.where(kind_B1 == place, float(high), high_BN)
    odd_BN = (points_BN2[..., 0] < 0.5) == (points_BN2[..., 1] < 0.5)
    second_BN = odd_BN & (kind_B1 == names.index("quadrant"))
    # Between 5 and 30 % of the customers have a large demand, another share in each instance.
    share_B1 = 0.05 + 0.25 * torch.rand(rows, 1, generator=generator, device=device)
    large_BN = torch.rand(rows, size, generator=generator, device=device) < share_B1
    large_BN = large_BN & (kind_B1 == names.index("many-small"))
    low_BN = low_BN.masked_fill(second_BN, 51).masked_fill(large_BN, 50)
    high_BN = high_BN.masked_fill(second_BN | large_BN, 100)
    share_BN = torch.rand(rows, size, generator=generator, device=device)
    # Rounding may lift a share just below 1 to the next integer.
    return torch.minimum((low_BN + share_BN * (high_BN - low_BN + 1)).floor(), high_BN).long()


def draw_capacity(config: InstanceConfig, demand_BN: Tensor, generator: Generator) -> Tensor:
    """(B,) capacities for routes of a length from the triangular distribution; each customer fits a vehicle."""
    share_B = torch.rand(demand_BN.shape[0], generator=generator, device=generator.device)
    route_B = _route(config, config.route_from + share_B * (config.route_to - config.route_from))
    wanted_B = (route_B * demand_BN.float().mean(1)).ceil().long()
    return torch.maximum(wanted_B, demand_BN.amax(1))


def _route(config: InstanceConfig, share_B: Tensor) -> Tensor:
    """(B,) customers on a full route, below which there are these shares of the triangular distribution."""
    low, mode, high = config.route_low, config.route_mode, config.route_high
    rising_B = low + (share_B * (high - low) * (mode - low)).sqrt()
    falling_B = high - ((1 - share_B) * (high - low) * (high - mode)).sqrt()
    return torch.where(share_B < (mode - low) / (high - low), rising_B, falling_B)


def _kind(asked: str, known: tuple[str, ...], rows: int, generator: Generator, first: int = 0) -> Tensor:
    """(B,) places among the known kinds: the one asked for, or any from the `first` on."""
    if asked != ANY:
        return torch.full((rows,), known.index(asked), device=generator.device)
    return torch.randint(first, len(known), (rows,), generator=generator, device=generator.device)


def _clustered(rows: int, size: int, generator: Generator) -> Tensor:
    """Points whose density is the sum of exp(-distance / width) over the seeds, cut off at the square's border."""
    device = generator.device
    seed_BC2 = torch.rand(rows, MOST_CLUSTERS, 2, generator=generator, device=device)
    clusters_B1 = torch.randint(3, MOST_CLUSTERS + 1, (rows, 1), generator=generator, device=device)
    choice_BN = (torch.rand(rows, size, generator=generator, device=device) * clusters_B1).long()
    choice_BN = torch.minimum(choice_BN, clusters_B1 - 1)
    centre_BN2 = seed_BC2.gather(1, choice_BN.unsqueeze(2).expand(-1, -1, 2))
    # With that density in the plane, the radius is the sum of two exponentials.
    share_TBN3 = torch.rand(TRIES, rows, size, 3, generator=generator, device=device)
    radius_TBN = -CLUSTER_WIDTH * (share_TBN3[..., :2].clamp(min=1e-7).log().sum(-1))
    angle_TBN = 2 * math.pi * share_TBN3[..., 2]
    step_TBN2 = radius_TBN.unsqueeze(-1) * torch.stack((angle_TBN.cos(), angle_TBN.sin()), -1)
    point_TBN2 = centre_BN2 + step_TBN2
    inside_TBN = ((point_TBN2 >= 0) & (point_TBN2 <= 1)).all(-1)
    # The first try that lies inside; the rare point without one is pulled to the border.
    chosen_1BN2 = inside_TBN.float().argmax(0).view(1, rows, size, 1).expand(-1, -1, -1, 2)
    return point_TBN2.gather(0, chosen_1BN2).squeeze(0).clamp(0, 1)
