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
    """What a search method can be built from."""

    problem: Problem
    customers: int
    config: SolveConfig
    steady: bool = False
    """Use the large-batch kernels at any batch size, so that results are bit-identical."""
    walks: int = 1
    """Rows that search one instance, for methods that have walks."""
    library: Library = field(default_factory=Library)
    loaded: Weights | None = field(default=None, init=False)
    """The weights, if the method has asked for them."""

    def weights(self) -> Weights:
        """Those the settings ask for, loaded when a method first wants them."""
        if self.loaded is None:
            problem = self.problem
            self.loaded = self.library.find(problem.name, problem.features, self.customers, self.config.weights)
        return self.loaded


def policy_search(setup: Setup) -> Searcher:
    """The paper's search: every step is a move that the policy draws."""
    weights, device = setup.weights(), setup.config.torch_device()
    settings = replace(setup.config.policy, steady=setup.steady)
    if settings.operator == AUTO:
        settings = replace(settings, operator=weights.card.operator)
    problem = setup.problem.with_idle_moves(weights.card.idle_moves)
    return engine_for(problem, weights.policy.to(device), settings, device, setup.config.precision)


def hybrid_search(setup: Setup) -> Searcher:
    """Rounds of kicks and descents. Kicks are random, so that no weights are needed."""
    return HybridSearcher(setup.config.hybrid, setup.walks)


SEARCHES: dict[str, Callable[[Setup], Searcher]] = {"policy": policy_search, "hybrid": hybrid_search}
