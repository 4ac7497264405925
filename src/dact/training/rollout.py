"""Steps with the current policy: recorded for an update, or only to get to better solutions.

Shape letters: T steps of a segment, B rows, N tour length, F features.
"""

from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from dact.operators import Operator
from dact.policy import PairDistribution
from dact.problems import Batch, Problem
from dact.search import SearchState, open_moves, restart, step
from dact.training.networks import Networks


@dataclass(frozen=True, kw_only=True)
class Task:
    """What is trained on: a problem and the operator that moves its tours."""

    problem: Problem
    operator: Operator


@dataclass(frozen=True, kw_only=True)
class Segment:
    """What happened in T steps, as far as the update needs it."""

    features_TBNF: Tensor
    open_TBNN: Tensor
    """Which moves could be drawn."""
    move_TB2: Tensor
    log_prob_TB: Tensor
    """As the rollout computed them. The update takes its own; these are there to be compared."""
    reward_TB: Tensor
    end_BNF: Tensor
    """Features of the state behind the last step."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the policy saw and did in one step."""

    features_BNF: Tensor
    open_BNN: Tensor
    move_B2: Tensor
    moves: PairDistribution


def choose(networks: Networks, task: Task, batch: Batch, state: SearchState, generator: Generator) -> Choice:
    """Draw a move for each row."""
    features_BNF = task.problem.node_features(batch, state.tour_BN)
    open_BNN = open_moves(task.problem, batch, state, task.operator)
    moves = PairDistribution(networks.decode(networks.encode(features_BNF)), open_BNN)
    return Choice(features_BNF=features_BNF, open_BNN=open_BNN, move_B2=moves.sample(generator), moves=moves)


@torch.no_grad()
def rollout(
    networks: Networks, task: Task, batch: Batch, state: SearchState, steps: int, generator: Generator
) -> tuple[SearchState, Segment]:
    """The state after some steps, and the record of them. Nothing is restarted in training."""
    choices, rewards = [], []
    for _ in range(steps):
        choice = choose(networks, task, batch, state, generator)
        state, reward_B = step(task.operator, batch, state, choice.move_B2)
        choices.append(choice)
        rewards.append(reward_B)
    return state, Segment(
        features_TBNF=torch.stack([choice.features_BNF for choice in choices]),
        open_TBNN=torch.stack([choice.open_BNN for choice in choices]),
        move_TB2=torch.stack([choice.move_B2 for choice in choices]),
        log_prob_TB=torch.stack([choice.moves.log_prob(choice.move_B2) for choice in choices]),
        reward_TB=torch.stack(rewards),
        end_BNF=task.problem.node_features(batch, state.tour_BN),
    )


@torch.no_grad()
def walk(
    networks: Networks, task: Task, batch: Batch, state: SearchState, generator: Generator, patience: int | None = None
) -> SearchState:
    """One step of which nothing is kept but the state: what `PlainEngine` does, in training's precision."""
    choice = choose(networks, task, batch, state, generator)
    state, _ = step(task.operator, batch, state, choice.move_B2)
    return state if patience is None else restart(state, patience)
