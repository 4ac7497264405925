"""Improving tours step by step with a policy."""

from dact.search.engines import Engine, PlainEngine, SearchConfig
from dact.search.loop import SearchRun, Trace, TracePoint, Watcher, best_costs, run
from dact.search.state import SearchState, start_state
from dact.search.step import open_moves, restart, step
from dact.search.stop import Stop

__all__ = [
    "Engine",
    "PlainEngine",
    "SearchConfig",
    "SearchRun",
    "SearchState",
    "Stop",
    "Trace",
    "TracePoint",
    "Watcher",
    "best_costs",
    "open_moves",
    "restart",
    "run",
    "start_state",
    "step",
]
