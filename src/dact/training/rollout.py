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
from dact.training.guide import SolvedBatch

FLOOR = 2.0
"""Reward added to every row when rows are sampled, in mean rewards; measured in docs/log.md."""

SEEN_PAIRS = 2_000_000
"""Pairs of positions on a CPU for which allowed moves are computed at once."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """The problem and the search that are trained on."""

    problem: Problem
    operator: str
    tabu: int = 0
    """Recent tours that moves should not lead back to."""

    def search(self, patience: int = NEVER) -> SearchConfig:
        """Settings of the search in a rollout."""
        return SearchConfig(operator=self.operator, patience=patience, tabu=self.tabu)


class Walk(NamedTuple):
    """The T steps of a rollout as the search made them, per state or per step."""

    tour_ZBN: Tensor
    last_TB2: Tensor
    move_TB2: Tensor
    log_prob_TB: Tensor
    cost_ZB: Tensor
    incumbent_ZB: Tensor


class Credit(NamedTuple):
    """Returns and their baseline, where the critic provides neither."""

    return_TB: Tensor
    baseline_TB: Tensor


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
    weight_B: Tensor
    """Weight of each row in the loss."""
    end_BNF: Tensor | None = None
    """Features of the state after the last step, as input of the critic."""
    standing_ZB2: Tensor | None = None
    """Costs of all states, as inputs of the critic."""
    credit: Credit | None = None
    """Instead of the critic's inputs."""


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
    after, made = walk(engine, batch, state, steps)
    count = max(1, round(share * batch.rows))
    if count == batch.rows:
        return after, _segment(task, batch, made, torch.ones_like(made.cost_ZB[0]))
    gain_B = made.incumbent_ZB[0] - made.incumbent_ZB[-1]
    row_C, weight_C = choose(gain_B, count, row_draws(after.stream_B)[0])
    segment = _segment(task, batch.take(row_C), Walk(*(x[:, row_C] for x in made)), weight_C)
    return replace(after, stream_B=after.stream_B + STEP), segment


def walk(engine: Engine, batch: Batch, state: SearchState, steps: int) -> tuple[SearchState, Walk]:
    """Make some steps. Returns the state after them, and all that happened."""
    engine.refresh()
    states, made = [state], []
    for _ in range(steps):
        made.append(engine.step(batch, states[-1]))
        states.append(made[-1].state)
    return states[-1], Walk(
        tour_ZBN=torch.stack([each.tour_BN for each in states]),
        last_TB2=torch.stack([each.last_move_B2 for each in states[:-1]]),
        move_TB2=torch.stack([each.move_B2 for each in made]),
        log_prob_TB=torch.stack([each.log_prob_B for each in made]),
        cost_ZB=torch.stack([each.cost_B for each in states]),
        incumbent_ZB=torch.stack([each.incumbent_cost_B for each in states]),
    )


def rewards(batch: Batch, made: Walk) -> Tensor:
    """(T, B): what the incumbents gained, and what a guide pays."""
    gain_TB = made.incumbent_ZB[:-1] - made.incumbent_ZB[1:]
    return gain_TB + batch.rewards(made.tour_ZBN) if isinstance(batch, SolvedBatch) else gain_TB


def choose(gain_B: Tensor, count: int, draw_B: Tensor, floor: float = FLOOR) -> tuple[Tensor, Tensor]:
    """Sample rows for an update, more likely those with higher rewards, with weights that keep means unbiased.

    Near the end of training few rows gain anything in a few steps, and the gradient is mostly theirs. Priority sampling
    (Duffield, Lund and Thorup, 2007): no row twice, and weighted means over the chosen rows have the means over all
    rows as expected values.
    """
    chance_B = gain_B + floor * gain_B.mean() + torch.finfo(gain_B.dtype).tiny ** 0.5
    priority_B = chance_B / draw_B.to(gain_B.dtype)
    highest = priority_B.topk(count + 1)
    row_C = highest.indices[:-1]
    weight_C = (highest.values[-1] / chance_B[row_C]).clamp(min=1) * (count / len(gain_B))
    return row_C, weight_C


def _segment(task: Task, batch: Batch, made: Walk, weight_B: Tensor) -> Segment:
    """Features and open moves of all states at once, in few kernels."""
    steps = len(made.move_TB2)
    each = _repeated(batch, steps + 1)
    features_RNF, open_RNN = seen(task, each, made.tour_ZBN.flatten(0, 1), made.last_TB2.flatten(0, 1))
    features_ZBNF = features_RNF.view(steps + 1, batch.rows, *features_RNF.shape[1:])
    return Segment(
        features_TBNF=features_ZBNF[:-1],
        open_TBNN=open_RNN.view(steps, batch.rows, *open_RNN.shape[1:]),
        move_TB2=made.move_TB2,
        log_prob_TB=made.log_prob_TB,
        reward_TB=rewards(batch, made),
        end_BNF=features_ZBNF[-1],
        standing_ZB2=standing(batch, made.cost_ZB, made.incumbent_ZB),
        weight_B=weight_B,
    )


def seen(task: Task, batch: Batch, tour_RN: Tensor, last_R2: Tensor) -> tuple[Tensor, Tensor]:
    """Features of all rows, and open moves of the first rows, those whose last moves are given."""
    if batch.device.type == "cpu" and len(tour_RN) > (most := max(1, SEEN_PAIRS // batch.length**2)):
        # Intermediate results take many times the memory of what is kept.
        parts = torch.split(torch.arange(len(tour_RN)), most)
        found = [seen(task, batch.take(row_C), tour_RN[row_C], last_R2[row_C[0] : row_C[-1] + 1]) for row_C in parts]
        features, opened = zip(*found, strict=True)
        return torch.cat(features), torch.cat(opened)
    features_RNF, feasible = look(task.problem, batch, tour_RN, OPERATORS[task.operator])
    return features_RNF, open_pairs(tour_RN[: len(last_R2)], last_R2, feasible.rows(len(last_R2)))


def standing(batch: Batch, cost_ZB: Tensor, incumbent_ZB: Tensor) -> Tensor:
    """(Z, B, 2): the incumbent's cost, and ten times the excess of the current tour's cost over it, in the unit
    square and divided by the square root of the tour length, with which optimal tours grow.
    """
    unit_B1 = (batch.scale_B * math.sqrt(batch.length)).unsqueeze(1)
    return torch.stack((incumbent_ZB, 10 * (cost_ZB - incumbent_ZB)), 2) / unit_B1


def _repeated(batch: Batch, times: int) -> Batch:
    """The batch repeated `times` times."""
    return batch.take(torch.arange(batch.rows, device=batch.device).repeat(times))
