"""Repairing routes: splitting overloaded ones and inserting customers at the least cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from dact.instances.arrays import IntArray
from dact.instances.errors import InputError, plural
from dact.instances.instance import Instance


class Draft:
    """Routes of instance indices that need not be feasible yet."""

    def __init__(self, instance: Instance, routes: Sequence[Sequence[int]]) -> None:
        self.instance = instance
        self.routes = [list(route) for route in routes if route]

    def split_overloads(self) -> list[str]:
        """Split overloaded routes into the fewest parts at the least cost. Returns a sentence for each."""
        told, routes = [], []
        for number, route in enumerate(self.routes, start=1):
            over = self.instance.facts.capacity and self._load(route) > self.instance.capacity
            parts = self._parts(route) if over else [route]
            if over:
                told.append(f"route {number} was overloaded and split into {len(parts)}")
            routes += parts
        self.routes = routes
        return told

    def insert(self, nodes: Iterable[int], *, new_routes: bool = True) -> None:
        """Insert each node where it is cheapest, possibly as a route of its own."""
        tour = _Tour(self.instance, self.routes, new_routes=new_routes)
        for node in nodes:
            tour.insert(node)
        self.routes = tour.routes()

    def spare_vehicles(self) -> list[str]:
        """Dissolve the least loaded routes until the limit on vehicles is met. Returns a sentence if any were."""
        limit, before = self.instance.vehicles, len(self.routes)
        while limit and len(self.routes) > limit:
            least = min(self.routes, key=self._load)
            self.routes.remove(least)
            self.insert(sorted(least, key=lambda node: -int(self.instance.demand[node])), new_routes=False)
        dissolved = before - len(self.routes)
        return [f"{dissolved} route{'s were' if dissolved > 1 else ' was'} dissolved"] if dissolved else []

    def _load(self, route: list[int]) -> int:
        return int(self.instance.demand[route].sum())

    def _parts(self, route: list[int]) -> list[list[int]]:
        """The route in the fewest feasible parts, of those the cheapest, in the same order."""
        out, back = self.instance.lengths(0, route).tolist(), self.instance.lengths(route, 0).tolist()
        onward = self.instance.lengths(route[:-1], route[1:]).tolist()
        best: list[tuple[int, float, int]] = [(0, 0.0, 0)]
        for end in range(1, len(route) + 1):
            ways, load, inner = [], 0, 0.0
            for begin in range(end - 1, -1, -1):
                load += int(self.instance.demand[route[begin]])
                if load > self.instance.capacity:
                    break
                inner += onward[begin] if begin + 1 < end else 0.0
                home = out[begin] + back[end - 1]
                ways.append((best[begin][0] + 1, best[begin][1] + home + inner, begin))
            best.append(min(ways))
        cuts = [len(route)]
        while cuts[-1]:
            cuts.append(best[cuts[-1]][2])
        return [route[begin:end] for begin, end in pairwise(cuts[::-1])]


class _Tour:
    """All routes as one cyclic tour through the depot, so that all insertion places are compared at once."""

    def __init__(self, instance: Instance, routes: list[list[int]], *, new_routes: bool) -> None:
        self.instance, self.new_routes = instance, new_routes
        depot = [0] if instance.facts.depot else []
        self.stops: IntArray = np.array([stop for route in routes for stop in depot + route], dtype=np.int64)
        self.owner: IntArray = np.repeat(np.arange(len(routes)), [len(depot + route) for route in routes])
        self.loads = np.array([int(instance.demand[route].sum()) for route in routes], dtype=np.int64)

    def insert(self, node: int) -> None:
        """Insert a node at the cheapest place; InputError if it fits nowhere."""
        if not len(self.stops) and not self.instance.facts.depot:
            self.stops, self.owner, self.loads = np.array([node]), np.array([0]), np.array([0])
            return
        lengths, after = self.instance.lengths, np.roll(self.stops, -1)
        added = lengths(self.stops, node) + lengths(node, after) - lengths(self.stops, after)
        load = int(self.instance.demand[node])
        if self.instance.facts.capacity:
            added[self.loads[self.owner] + load > self.instance.capacity] = np.inf
        place = int(np.argmin(added)) if len(added) else -1
        full = place < 0 or bool(np.isinf(added[place]))
        alone = lengths(0, node) + lengths(node, 0) if self._may_open(full) else np.inf
        if self.instance.facts.depot and (place < 0 or alone < added[place]):
            self.stops = np.append(self.stops, (0, node))
            self.owner = np.append(self.owner, (len(self.loads),) * 2)
            self.loads = np.append(self.loads, load)
        elif np.isinf(added[place]):
            fault = f"{self.instance.label(node)} fits into no other route"
            vehicles = self.instance.vehicles
            raise InputError(f"needs more than {vehicles} {plural(vehicles, 'vehicle')}: {fault}")
        else:
            self.stops = np.insert(self.stops, place + 1, node)
            self.owner = np.insert(self.owner, place + 1, self.owner[place])
            self.loads[self.owner[place]] += load

    def routes(self) -> list[list[int]]:
        """The tour cut at the depot."""
        ends = np.flatnonzero(np.diff(self.owner)) + 1
        return [part[self.instance.facts.first :].tolist() for part in np.split(self.stops, ends) if len(part)]

    def _may_open(self, full: bool) -> bool:
        """May a new route be opened? The limit on vehicles is exceeded only if no route has room; see
        `spare_vehicles`."""
        limit = self.instance.vehicles
        return self.new_routes and (full or not limit or len(self.loads) < limit)
