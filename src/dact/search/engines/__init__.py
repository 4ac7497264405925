"""Engines advance a search state by some steps. `PlainEngine` is the truth the others are checked against."""

from dact.search.engines.base import AUTO, Engine, SearchConfig, Step
from dact.search.engines.capture import capturing, rehearse
from dact.search.engines.choose import engine_for
from dact.search.engines.fused import FusedEngine
from dact.search.engines.graphed import GraphedEngine
from dact.search.engines.plain import PlainEngine
from dact.search.engines.precision import PRECISIONS, settled_precision

__all__ = [
    "AUTO",
    "PRECISIONS",
    "Engine",
    "FusedEngine",
    "GraphedEngine",
    "PlainEngine",
    "SearchConfig",
    "Step",
    "capturing",
    "engine_for",
    "rehearse",
    "settled_precision",
]
