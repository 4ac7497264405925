"""Which engine for which machine."""

import torch

from dact.kernels.launch import HAS_TRITON
from dact.policy import Policy
from dact.problems import Problem
from dact.search.engines.base import Engine, SearchConfig
from dact.search.engines.fused import FusedEngine
from dact.search.engines.fused_policy import why_not
from dact.search.engines.graphed import GraphedEngine
from dact.search.engines.plain import PlainEngine

DEFAULT_PRECISION = "float16"
"""The fastest on a GPU; costs and draws are not rounded to it, only what the policy sees."""


def engine_for(
    problem: Problem, policy: Policy, config: SearchConfig, device: torch.device, precision: str = DEFAULT_PRECISION
) -> Engine:
    """Kernels where a GPU has them for this policy, a graph of PyTorch's where not, and the plain steps on a CPU."""
    if device.type != "cuda":
        return PlainEngine(problem, policy, config)
    if HAS_TRITON and why_not(policy) is None:
        return FusedEngine(problem, policy, config, precision)
    return GraphedEngine(problem, policy, config, precision)
