"""Routing problems. To add one: write its file, add a line to PROBLEMS, test it."""

from dact.problems.base import Batch, Problem
from dact.problems.construct import FleetError
from dact.problems.cvrp import Cvrp
from dact.problems.distributions import UNIFORM, InstanceConfig
from dact.problems.packing import routes_for_fleet
from dact.problems.tsp import Tsp
from dact.problems.unit_square import needs_matrix

PROBLEMS: dict[str, Problem] = {problem.name: problem for problem in (Tsp(), Cvrp())}

__all__ = [
    "PROBLEMS",
    "UNIFORM",
    "Batch",
    "Cvrp",
    "FleetError",
    "InstanceConfig",
    "Problem",
    "Tsp",
    "needs_matrix",
    "routes_for_fleet",
]
