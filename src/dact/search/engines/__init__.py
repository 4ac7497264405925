"""Engines advance a search state by some steps. `PlainEngine` is the truth the others are checked against."""

from dact.search.engines.base import AUTO, Engine, SearchConfig, Step
from dact.search.engines.capture import capturing, rehearse
from dact.search.engines.choose import engine_for, row_bytes, settled_precision
from dact.search.engines.fused import FusedEngine
from dact.search.engines.graphed import GraphedEngine
from dact.search.engines.plain import PlainEngine

__all__ = [
    "AUTO",
    "Engine",
    "FusedEngine",
    "GraphedEngine",
    "PlainEngine",
    "SearchConfig",
    "Step",
    "capturing",
    "engine_for",
    "rehearse",
    "row_bytes",
    "settled_precision",
]
