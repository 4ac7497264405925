"""The plain engine: the search as the paper writes it, in PyTorch."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from dact.operators import OPERATORS
from dact.policy import PairDistribution
from dact.problems import Batch, Problem
from dact.search.engines.base import SearchConfig
from dact.search.state import SearchState
from dact.search.step import open_moves, restart, step


@dataclass(frozen=True)
class PlainEngine:
    """Look, pick a pair, apply the operator, keep the best, go back after too long without a better one."""

    problem: Problem
    policy: Callable[[Tensor], Tensor]
    """Features in tour order to logits."""
    config: SearchConfig

    @torch.inference_mode()
    def advance(self, batch: Batch, state: SearchState, steps: int, generator: Generator) -> SearchState:
        """The state after `steps` more steps."""
        operator = OPERATORS[self.config.operator]
        for _ in range(steps):
            logits_BNN = self.policy(self.problem.node_features(batch, state.tour_BN))
            moves = PairDistribution(logits_BNN, open_moves(self.problem, batch, state, operator))
            move_B2 = moves.greedy() if self.config.greedy else moves.sample(generator)
            state, _ = step(operator, batch, state, move_B2)
            state = restart(state, self.config.patience)
        return state
