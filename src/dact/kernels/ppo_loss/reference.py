"""The truth: plain PyTorch. Shape letters: T steps of a segment, B rows, M numbers measured."""

from typing import NamedTuple

import torch
from torch import Tensor

MEASURED = ("actor_loss", "value_loss", "approx_kl", "clip_fraction", "explained_variance", "entropy", "value")


class Evaluation(NamedTuple):
    """What the networks say about the steps of a segment."""

    log_prob_TB: Tensor
    entropy_TB: Tensor
    value_TB: Tensor


class Objective(NamedTuple):
    """What is asked for."""

    clip: float
    """For the ratio and for the value."""
    discount: float
    normalise: bool
    """Advantages are centred and divided by their deviation."""
    entropy_bonus: float


def ppo_loss_reference(
    now: Evaluation, old: Evaluation, reward_TB: Tensor, bootstrap_B: Tensor, objective: Objective
) -> tuple[Tensor, Tensor]:
    """The loss and measured_M."""
    clip = objective.clip
    return_TB = n_step_returns(reward_TB, bootstrap_B, objective.discount)
    advantage_TB = return_TB - now.value_TB.detach()
    if objective.normalise:
        advantage_TB = (advantage_TB - advantage_TB.mean()) / (advantage_TB.std() + 1e-8)
    log_ratio_TB = now.log_prob_TB - old.log_prob_TB
    ratio_TB = log_ratio_TB.exp()
    clipped_TB = ratio_TB.clamp(1 - clip, 1 + clip)
    actor_loss = -torch.minimum(ratio_TB * advantage_TB, clipped_TB * advantage_TB).mean()
    near_TB = old.value_TB + (now.value_TB - old.value_TB).clamp(-clip, clip)
    value_loss = torch.maximum((now.value_TB - return_TB).square(), (near_TB - return_TB).square()).mean()
    loss = actor_loss + value_loss
    if objective.entropy_bonus > 0:
        loss = loss - objective.entropy_bonus * now.entropy_TB.mean()
    with torch.no_grad():
        measured = (
            actor_loss,
            value_loss,
            (ratio_TB - 1 - log_ratio_TB).mean(),
            ((ratio_TB - 1).abs() > clip).float().mean(),
            explained_variance(now.value_TB, return_TB),
            now.entropy_TB.mean(),
            now.value_TB.mean(),
        )
        return loss, torch.stack(measured)


def n_step_returns(reward_TB: Tensor, bootstrap_B: Tensor, discount: float) -> Tensor:
    """R_t = r_t + discount * R_(t+1), from the critic's value of the state behind the last step (Algorithm 1)."""
    following_B = bootstrap_B
    backwards = []
    for reward_B in reward_TB.flip(0).unbind(0):
        following_B = reward_B + discount * following_B
        backwards.append(following_B)
    return torch.stack(backwards[::-1])


def explained_variance(value_TB: Tensor, return_TB: Tensor) -> Tensor:
    """1 for a perfect critic, 0 for one that knows only the mean."""
    return 1 - (return_TB - value_TB).var() / return_TB.var().clamp(min=1e-12)
