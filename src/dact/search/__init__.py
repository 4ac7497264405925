"""Searches that improve tours: the paper's, by a policy, and the hybrid one, by kicks and local search."""

from dact.kernels.make_move import accepted
from dact.search.batches import Parts, best_tours, rows_at_once, search_batch
from dact.search.engines import (
    PRECISIONS,
    Engine,
    FusedEngine,
    GraphedEngine,
    PlainEngine,
    SearchConfig,
    captured,
    engine_for,
    settled_precision,
)
from dact.search.hybrid import HybridSearcher, HybridState
from dact.search.hybrid_settings import HybridConfig, usual_walks
from dact.search.loop import End, Pace, SearchRun, Snapshot, Watcher, best_costs, run
from dact.search.searcher import AUTO, Searcher
from dact.search.state import SearchState, remembering, start_state
from dact.search.step import NEVER, look, step
from dact.search.stop import Stop
from dact.search.trace import Trace, TracePoint

__all__ = [
    "AUTO",
    "NEVER",
    "PRECISIONS",
    "End",
    "Engine",
    "FusedEngine",
    "GraphedEngine",
    "HybridConfig",
    "HybridSearcher",
    "HybridState",
    "Pace",
    "Parts",
    "PlainEngine",
    "SearchConfig",
    "SearchRun",
    "SearchState",
    "Searcher",
    "Snapshot",
    "Stop",
    "Trace",
    "TracePoint",
    "Watcher",
    "accepted",
    "best_costs",
    "best_tours",
    "captured",
    "engine_for",
    "look",
    "remembering",
    "rows_at_once",
    "run",
    "search_batch",
    "settled_precision",
    "start_state",
    "step",
    "usual_walks",
]
