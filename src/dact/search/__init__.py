"""Improving tours step by step with a policy."""

from dact.search.batches import Parts, best_tours, rows_at_once, search_batch
from dact.search.engines import (
    AUTO,
    Engine,
    FusedEngine,
    GraphedEngine,
    PlainEngine,
    SearchConfig,
    capturing,
    engine_for,
    rehearse,
    settled_precision,
)
from dact.search.loop import Pace, SearchRun, Watcher, best_costs, run
from dact.search.searcher import Searcher
from dact.search.state import SearchState, start_state
from dact.search.step import open_moves, restart, step
from dact.search.stop import Stop
from dact.search.trace import Trace, TracePoint

__all__ = [
    "AUTO",
    "Engine",
    "FusedEngine",
    "GraphedEngine",
    "Pace",
    "Parts",
    "PlainEngine",
    "SearchConfig",
    "SearchRun",
    "SearchState",
    "Searcher",
    "Stop",
    "Trace",
    "TracePoint",
    "Watcher",
    "best_costs",
    "best_tours",
    "capturing",
    "engine_for",
    "open_moves",
    "rehearse",
    "restart",
    "rows_at_once",
    "run",
    "search_batch",
    "settled_precision",
    "start_state",
    "step",
]
