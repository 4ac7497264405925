"""Copies of an instance as one another's baseline, instead of a critic.

The rows of a group are copies of one instance. Before each segment they all take over the state of one of them, then
each makes the steps by its own draws. The advantage of a move is its row's return from there to the end of the segment,
less the mean return of the group from the same step. Rewards after the segment are not counted.

Shape letters: T steps of a segment, Z = T + 1 states, B = I * G rows, I groups of G copies, M = T * B moves, C sampled
moves, N tour length. A segment made here has one step of C rows, each a move of its own.
"""

from dataclasses import replace

import torch
from torch import Tensor

from dact.kernels.ppo_loss import n_step_returns
from dact.kernels.row_draws import STEP, row_draws
from dact.problems import Batch
from dact.search import Engine, SearchState
from dact.training.buffers import fields
from dact.training.ppo import PpoConfig
from dact.training.rollout import Credit, Segment, Task, Walk, choose, rewards, seen, walk

FLOOR = 0.5
"""Added to the size of every advantage when moves are sampled, in units of its mean."""
LEAST = 0.01
"""Smallest standard deviation that advantages are divided by, in units of its root mean square over groups."""


def copied(batch: Batch, copies: int) -> Batch:
    """Each row so many times, as consecutive rows."""
    return batch.take(torch.arange(batch.rows * copies, device=batch.device) // copies)


def gathered(state: SearchState, config: PpoConfig) -> SearchState:
    """All rows of a group in the state of one of them, each with its own stream.

    `best` is the row with the best incumbent. `any` is the first: copies are exchangeable, so it is a random one.
    """
    cost_IG = state.incumbent_cost_B.view(-1, config.group)
    member_I = cost_IG.argmin(1) if config.takeover == "best" else torch.zeros_like(cost_IG[:, 0], dtype=torch.long)
    row_I = member_I + config.group * torch.arange(len(cost_IG), device=cost_IG.device)
    row_B = row_I.unsqueeze(1).expand_as(cost_IG).reshape(-1)
    taken = {name: x[row_B] for name, x in fields(state).items()}
    return SearchState(**taken | {"stream_B": state.stream_B})


@torch.no_grad()
def group_rollout(
    engine: Engine, task: Task, batch: Batch, state: SearchState, config: PpoConfig
) -> tuple[SearchState, Segment]:
    """Gather groups and make a segment's steps. Returns the state after them and all moves, or a share of the moves,
    sampled by the size of their advantages."""
    after, steps = walk(engine, batch, gathered(state, config), config.segment)
    reward_TB = rewards(batch, steps)
    credit = credit_of(reward_TB, config)
    moves = reward_TB.numel()
    count = max(1, round(config.share * moves))
    if count == moves:
        move_C, weight_C = torch.arange(moves, device=batch.device), torch.ones_like(reward_TB).view(-1)
    else:
        stream_ZB = after.stream_B + STEP * torch.arange(config.segment + 1, device=batch.device).unsqueeze(1)
        draw_M = row_draws(stream_ZB[:-1].flatten())[0]
        advantage_TB = credit.return_TB - credit.baseline_TB
        move_C, weight_C = choose(advantage_TB.abs().view(-1), count, draw_M, FLOOR)
        after = replace(after, stream_B=stream_ZB[-1])
    credit = Credit(*(x_TB.reshape(1, -1)[:, move_C] for x_TB in credit))
    return after, _record(task, batch, steps, move_C, weight_C, credit)


def credit_of(reward_TB: Tensor, config: PpoConfig) -> Credit:
    """Returns from every step on, and their means over groups. With `scale = "group"` both are divided by the standard
    deviation of the group's returns from the first step, so that small gains count as much as large ones."""
    return_TB = n_step_returns(reward_TB, torch.zeros_like(reward_TB[0]), config.discount)
    return_TIG = return_TB.view(len(return_TB), -1, config.group)
    mean_TIG = return_TIG.mean(2, keepdim=True).expand_as(return_TIG)
    if config.scale == "group":
        square_I1 = return_TIG[0].var(1, keepdim=True)
        least = LEAST * square_I1.mean().sqrt() + torch.finfo(square_I1.dtype).tiny ** 0.5
        deviation_I1 = torch.maximum(square_I1.sqrt(), least)
        return_TIG, mean_TIG = return_TIG / deviation_I1, mean_TIG / deviation_I1
    return Credit(return_TB=return_TIG.reshape_as(return_TB), baseline_TB=mean_TIG.reshape_as(return_TB))


def _record(task: Task, batch: Batch, steps: Walk, move_C: Tensor, weight_C: Tensor, credit: Credit) -> Segment:
    """A segment of some moves, as one step of as many rows."""

    def chosen(x_TB: Tensor) -> Tensor:
        return x_TB.flatten(0, 1)[move_C]

    tour_CN, last_C2 = chosen(steps.tour_ZBN[:-1]), chosen(steps.last_TB2)
    features_CNF, open_CNN = seen(task, batch.take(move_C % batch.rows), tour_CN, last_C2)
    reward_TB = rewards(batch, steps)
    return Segment(
        features_TBNF=features_CNF.unsqueeze(0),
        open_TBNN=open_CNN.unsqueeze(0),
        move_TB2=chosen(steps.move_TB2).unsqueeze(0),
        log_prob_TB=chosen(steps.log_prob_TB).unsqueeze(0),
        reward_TB=chosen(reward_TB).unsqueeze(0),
        weight_B=weight_C,
        credit=credit,
    )
