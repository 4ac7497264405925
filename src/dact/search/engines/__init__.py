"""Engines advance a search state by some steps. `PlainEngine` is the truth the others are checked against."""

from dact.search.engines.base import Engine, SearchConfig
from dact.search.engines.choose import engine_for
from dact.search.engines.fused import FusedEngine
from dact.search.engines.graphed import GraphedEngine
from dact.search.engines.plain import PlainEngine

__all__ = ["Engine", "FusedEngine", "GraphedEngine", "PlainEngine", "SearchConfig", "engine_for"]
