"""The loss of one update epoch (Eqs. PPO and BL), and its metrics.

    R_t = r_t + discount * R_(t+1), from the critic's value of the state behind the last step    (Algorithm 1)
    A = R - v,    q = exp(log_prob - old log_prob)
    actor = -mean min(q A, clip(q) A),    value = mean max((v - R)^2, (old v + clip(v - old v) - R)^2)
    loss = actor + value - bonus * mean entropy

where rows have weights in all means. Returns and advantages are constants to the gradient.
"""

import torch
from torch import Tensor

from dact.kernels.launch import runs_triton
from dact.kernels.ppo_loss.reference import (
    MEASURED,
    NetworkOutputs,
    Objective,
    Rewards,
    n_step_returns,
    ppo_loss_reference,
    weighted_mean,
    weighted_variance,
)


def ppo_loss(now: NetworkOutputs, old: NetworkOutputs, rewards: Rewards, objective: Objective) -> tuple[Tensor, Tensor]:
    """The loss and what was MEASURED: one kernel on GPUs for batches it has room for, else plain PyTorch."""
    if runs_triton(rewards.reward_TB):
        from dact.kernels.ppo_loss.triton_impl import fits, ppo_loss_triton

        if fits(rewards.reward_TB):
            loss, measured_M = ppo_loss_triton(now, old, rewards, objective)
            return torch.as_tensor(loss), torch.as_tensor(measured_M)
    return ppo_loss_reference(now, old, rewards, objective)


__all__ = [
    "MEASURED",
    "NetworkOutputs",
    "Objective",
    "Rewards",
    "n_step_returns",
    "ppo_loss",
    "ppo_loss_reference",
    "weighted_mean",
    "weighted_variance",
]
