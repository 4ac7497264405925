"""Rollout: steps with the current policy, recorded for an update.

Shape letters: T steps of a segment, B rows, C chosen rows, Z = T + 1 states, R = T * B or Z * B rows, N tour length,
F features. In a segment, B are the chosen rows.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from dact.kernels.pick_move import open_pairs
from dact.kernels.row_draws import STEP, row_draws
from dact.operators import OPERATORS
from dact.problems import Batch, Problem
from dact.search import NEVER, Engine, SearchConfig, SearchState, look

FLOOR = 2.0
"""Reward added to every row when rows are sampled, in mean rewards; measured in docs/log.md."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """The problem and the operator that are trained on."""

    problem: Problem
    operator: str

    def search(self, patience: int = NEVER) -> SearchConfig:
        """Settings of the search in a rollout."""
        return SearchConfig(operator=self.operator, patience=patience)


class Walk(NamedTuple):
    """The T steps of a rollout as the search made them, per state or per step."""

    tour_ZBN: Tensor
    last_TB2: Tensor
    move_TB2: Tensor
    log_prob_TB: Tensor
    cost_ZB: Tensor
    incumbent_ZB: Tensor


@dataclass(frozen=True, kw_only=True)
class Segment:
    """T steps, as the update needs them."""

    features_TBNF: Tensor
    open_TBNN: Tensor
    """Which moves could be drawn."""
    move_TB2: Tensor
    log_prob_TB: Tensor
    """By the engine, for comparison only: the update computes its own."""
    reward_TB: Tensor
    end_BNF: Tensor
    """Features of the state after the last step."""
    standing_ZB2: Tensor
    """Costs of all states, as inputs of the critic."""
    weight_B: Tensor
    """Weight of each row in the loss."""


@torch.no_grad()
def rollout(
    engine: Engine,
    task: Task,
    batch: Batch,
    state: SearchState,
    steps: int,
    share: float = 1.0,
) -> tuple[SearchState, Segment]:
    """Make some steps. Returns the state after them and their segment, of all rows or of a share sampled by
    `choose`."""
    engine.refresh()
    states, made = [state], []
    for _ in range(steps):
        made.append(engine.step(batch, states[-1]))
        states.append(made[-1].state)
    walk = Walk(
        tour_ZBN=torch.stack([each.tour_BN for each in states]),
        last_TB2=torch.stack([each.last_move_B2 for each in states[:-1]]),
        move_TB2=torch.stack([each.move_B2 for each in made]),
        log_prob_TB=torch.stack([each.log_prob_B for each in made]),
        cost_ZB=torch.stack([each.cost_B for each in states]),
        incumbent_ZB=torch.stack([each.incumbent_cost_B for each in states]),
    )
    count = max(1, round(share * batch.rows))
    if count == batch.rows:
        return states[-1], _segment(task, batch, walk, torch.ones_like(walk.cost_ZB[0]))
    stream_B = states[-1].stream_B
    row_C, weight_C = choose(walk.incumbent_ZB[0] - walk.incumbent_ZB[-1], count, row_draws(stream_B)[0])
    segment = _segment(task, batch.take(row_C), Walk(*(x[:, row_C] for x in walk)), weight_C)
    return replace(states[-1], stream_B=stream_B + STEP), segment


def choose(gain_B: Tensor, count: int, draw_B: Tensor) -> tuple[Tensor, Tensor]:
    """Sample rows for an update, more likely those with higher rewards, with weights that keep means unbiased.

    Near the end of training few rows gain anything in a few steps, and the gradient is mostly theirs. Priority sampling
    (Duffield, Lund and Thorup, 2007): no row twice, and weighted means over the chosen rows have the means over all
    rows as expected values.
    """
    chance_B = gain_B + FLOOR * gain_B.mean() + torch.finfo(gain_B.dtype).tiny ** 0.5
    priority_B = chance_B / draw_B.to(gain_B.dtype)
    highest = priority_B.topk(count + 1)
    row_C = highest.indices[:-1]
    weight_C = (highest.values[-1] / chance_B[row_C]).clamp(min=1) * (count / len(gain_B))
    return row_C, weight_C


def _segment(task: Task, batch: Batch, walk: Walk, weight_B: Tensor) -> Segment:
    """Features and open moves of all states at once, in few kernels."""
    steps = len(walk.move_TB2)
    features_RNF, open_RNN = seen(task, batch, walk.tour_ZBN, walk.last_TB2)
    features_ZBNF = features_RNF.view(steps + 1, batch.rows, *features_RNF.shape[1:])
    return Segment(
        features_TBNF=features_ZBNF[:-1],
        open_TBNN=open_RNN.view(steps, batch.rows, *open_RNN.shape[1:]),
        move_TB2=walk.move_TB2,
        log_prob_TB=walk.log_prob_TB,
        reward_TB=walk.incumbent_ZB[:-1] - walk.incumbent_ZB[1:],
        end_BNF=features_ZBNF[-1],
        standing_ZB2=standing(batch, walk.cost_ZB, walk.incumbent_ZB),
        weight_B=weight_B,
    )


def seen(task: Task, batch: Batch, tour_ZBN: Tensor, last_TB2: Tensor) -> tuple[Tensor, Tensor]:
    """Features of all states, and open moves of all but the last, with states as consecutive rows."""
    each = _repeated(batch, len(tour_ZBN))
    features_RNF, feasible = look(task.problem, each, tour_ZBN.flatten(0, 1), OPERATORS[task.operator])
    seen_RN, last_R2 = tour_ZBN[:-1].flatten(0, 1), last_TB2.flatten(0, 1)
    return features_RNF, open_pairs(seen_RN, last_R2, feasible.rows(len(last_R2)))


def standing(batch: Batch, cost_ZB: Tensor, incumbent_ZB: Tensor) -> Tensor:
    """(Z, B, 2): the incumbent's cost, and ten times the excess of the current tour's cost over it, in the unit
    square and divided by the square root of the tour length, with which optimal tours grow.
    """
    unit_B1 = (batch.scale_B * math.sqrt(batch.length)).unsqueeze(1)
    return torch.stack((incumbent_ZB, 10 * (cost_ZB - incumbent_ZB)), 2) / unit_B1


def _repeated(batch: Batch, times: int) -> Batch:
    """The batch repeated `times` times."""
    return batch.take(torch.arange(batch.rows, device=batch.device).repeat(times))
