"""Compiles the local search before the first search on a machine."""

from dact.cli.screen import note
from dact.interrupts import Interrupts
from dact.kernels.descent import compile_for_cpu, needs_compiling
from dact.pipeline import SolveConfig


def compile_first(config: SolveConfig, interrupts: Interrupts, *, silent: bool = False) -> None:
    """Compile the local search if it is needed and was never compiled; KeyboardInterrupt on a signal."""
    if config.search == "hybrid" and needs_compiling(config.torch_device()):
        if not silent:
            note("note: compiling the local search for this machine, once; it takes some 20 seconds")
        interrupts.watch(compile_for_cpu)
