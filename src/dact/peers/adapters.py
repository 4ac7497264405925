"""Other solvers, each behind one function: an instance and seconds in, routes out. Packages are imported when called.

The functions run in processes of their own (`crew.py`). Each is given the most of what its package takes: distances by
the instance's own rule, whole numbers where it counts in those.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

import numpy as np

from dact.instances import Instance, to_pyvrp
from dact.instances.arrays import FloatArray, IntArray
from dact.instances.instance import least_vehicles

Stops = list[list[int]]
"""Routes as a peer gives them: not checked yet."""
LONGEST = 2_000_000
"""Whole-number lengths stay below this: LKH multiplies them by 100 and counts in 32 bits."""
PYVRP_LONGEST = 20_000
"""PyVRP's penalties end at 100,000: of longer lengths, an overload would pay."""
HGS_LONGEST = 1000.0
"""HGS refuses lengths above 100,000, and costs below its 0.00001 are nothing to it."""
SPARE_VEHICLES = (1.3, 3)
"""Vehicles for solvers that need a number: this factor of the least and so many more, as HGS has it."""


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A solver of somebody else's, and what has to be said of it."""

    key: str
    """On the command line."""
    name: str
    package: str
    """As pip knows it."""
    module: str
    solve: Callable[[Instance, float], Stops]
    """Takes about so many seconds on one core. Must be a function of a module: processes look it up by name."""
    takes: Callable[[Instance], bool]
    limit: str = "time limit"
    """Its own kind of limit."""
    terms: str = ""
    """What has to be said wherever its numbers appear."""

    @property
    def missing(self) -> str:
        """Why it cannot run; empty where it can."""
        return "" if find_spec(self.module) else f"{self.package} is not installed: pip install 'dact[peers]'"

    @property
    def version(self) -> str:
        """Of the package that is installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return ""


def by_ortools(instance: Instance, seconds: float) -> Stops:
    """Guided local search from Christofides' start, which measured best of its starts."""
    from ortools.constraint_solver import pywrapcp
    from ortools.constraint_solver.routing_enums_pb2 import FirstSolutionStrategy, LocalSearchMetaheuristic

    began = time.perf_counter()
    fleet = _fleet(instance) if instance.facts.depot else 1
    manager = pywrapcp.RoutingIndexManager(instance.size, fleet, 0)
    model = pywrapcp.RoutingModel(manager)
    model.SetArcCostEvaluatorOfAllVehicles(model.RegisterTransitMatrix(_whole(instance).tolist()))
    if instance.facts.capacity:
        demand = model.RegisterUnaryTransitVector(instance.demand.tolist())
        model.AddDimension(demand, 0, instance.capacity, True, "load")
    wishes = pywrapcp.DefaultRoutingSearchParameters()
    starts = FirstSolutionStrategy
    wishes.first_solution_strategy = starts.CHRISTOFIDES if instance.symmetric else starts.PATH_CHEAPEST_ARC
    wishes.local_search_metaheuristic = LocalSearchMetaheuristic.GUIDED_LOCAL_SEARCH
    wishes.time_limit.FromNanoseconds(max(10**6, int(1e9 * (seconds - (time.perf_counter() - began)))))
    found = model.SolveWithParameters(wishes)
    if found is None:
        raise RuntimeError("found no solution in its time")
    routes = []
    for vehicle in range(fleet):
        place, route = found.Value(model.NextVar(model.Start(vehicle))), []
        while not model.IsEnd(place):
            route.append(manager.IndexToNode(place))
            place = found.Value(model.NextVar(place))
        routes.append(route)
    return _from_depot(instance, routes)


def by_pyvrp(instance: Instance, seconds: float) -> Stops:
    """Its iterated local search with its own settings; making the data counts as time."""
    import pyvrp

    deadline = time.perf_counter() + seconds
    data = to_pyvrp(instance, scale=_scale(instance, PYVRP_LONGEST))
    result = pyvrp.solve(data, lambda best: time.perf_counter() > deadline, collect_stats=False, display=False)
    routes = [[stop.idx + 1 for stop in route if stop.is_client()] for route in result.best.routes()]
    return _from_depot(instance, routes)


def by_hgs(instance: Instance, seconds: float) -> Stops:
    """HGS-CVRP with its own settings. It counts the seconds of its process, not those of the clock on the wall."""
    import hygese

    distances: FloatArray = instance.distances()
    if distances.max() > HGS_LONGEST * 100 or not _counts(distances):
        distances = distances * (HGS_LONGEST / distances.max())
    points = instance.points() - instance.points().min(axis=0)
    order = {
        "distance_matrix": distances,
        # For the angles of its SWAP* only.
        "x_coordinates": points[:, 0],
        "y_coordinates": points[:, 1],
        "demands": instance.demand,
        "vehicle_capacity": instance.capacity,
        **({"num_vehicles": instance.vehicles} if instance.vehicles else {}),
    }
    settings = hygese.AlgorithmParameters(timeLimit=seconds)
    return [list(route) for route in hygese.Solver(settings, verbose=False).solve_cvrp(order).routes]


def by_lkh(instance: Instance, seconds: float) -> Stops:
    """One run, and then as many as one run's time says will fit into the rest."""
    import elkai

    began = time.perf_counter()
    distances = _whole(instance).tolist()
    run = elkai.DistanceMatrix(distances).solve_tsp
    tours = [run(runs=1)]
    took = time.perf_counter() - began
    more = int((seconds - took) / took)
    # LKH draws the same numbers at each call: one more run would be the first one again.
    if more > 1:
        tours.append(run(runs=more))
    return [min((tour[:-1] for tour in tours), key=partial(_length, distances))]


def _any(instance: Instance) -> bool:
    return True


def _with_capacity(instance: Instance) -> bool:
    return instance.facts.capacity and instance.symmetric


def _one_tour(instance: Instance) -> bool:
    return not instance.facts.depot and instance.size > 2


PEERS = (
    Peer(
        key="ortools",
        name="OR-Tools",
        package="ortools",
        module="ortools",
        solve=by_ortools,
        takes=_any,
    ),
    Peer(key="pyvrp", name="PyVRP", package="pyvrp", module="pyvrp", solve=by_pyvrp, takes=_any),
    Peer(
        key="hgs",
        name="HGS",
        package="hygese",
        module="hygese",
        solve=by_hgs,
        takes=_with_capacity,
        limit="CPU time limit",
    ),
    Peer(
        key="lkh",
        name="LKH",
        package="elkai",
        module="elkai",
        solve=by_lkh,
        takes=_one_tour,
        limit="runs",
        terms="LKH (by elkai) has no time limit, its runs are the limit: it may take longer than asked. "
        "LKH is free for academic use only.",
    ),
)


def _scale(instance: Instance, longest: int = LONGEST) -> int:
    """The largest power of ten that keeps lengths below `longest`; 1 where they are whole numbers anyway."""
    distances = instance.distances()
    room = longest / max(float(distances.max()), 1e-9)
    return 1 if _counts(distances) else max(1, 10 ** int(np.floor(np.log10(room))))


def _whole(instance: Instance) -> IntArray:
    return np.asarray(np.rint(instance.distances() * _scale(instance)).astype(np.int64))


def _counts(distances: FloatArray) -> bool:
    return np.array_equal(distances, np.rint(distances))


def _fleet(instance: Instance) -> int:
    factor, more = SPARE_VEHICLES
    return instance.vehicles or min(instance.customers, int(factor * least_vehicles(instance)) + more)


def _from_depot(instance: Instance, routes: Stops) -> Stops:
    """Routes without the empty ones; without a depot node 0 was one, and belongs to the tour."""
    return [route for route in routes if route] if instance.facts.depot else [[0, *routes[0]]]


def _length(distances: list[list[int]], tour: list[int]) -> int:
    return sum(distances[here][there] for here, there in zip(tour, tour[1:] + tour[:1], strict=True))
