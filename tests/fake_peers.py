"""Peers that do as they are told, in a module that their processes can import."""

import os
import time
from dataclasses import replace

from dact.instances import Instance, simplest_routes
from dact.peers import Peer, Stops


def simple(instance: Instance, seconds: float) -> Stops:
    """A vehicle for every customer, or all nodes in their order."""
    return [list(route) for route in simplest_routes(instance)]


def crashing(instance: Instance, seconds: float) -> Stops:
    """Ends its process, but not while it warms up."""
    if instance.name.endswith("[1]"):
        os._exit(7)
    return simple(instance, seconds)


def infeasible(instance: Instance, seconds: float) -> Stops:
    """Forgets a customer."""
    routes = simple(instance, seconds)
    routes[-1].pop()
    return routes


def from_behind(instance: Instance, seconds: float) -> Stops:
    """Calls the last customer -1."""
    routes = simple(instance, seconds)
    routes[-1][-1] = -1
    return routes


def raising(instance: Instance, seconds: float) -> Stops:
    """Complains on two lines."""
    raise RuntimeError("no such luck\nat all")


def broken(instance: Instance, seconds: float) -> Stops:
    """Cannot be imported."""
    raise ImportError("nowhere to be found")


def endless(instance: Instance, seconds: float) -> Stops:
    """Does not know when to stop."""
    time.sleep(1 if seconds < 0.06 else 60)
    return []


def takes_all(instance: Instance) -> bool:
    """Not a lambda: processes look it up by name."""
    return True


FAKE = Peer(key="fake", name="Fake", package="pytest", module="json", solve=simple, takes=takes_all)


def named(name: str, **changes: object) -> Peer:
    """Another one."""
    return replace(FAKE, key=name.lower(), name=name, **changes)
