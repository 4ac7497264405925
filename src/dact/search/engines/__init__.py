"""Engines advance a search state by some steps. `PlainEngine` is the truth the others are checked against."""

import torch

from dact.policy import Policy
from dact.problems import Problem
from dact.search.engines.base import Engine, SearchConfig, Step
from dact.search.engines.capture import captured
from dact.search.engines.fused import FusedEngine, why_not
from dact.search.engines.graphed import GraphedEngine
from dact.search.engines.plain import PlainEngine
from dact.search.engines.precision import PRECISIONS, settled_precision
from dact.search.searcher import AUTO

__all__ = [
    "PRECISIONS",
    "Engine",
    "FusedEngine",
    "GraphedEngine",
    "PlainEngine",
    "SearchConfig",
    "Step",
    "captured",
    "engine_for",
    "settled_precision",
]


def engine_for(
    problem: Problem, policy: Policy, config: SearchConfig, device: torch.device, precision: str = AUTO
) -> Engine:
    """The fastest engine that gives the plain engine's search.

    On a CPU that is the plain engine itself. On a GPU it is kernels, where Triton is installed and has them for the
    operator and for the sizes of this policy's decoder; where not, the plain steps in a CUDA graph.
    """
    precision = settled_precision(precision, device)
    if device.type != "cuda":
        return PlainEngine(problem, policy, config)
    if why_not(policy, config) is None:
        return FusedEngine(problem, policy, config, precision)
    return GraphedEngine(problem, policy, config, precision)
