"""Search methods by name. To add one: a `Searcher`, a function that builds it from a `Setup`, a line in SEARCHES.

Settings of its own are a dataclass, which `SolveConfig` gets as a field.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dact.policy import Library, Weights
from dact.problems import Problem
from dact.search import AUTO, HybridSearcher, Searcher, engine_for

if TYPE_CHECKING:
    from dact.pipeline.config import SolveConfig


@dataclass(kw_only=True)
class Setup:
    """Inputs for building a search method."""

    problem: Problem
    """A method may replace it, by the problem as its weights were trained on it."""
    customers: int
    config: SolveConfig
    steady: bool = False
    """Use the large-batch kernels at any batch size, so that results are bit-identical."""
    walks: int = 1
    """Rows that search one instance, for methods that have walks."""
    library: Library = field(default_factory=Library)
    loaded: Weights | None = field(default=None, init=False)
    """The weights, if the method has loaded them."""

    def weights(self) -> Weights:
        """The weights of the settings, loaded at the first call."""
        if self.loaded is None:
            problem = self.problem
            self.loaded = self.library.find(problem.name, problem.features, self.customers, self.config.weights)
        return self.loaded


def policy_search(setup: Setup) -> Searcher:
    """The paper's search: every step is a move drawn by the policy."""
    weights, device = setup.weights(), setup.config.torch_device()
    settings = replace(setup.config.policy, steady=setup.steady)
    if settings.operator == AUTO:
        settings = replace(settings, operator=weights.card.operator)
    setup.problem = setup.problem.with_idle_moves(weights.card.idle_moves).with_depots(weights.card.depots)
    return engine_for(setup.problem, weights.policy.to(device), settings, device, setup.config.precision)


def hybrid_search(setup: Setup) -> Searcher:
    """Rounds of random kicks and local search. Needs no weights."""
    return HybridSearcher(setup.config.hybrid, setup.walks)


SEARCHES: dict[str, Callable[[Setup], Searcher]] = {"policy": policy_search, "hybrid": hybrid_search}
