"""Reference in plain PyTorch. Shape letters: T steps of a segment, B rows, M numbers measured."""

from typing import NamedTuple

import torch
from torch import Tensor

MEASURED = ("actor_loss", "value_loss", "approx_kl", "clip_fraction", "explained_variance", "entropy", "value")


class NetworkOutputs(NamedTuple):
    """Outputs of the networks for the steps of a segment."""

    log_prob_TB: Tensor
    entropy_TB: Tensor
    value_TB: Tensor


class Rewards(NamedTuple):
    """Rewards of the steps of a segment, and the weights of its rows."""

    reward_TB: Tensor
    bootstrap_B: Tensor
    """Values of the states behind the last step."""
    weight_B: Tensor
    """Weight of a row in all means; 1 unless rows were sampled."""


class Objective(NamedTuple):
    """Settings of the loss."""

    clip: float
    """For the ratio and for the value."""
    discount: float
    normalise: bool
    """Advantages are centred and divided by their deviation."""
    entropy_bonus: float


def ppo_loss_reference(
    now: NetworkOutputs, old: NetworkOutputs, rewards: Rewards, objective: Objective
) -> tuple[Tensor, Tensor]:
    """The loss and measured_M."""
    clip, weight_B = objective.clip, rewards.weight_B
    return_TB = n_step_returns(rewards.reward_TB, rewards.bootstrap_B, objective.discount)
    advantage_TB = return_TB - now.value_TB.detach()
    if objective.normalise:
        deviation = weighted_variance(advantage_TB, weight_B).sqrt()
        advantage_TB = (advantage_TB - weighted_mean(advantage_TB, weight_B)) / (deviation + 1e-8)
    log_ratio_TB = now.log_prob_TB - old.log_prob_TB
    ratio_TB = log_ratio_TB.exp()
    clipped_TB = ratio_TB.clamp(1 - clip, 1 + clip)
    actor_loss = -weighted_mean(torch.minimum(ratio_TB * advantage_TB, clipped_TB * advantage_TB), weight_B)
    near_TB = old.value_TB + (now.value_TB - old.value_TB).clamp(-clip, clip)
    square_TB = torch.maximum((now.value_TB - return_TB).square(), (near_TB - return_TB).square())
    value_loss = weighted_mean(square_TB, weight_B)
    loss, entropy = actor_loss + value_loss, weighted_mean(now.entropy_TB, weight_B)
    if objective.entropy_bonus > 0:
        loss = loss - objective.entropy_bonus * entropy
    with torch.no_grad():
        measured = (
            actor_loss,
            value_loss,
            weighted_mean(ratio_TB - 1 - log_ratio_TB, weight_B),
            weighted_mean(((ratio_TB - 1).abs() > clip).float(), weight_B),
            _explained_variance(now.value_TB, return_TB, weight_B),
            entropy,
            weighted_mean(now.value_TB, weight_B),
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


def _explained_variance(value_TB: Tensor, return_TB: Tensor, weight_B: Tensor) -> Tensor:
    """1 for a perfect critic, 0 for one that knows only the mean."""
    spread = weighted_variance(return_TB, weight_B).clamp(min=1e-12)
    return 1 - weighted_variance(return_TB - value_TB, weight_B) / spread


def weighted_mean(x_TB: Tensor, weight_B: Tensor) -> Tensor:
    """The mean over all steps, where rows have weights."""
    return (x_TB * weight_B).mean()


def weighted_variance(x_TB: Tensor, weight_B: Tensor) -> Tensor:
    """The variance over all steps, where rows have weights."""
    return ((x_TB - weighted_mean(x_TB, weight_B)).square() * weight_B).sum() / (x_TB.numel() - 1)
