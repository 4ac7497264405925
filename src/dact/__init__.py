"""DACT: a neural solver that learns to improve routes.

import dact
result = dact.solve(dact.read("x.vrp"), steps=1000, seed=0)
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dact.instances import (
        InputError,
        Instance,
        InstanceSet,
        check,
        from_pyvrp,
        read,
        read_set,
        read_solution,
        to_pyvrp,
        write_solution,
    )
    from dact.plotting import Film, plot, plot_trace, save_plot
    from dact.solver import Result, SolveConfig, solve

__version__ = "0.2.0"
__all__ = [
    "Film",
    "InputError",
    "Instance",
    "InstanceSet",
    "Result",
    "SolveConfig",
    "check",
    "from_pyvrp",
    "plot",
    "plot_trace",
    "read",
    "read_set",
    "read_solution",
    "save_plot",
    "solve",
    "to_pyvrp",
    "write_solution",
]

_HOMES = dict.fromkeys(__all__, "dact.instances")
_HOMES |= dict.fromkeys(("Film", "plot", "plot_trace", "save_plot"), "dact.plotting")
_HOMES |= dict.fromkeys(("Result", "SolveConfig", "solve"), "dact.solver")


def __getattr__(name: str) -> object:
    """Import a name at its first use: PyTorch takes seconds to load, which `dact --help` does not need."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dact' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, whether imported yet or not."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
