"""Engines advance a search state by some steps. `PlainEngine` is the truth the others are checked against."""

from dact.search.engines.base import Engine, SearchConfig
from dact.search.engines.plain import PlainEngine

__all__ = ["Engine", "PlainEngine", "SearchConfig"]
