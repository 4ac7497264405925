"""The plain engine: the search as the paper writes it, in PyTorch."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from dact.kernels.pick_move import open_pairs
from dact.kernels.row_draws import row_draws
from dact.policy import PairDistribution
from dact.problems import Batch, Problem
from dact.search.engines.base import SearchConfig, Step
from dact.search.searcher import StepByStep
from dact.search.state import SearchState, remembered, remembering, tabu_of
from dact.search.step import look, step

PAIR_BYTES = 160
"""Device memory for each pair of positions of each row: about forty floats."""


@dataclass(frozen=True)
class PlainEngine(StepByStep):
    """Look, pick a pair, apply the operator, keep the best, go back after too long without a better one."""

    problem: Problem
    policy: Callable[[Tensor], Tensor]
    """Features in tour order to logits."""
    config: SearchConfig
    graph_steps: int = 1
    """There is no graph."""
    name: str = field(default="plain", init=False)

    def row_bytes(self, length: int) -> int:
        """Every pair of positions has its logit, and hidden units while that is computed."""
        return PAIR_BYTES * length**2

    def prepare(self, batch: Batch, state: SearchState) -> None:
        """There is nothing to prepare."""

    @torch.inference_mode()
    def advance(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        """The state after `steps` more steps."""
        state = remembering(state, self.config.tabu, batch.depots)
        for _ in range(steps):
            state = self._moved(batch, state, self._pick(batch, state, self._moves(batch, state)))
        return state

    @torch.no_grad()
    def step(self, batch: Batch, state: SearchState) -> Step:
        """One step, with its moves and their log-probabilities."""
        state = remembering(state, self.config.tabu, batch.depots)
        moves = self._moves(batch, state)
        move_B2 = self._pick(batch, state, moves)
        return Step(self._moved(batch, state, move_B2), move_B2, moves.log_prob(move_B2))

    def refresh(self) -> None:
        """Nothing to do: every step calls the policy itself."""

    def _moves(self, batch: Batch, state: SearchState) -> PairDistribution:
        features_BNF, feasible = look(self.problem, batch, state.tour_BN, self.config.apply)
        open_BNN = open_pairs(state.tour_BN, state.last_move_B2, feasible)
        return PairDistribution(self.policy(features_BNF), open_BNN)

    def _pick(self, batch: Batch, state: SearchState, moves: PairDistribution) -> Tensor:
        if self.config.greedy:
            return moves.greedy()
        return moves.sample(row_draws(state.stream_B), tabu_of(state, self.config.apply, batch.depots))

    def _moved(self, batch: Batch, state: SearchState, move_B2: Tensor) -> SearchState:
        after, _ = step(self.config.apply, batch, state, move_B2, self.config.patience)
        return remembered(after, batch.depots)
