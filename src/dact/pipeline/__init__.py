"""From instances to checked answers: weights, search method, streams, starts, search, best, check.

`dact solve`, `dact evaluate`, `dact bench search` and the validation of a training all use it.
"""

from dact.pipeline.config import SolveConfig
from dact.pipeline.judge import InfeasibleError, judge, recost
from dact.pipeline.methods import SEARCHES, Setup
from dact.pipeline.pipeline import Answer, Found, Pipeline, Starts

__all__ = [
    "SEARCHES",
    "Answer",
    "Found",
    "InfeasibleError",
    "Pipeline",
    "Setup",
    "SolveConfig",
    "Starts",
    "judge",
    "recost",
]
