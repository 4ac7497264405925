"""DACT: a neural solver that learns to improve routes.

import dact
result = dact.solve(dact.read("x.vrp"), steps=1000, seed=0)
"""

from dact.instances import Instance, InstanceSet, check, read, read_set, read_solution, write_solution
from dact.solve import Result, SolveConfig, solve

__version__ = "0.1.0"
__all__ = [
    "Instance",
    "InstanceSet",
    "Result",
    "SolveConfig",
    "check",
    "read",
    "read_set",
    "read_solution",
    "solve",
    "write_solution",
]
