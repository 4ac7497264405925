"""Steps with the current policy, recorded for an update.

Shape letters: T steps of a segment, B rows, Z = T + 1 states, R = T * B or Z * B rows, N tour length, F features.
"""

import math
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from dact.operators import OPERATORS
from dact.problems import Batch, Problem
from dact.search import Engine, SearchConfig, SearchState, open_moves

NEVER = 2**31 - 1
"""Patience of a search that is not restarted: nothing is in training."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is trained on: a problem and the operator that moves its tours."""

    problem: Problem
    operator: str

    def search(self, patience: int = NEVER) -> SearchConfig:
        """How the policy is used."""
        return SearchConfig(operator=self.operator, patience=patience)


@dataclass(frozen=True, kw_only=True)
class Segment:
    """What happened in T steps, as far as the update needs it."""

    features_TBNF: Tensor
    open_TBNN: Tensor
    """Which moves could be drawn."""
    move_TB2: Tensor
    log_prob_TB: Tensor
    """As the engine computed them. The update takes its own; these are there to be compared."""
    reward_TB: Tensor
    end_BNF: Tensor
    """Features of the state behind the last step."""
    standing_ZB2: Tensor
    """Costs of all states as the critic may see them."""


@torch.no_grad()
def rollout(
    engine: Engine, task: Task, batch: Batch, state: SearchState, steps: int, generator: Generator
) -> tuple[SearchState, Segment]:
    """The state after some steps, and the record of them."""
    engine.refresh()
    states, made = [state], []
    for _ in range(steps):
        made.append(engine.step(batch, states[-1], generator))
        states.append(made[-1].state)
    # What the policy saw is worked out for all states at once: a GPU minds the number of kernels.
    tour_RN = torch.cat([each.tour_BN for each in states])
    features_RNF = task.problem.node_features(_repeated(batch, steps + 1), tour_RN)
    features_ZBNF = features_RNF.view(steps + 1, batch.rows, *features_RNF.shape[1:])
    last_R2 = torch.cat([each.last_move_B2 for each in states[:-1]])
    operator = OPERATORS[task.operator]
    open_RNN = open_moves(task.problem, _repeated(batch, steps), tour_RN[: len(last_R2)], last_R2, operator)
    cost_ZB = torch.stack([each.cost_B for each in states])
    incumbent_ZB = torch.stack([each.incumbent_cost_B for each in states])
    return states[-1], Segment(
        features_TBNF=features_ZBNF[:-1],
        open_TBNN=open_RNN.view(steps, batch.rows, *open_RNN.shape[1:]),
        move_TB2=torch.stack([each.move_B2 for each in made]),
        log_prob_TB=torch.stack([each.log_prob_B for each in made]),
        reward_TB=incumbent_ZB[:-1] - incumbent_ZB[1:],
        end_BNF=features_ZBNF[-1],
        standing_ZB2=standing(batch, cost_ZB, incumbent_ZB),
    )


def standing(batch: Batch, cost_ZB: Tensor, incumbent_ZB: Tensor) -> Tensor:
    """(Z, B, 2): the incumbent's cost, and how far the current tour is above it, in tenths; instances' units cancel.

    Costs are over the square root of the tour's length, as which optimal tours in the unit square grow.
    """
    unit_B1 = (batch.scale_B * math.sqrt(batch.length)).unsqueeze(1)
    return torch.stack((incumbent_ZB, 10 * (cost_ZB - incumbent_ZB)), 2) / unit_B1


def _repeated(batch: Batch, times: int) -> Batch:
    """All rows, so many times in turn."""
    return batch.take(torch.arange(batch.rows, device=batch.device).repeat(times))
