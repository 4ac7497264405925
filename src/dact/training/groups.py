"""Copies of an instance that judge one another: a baseline that needs no critic.

The rows of a group are copies of one instance. Before each segment all of them take over the state of one; then each
makes the segment's steps by its own draws. A move's advantage is what its row gained from there to the segment's end,
less what the group gained on average over the same steps. Beyond the end nothing is credited.

Shape letters: T steps of a segment, Z = T + 1 states, B = I * G rows, I groups of G copies, M = T * B moves, C chosen
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
from dact.training.rollout import Judged, Segment, Task, Walk, choose, seen, walk

FLOOR = 0.5
"""What counts as advantage of every move when moves are chosen, in mean advantages."""
LEAST = 0.01
"""The smallest deviation that a group's advantages are divided by, in root mean squares of all groups'."""


def copied(batch: Batch, copies: int) -> Batch:
    """Each row so many times, copies side by side."""
    return batch.take(_each(batch.rows, copies, batch.device))


def gathered(state: SearchState, config: PpoConfig) -> SearchState:
    """All rows of a group stand where one of them does, each with its own draws.

    That is the one with the best incumbent, or the first: copies are alike, so that it is as good as any at random.
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
    """The state after a segment's steps from groups that are gathered, and the record of its moves, or of a share of
    them, in which those with large advantages are more likely."""
    after, steps = walk(engine, batch, gathered(state, config), config.segment)
    reward_TB = steps.incumbent_ZB[:-1] - steps.incumbent_ZB[1:]
    judged = judge(reward_TB, config)
    moves = reward_TB.numel()
    count = max(1, round(config.share * moves))
    if count == moves:
        move_C, weight_C = torch.arange(moves, device=batch.device), torch.ones_like(reward_TB).view(-1)
    else:
        stream_ZB = after.stream_B + STEP * torch.arange(config.segment + 1, device=batch.device).unsqueeze(1)
        draw_M = row_draws(stream_ZB[:-1].flatten())[0]
        advantage_TB = judged.return_TB - judged.baseline_TB
        move_C, weight_C = choose(advantage_TB.abs().view(-1), count, draw_M, FLOOR)
        after = replace(after, stream_B=stream_ZB[-1])
    judged = Judged(*(x_TB.view(1, -1)[:, move_C] for x_TB in judged))
    return after, _record(task, batch, steps, move_C, weight_C, judged)


def judge(reward_TB: Tensor, config: PpoConfig) -> Judged:
    """What each row gained from every step on, and its group on average; with `scale = "group"` over the deviation of
    what the group's rows gained in all, so that small gains late in a search count as much as large ones early on."""
    return_TB = n_step_returns(reward_TB, torch.zeros_like(reward_TB[0]), config.discount)
    return_TIG = return_TB.view(len(return_TB), -1, config.group)
    mean_TIG = return_TIG.mean(2, keepdim=True).expand_as(return_TIG)
    if config.scale == "group":
        square_I1 = return_TIG[0].var(1, keepdim=True)
        least = LEAST * square_I1.mean().sqrt() + torch.finfo(square_I1.dtype).tiny ** 0.5
        deviation_I1 = torch.maximum(square_I1.sqrt(), least)
        return_TIG, mean_TIG = return_TIG / deviation_I1, mean_TIG / deviation_I1
    return Judged(return_TB=return_TIG.reshape_as(return_TB), baseline_TB=mean_TIG.reshape_as(return_TB))


def _record(task: Task, batch: Batch, steps: Walk, move_C: Tensor, weight_C: Tensor, judged: Judged) -> Segment:
    """Of some moves, as one step of as many rows."""

    def chosen(x_TB: Tensor) -> Tensor:
        return x_TB.flatten(0, 1)[move_C]

    tour_CN, last_C2 = chosen(steps.tour_ZBN[:-1]), chosen(steps.last_TB2)
    features_CNF, open_CNN = seen(task, batch.take(move_C % batch.rows), tour_CN, last_C2)
    reward_TB = steps.incumbent_ZB[:-1] - steps.incumbent_ZB[1:]
    return Segment(
        features_TBNF=features_CNF.unsqueeze(0),
        open_TBNN=open_CNN.unsqueeze(0),
        move_TB2=chosen(steps.move_TB2).unsqueeze(0),
        log_prob_TB=chosen(steps.log_prob_TB).unsqueeze(0),
        reward_TB=chosen(reward_TB).unsqueeze(0),
        weight_B=weight_C,
        judged=judged,
    )


def _each(rows: int, copies: int, device: torch.device) -> Tensor:
    return torch.arange(rows * copies, device=device) // copies
