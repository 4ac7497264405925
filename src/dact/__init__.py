"""DACT: a neural solver that learns to improve routes.

import dact
result = dact.solve(dact.read("x.vrp"), steps=1000, seed=0)
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dact.instances import Instance, InstanceSet, check, read, read_set, read_solution, write_solution
    from dact.plotting import plot, plot_trace, save_plot
    from dact.solve import Result, SolveConfig, solve

__version__ = "0.1.0"
__all__ = [
    "Instance",
    "InstanceSet",
    "Result",
    "SolveConfig",
    "check",
    "plot",
    "plot_trace",
    "read",
    "read_set",
    "read_solution",
    "save_plot",
    "solve",
    "write_solution",
]

_HOMES = dict.fromkeys(__all__, "dact.instances")
_HOMES |= dict.fromkeys(("plot", "plot_trace", "save_plot"), "dact.plotting")
_HOMES |= dict.fromkeys(("Result", "SolveConfig", "solve"), "dact.solve")


def __getattr__(name: str) -> object:
    """Names are fetched when first used: PyTorch takes seconds to import, which `dact --help` need not wait for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dact' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


class _Package(ModuleType):
    """`dact.solve` is the function; importing the module of that name must not put itself in its place."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
