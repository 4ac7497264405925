"""Repairing routes: splitting overloaded ones, inserting customers at the least cost, and packing vehicles anew."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from dact.instances.arrays import IntArray
from dact.instances.errors import plural
from dact.instances.instance import Instance

PATIENCE = 300
"""Changes without a smaller overload before a restart from another guess."""
FORBIDDEN = 7
"""Changes for which a moved customer may not be moved again."""
SECONDS = 2.0
"""Time for packing the vehicles of a start anew."""


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

    def insert(self, nodes: Iterable[int], *, new_routes: bool = True) -> bool:
        """Insert each node where it is cheapest, possibly as a route of its own. False, and nothing is inserted, if one
        of them fits nowhere."""
        tour = _Tour(self.instance, self.routes, new_routes=new_routes)
        if not all(tour.insert(node) for node in nodes):
            return False
        self.routes = tour.routes()
        return True

    def spare_vehicles(self) -> list[str] | None:
        """Dissolve the least loaded routes until the limit on vehicles is met, or pack all anew if that fails.

        Returns a sentence if any were; None if no packing was found."""
        limit, given = self.instance.vehicles, [*self.routes]
        while limit and len(self.routes) > limit:
            least = min(self.routes, key=self._load)
            self.routes.remove(least)
            if not self.insert(self._largest_first(least), new_routes=False):
                self.routes = given
                return self._pack_anew()
        dissolved = len(given) - len(self.routes)
        return [f"{dissolved} route{'s were' if dissolved > 1 else ' was'} dissolved"] if dissolved else []

    def _pack_anew(self) -> list[str] | None:
        """Let customers change vehicles, beginning with the most loaded routes, until none is overloaded."""
        instance, limit = self.instance, self.instance.vehicles
        most = sorted(range(len(self.routes)), key=lambda place: -self._load(self.routes[place]))[:limit]
        kept = [self.routes[place] for place in sorted(most)]
        before_C, guess_C = self._guess(kept)
        deadline, rng = time.perf_counter() + SECONDS, np.random.default_rng(0)
        found_C = without_overload(instance.demand[1:], instance.capacity, guess_C, limit, deadline, rng)
        if found_C is None:
            return None
        moved = (np.flatnonzero(found_C != before_C) + 1).tolist()
        routes = []
        for vehicle, route in enumerate(kept):
            stay = [node for node in route if found_C[node - 1] == vehicle]
            routes.append(self._joined(stay, [node for node in moved if found_C[node - 1] == vehicle]))
        self.routes = [route for route in routes if route]
        customers = f"{len(moved)} {plural(len(moved), 'customer')}"
        return [f"the routes were packed anew for {limit} {plural(limit, 'vehicle')}, which moved {customers}"]

    def _guess(self, kept: list[list[int]]) -> tuple[IntArray, IntArray]:
        """The vehicle of each customer by the routes that are kept, -1 for others; and with these, the largest first,
        in the vehicles with the smallest loads."""
        before_C = np.full(self.instance.size - 1, -1, dtype=np.int64)
        for vehicle, route in enumerate(kept):
            before_C[np.array(route) - 1] = vehicle
        guess_C, load_V = before_C.copy(), np.array([self._load(route) for route in kept])
        for node in self._largest_first((np.flatnonzero(before_C < 0) + 1).tolist()):
            vehicle = int(load_V.argmin())
            guess_C[node - 1] = vehicle
            load_V[vehicle] += self.instance.demand[node]
        return before_C, guess_C

    def _joined(self, route: list[int], nodes: list[int]) -> list[int]:
        """The route with more nodes, each where it is cheapest."""
        begun = Draft(self.instance, [route or nodes[:1]])
        begun.insert(nodes if route else nodes[1:], new_routes=False)
        return begun.routes[0] if begun.routes else []

    def _largest_first(self, nodes: list[int]) -> list[int]:
        return sorted(nodes, key=lambda node: -int(self.instance.demand[node]))

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

    def insert(self, node: int) -> bool:
        """Insert a node at the cheapest place; False if it fits nowhere."""
        if not len(self.stops) and not self.instance.facts.depot:
            self.stops, self.owner, self.loads = np.array([node]), np.array([0]), np.array([0])
            return True
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
            return False
        else:
            self.stops = np.insert(self.stops, place + 1, node)
            self.owner = np.insert(self.owner, place + 1, self.owner[place])
            self.loads[self.owner[place]] += load
        return True

    def routes(self) -> list[list[int]]:
        """The tour cut at the depot."""
        ends = np.flatnonzero(np.diff(self.owner)) + 1
        return [part[self.instance.facts.first :].tolist() for part in np.split(self.stops, ends) if len(part)]

    def _may_open(self, full: bool) -> bool:
        """May a new route be opened? The limit on vehicles is exceeded only if no route has room; see
        `spare_vehicles`."""
        limit = self.instance.vehicles
        return self.new_routes and (full or not limit or len(self.loads) < limit)


def without_overload(
    demand_C: IntArray, capacity: int, vehicle_C: IntArray, vehicles: int, deadline: float, rng: np.random.Generator
) -> IntArray | None:
    """Change the guess until every load fits, always by the best change that is not forbidden; None if it is too long.

    A change moves a customer of an overloaded vehicle to another vehicle, or swaps it with a customer of that.
    """
    vehicle_C, customers = vehicle_C.copy(), len(demand_C)
    load_V = np.bincount(vehicle_C, weights=demand_C, minlength=vehicles).astype(np.int64)
    free_C = np.zeros(customers, dtype=np.int64)
    least, stalled, change = load_V.sum(), 0, 0
    while (over := int(np.maximum(load_V - capacity, 0).sum())) > 0:
        least, stalled, change = (over, 0, change + 1) if over < least else (least, stalled + 1, change + 1)
        if stalled > PATIENCE or time.perf_counter() > deadline:
            return None
        giver = int(rng.choice(np.flatnonzero(load_V > capacity)))
        own_G = np.flatnonzero((vehicle_C == giver) & (free_C <= change))
        if not len(own_G):
            continue
        # Partners are all customers of other vehicles, and for plain moves the vehicles themselves.
        other_P = np.flatnonzero((vehicle_C != giver) & (free_C <= change))
        taker_Q = np.concatenate((vehicle_C[other_P], np.delete(np.arange(vehicles), giver)))
        given_Q = np.concatenate((demand_C[other_P], np.zeros(vehicles - 1, dtype=np.int64)))
        shift_GQ = demand_C[own_G][:, None] - given_Q
        giver_GQ, taker_GQ = load_V[giver] - shift_GQ - capacity, load_V[taker_Q] + shift_GQ - capacity
        after_GQ = np.maximum(giver_GQ, 0) + np.maximum(taker_GQ, 0)
        before_Q = max(0, load_V[giver] - capacity) + np.maximum(load_V[taker_Q] - capacity, 0)
        gain_GQ = (before_Q - after_GQ) + rng.random(after_GQ.shape) / 2
        best, partner = np.unravel_index(int(gain_GQ.argmax()), gain_GQ.shape)
        taker, moved = int(taker_Q[partner]), int(shift_GQ[best, partner])
        vehicle_C[own_G[best]] = taker
        free_C[own_G[best]] = change + FORBIDDEN
        if partner < len(other_P):
            vehicle_C[other_P[partner]] = giver
            free_C[other_P[partner]] = change + FORBIDDEN
        load_V[giver] -= moved
        load_V[taker] += moved
    return vehicle_C
