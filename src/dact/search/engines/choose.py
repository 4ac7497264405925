"""Which engine and which precision for which machine, and what memory they take."""

import torch

from dact.policy import Policy
from dact.problems import Problem
from dact.search.engines.base import AUTO, Engine, SearchConfig
from dact.search.engines.fused import FusedEngine
from dact.search.engines.fused_policy import why_not
from dact.search.engines.graphed import PRECISIONS, GraphedEngine
from dact.search.engines.plain import PlainEngine

FASTEST = {"cuda": "float16", "cpu": "float32"}
"""What `auto` means. Costs and draws are not rounded to it, only what the policy computes."""

POSITION_BYTES = 2_000
"""Device memory of the fused engine for each position of each row, to within a factor of two."""
PAIR_BYTES = 160
"""Device memory of the others for each pair of positions of each row: about forty floats."""


def settled_precision(precision: str, device: torch.device) -> str:
    """The precision that is meant; one that the device cannot search in is refused."""
    if precision not in (AUTO, *PRECISIONS):
        raise ValueError(f"precision '{precision}' is not one of {', '.join((AUTO, *PRECISIONS))}")
    if precision == AUTO:
        return FASTEST[device.type]
    if device.type == "cpu" and precision != "float32":
        raise ValueError(f"precision '{precision}' needs a GPU: on a CPU the search is in float32")
    return precision


def engine_for(
    problem: Problem, policy: Policy, config: SearchConfig, device: torch.device, precision: str = AUTO
) -> Engine:
    """The fastest engine that gives the plain engine's search.

    On a CPU that is the plain engine itself. On a GPU it is kernels, where Triton is installed and has them for the
    sizes of this policy's decoder; where not, the plain steps in a CUDA graph.
    """
    precision = settled_precision(precision, device)
    if device.type != "cuda":
        return PlainEngine(problem, policy, config)
    if why_not(policy) is None:
        return FusedEngine(problem, policy, config, precision)
    return GraphedEngine(problem, policy, config, precision)


def row_bytes(engine: object, length: int) -> int:
    """About how much device memory a row of this tour length takes."""
    return POSITION_BYTES * length if isinstance(engine, FusedEngine) else PAIR_BYTES * length**2
