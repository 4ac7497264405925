"""Instances to and from PyVRP, where it is installed. Tried with versions 0.13 and 0.14."""

from __future__ import annotations

from typing import Any

import numpy as np

from dact.instances.arrays import IntArray
from dact.instances.building import build
from dact.instances.errors import InputError
from dact.instances.instance import Instance

Foreign = Any
"""Objects of PyVRP, which may not be installed."""


def to_pyvrp(instance: Instance, *, scale: int = 1) -> Foreign:
    """Make PyVRP's ProblemData. It counts in whole numbers: distances are multiplied by `scale` and rounded.

    A TSP becomes one vehicle that starts and ends at the first node.
    """
    if not instance.facts.returns:
        raise InputError(f"PyVRP cannot solve the {instance.facts.title}: its routes end at a depot")
    pyvrp = _pyvrp()
    distances = instance.distances() * scale
    if scale == 1 and not np.array_equal(distances, np.rint(distances)):
        raise InputError("PyVRP counts in whole numbers, which the distances are not: scale=1000 keeps three decimals")
    loaded, matrix = instance.facts.capacity, np.rint(distances).astype(np.int64)
    limit = instance.vehicles or (instance.customers if instance.facts.depot else 1)
    names, points = instance.names or ("",) * instance.size, instance.points().tolist()
    located = hasattr(pyvrp, "Location")
    places = [(node,) for node in range(instance.size)] if located else points
    loads = [[int(load)] if loaded else [] for load in instance.demand]
    return pyvrp.ProblemData(
        **({"locations": [pyvrp.Location(*point) for point in points]} if located else {}),
        clients=[
            pyvrp.Client(*places[node], delivery=loads[node], name=names[node]) for node in range(1, instance.size)
        ],
        depots=[pyvrp.Depot(*places[0], name=names[0])],
        vehicle_types=[pyvrp.VehicleType(limit, capacity=[instance.capacity] if loaded else [])],
        distance_matrices=[matrix],
        duration_matrices=[np.zeros_like(matrix)],
    )


def from_pyvrp(data: Foreign, *, name: str = "pyvrp") -> Instance:
    """Make an instance from PyVRP's ProblemData; features that DACT does not support are refused."""
    located = hasattr(_pyvrp(), "Location")
    _refuse_more(data)
    (depot,), (vehicle,), clients = data.depots(), data.vehicle_types(), data.clients()
    nodes = [depot, *clients]
    places = [node.location for node in nodes] if located else list(range(len(nodes)))
    spots = [data.location(place) for place in places] if located else nodes
    matrix: IntArray = np.asarray(data.distance_matrix(vehicle.profile))[np.ix_(places, places)]
    loaded, limit = bool(vehicle.capacity), int(vehicle.num_available)
    return build(
        name,
        matrix=matrix,
        coordinates=[[float(spot.x), float(spot.y)] for spot in spots],
        demand=[0, *(int(sum(client.delivery)) for client in clients)] if loaded else None,
        capacity=int(vehicle.capacity[0]) if loaded else None,
        vehicles=limit if loaded and limit < len(clients) else 0,
        names=[node.name for node in nodes],
    )


def _refuse_more(data: Foreign) -> None:
    vehicle, clients = data.vehicle_types()[0], data.clients()
    cost = (vehicle.unit_distance_cost, vehicle.unit_duration_cost, vehicle.fixed_cost)
    limits = (vehicle.max_distance, vehicle.shift_duration)
    reasons = {
        "several depots": data.num_depots != 1,
        "several kinds of vehicles": data.num_vehicle_types != 1,
        "several vehicles without a capacity": not vehicle.capacity and vehicle.num_available > 1,
        "several kinds of loads": data.num_load_dimensions > 1,
        "groups of clients": data.num_groups > 0,
        "shipments": getattr(data, "num_shipments", 0) > 0,
        "time windows": data.has_time_windows(),
        "pickups": any(any(client.pickup) for client in clients),
        "clients that may be left out": not all(client.required for client in clients),
        "limits on a route": min(limits) < np.iinfo(np.int64).max,
        "costs that are not the distance": cost != (1, 0, 0),
    }
    for reason, found in reasons.items():
        if found:
            raise InputError(f"PyVRP's data has {reason}, which DACT does not support")


def _pyvrp() -> Foreign:
    try:
        import pyvrp
    except ImportError:
        raise ImportError("PyVRP is not installed: pip install pyvrp") from None
    return pyvrp
