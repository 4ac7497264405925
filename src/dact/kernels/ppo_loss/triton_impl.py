"""The loss of an epoch as one program that holds all steps of all rows: it also writes the gradients.

Shape letters: as in reference.py, with R = T * B steps (padded).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels.launch import power_of_two
from dact.kernels.ppo_loss.reference import MEASURED, NetworkOutputs, Objective, Rewards

MOST = 8192
"""Steps that fit a program's registers."""


@triton.jit
def _returns(reward_ptr, bootstrap_ptr, step_R, inside_R, rows, T: tl.constexpr, DISCOUNT: tl.constexpr):
    row_R = step_R % rows
    return_R = tl.load(bootstrap_ptr + row_R, mask=inside_R, other=0.0)
    for back in tl.static_range(T):
        time = T - 1 - back
        reward_R = tl.load(reward_ptr + time * rows + row_R, mask=inside_R, other=0.0)
        return_R = tl.where(step_R // rows <= time, reward_R + DISCOUNT * return_R, return_R)
    return tl.where(inside_R, return_R, 0.0)


@triton.jit
def _mean(x_R, weight_R, count):
    return tl.sum(x_R * weight_R, 0) / count


@triton.jit
def _variance(x_R, weight_R, count):
    away_R = x_R - _mean(x_R, weight_R, count)
    return tl.sum(away_R * away_R * weight_R, 0) / (count - 1)


@triton.jit
def _loss_kernel(
    log_prob_ptr, entropy_ptr, value_ptr, old_log_prob_ptr, old_value_ptr, reward_ptr, bootstrap_ptr,
    weight_ptr, loss_ptr, measured_ptr, log_prob_grad_ptr, entropy_grad_ptr, value_grad_ptr, rows,
    T: tl.constexpr, R: tl.constexpr, CLIP: tl.constexpr, DISCOUNT: tl.constexpr, NORMALISE: tl.constexpr,
    BONUS: tl.constexpr,
):  # fmt: skip
    step_R = tl.arange(0, R)
    inside_R = step_R < T * rows
    count = (T * rows).to(tl.float32)
    weight_R = tl.load(weight_ptr + step_R % rows, mask=inside_R, other=0.0)
    return_R = _returns(reward_ptr, bootstrap_ptr, step_R, inside_R, rows, T, DISCOUNT)
    value_R = tl.load(value_ptr + step_R, mask=inside_R, other=0.0)
    error_R = value_R - return_R
    advantage_R = -error_R
    if NORMALISE:
        deviation = tl.sqrt(_variance(advantage_R, weight_R, count))
        advantage_R = (advantage_R - _mean(advantage_R, weight_R, count)) / (deviation + 1e-8)
    log_ratio_R = tl.load(log_prob_ptr + step_R, mask=inside_R, other=0.0)
    log_ratio_R -= tl.load(old_log_prob_ptr + step_R, mask=inside_R, other=0.0)
    ratio_R = tl.exp(log_ratio_R)
    clipped_R = tl.minimum(tl.maximum(ratio_R, 1 - CLIP), 1 + CLIP)
    gain_R = ratio_R * advantage_R
    clipped_gain_R = clipped_R * advantage_R
    actor_loss = -_mean(tl.where(gain_R > clipped_gain_R, clipped_gain_R, gain_R), weight_R, count)
    # Comparisons are written such that NaN inputs give NaN gradients.
    follows_R = (ratio_R == clipped_R) | ((gain_R >= clipped_gain_R) == 0)
    tl.store(log_prob_grad_ptr + step_R, tl.where(follows_R, -gain_R * weight_R / count, 0.0), mask=inside_R)
    old_R = tl.load(old_value_ptr + step_R, mask=inside_R, other=0.0)
    moved_R = value_R - old_R
    near_R = old_R + tl.minimum(tl.maximum(moved_R, -CLIP), CLIP)
    square_R = error_R * error_R
    near_square_R = (near_R - return_R) * (near_R - return_R)
    value_loss = _mean(tl.where(square_R < near_square_R, near_square_R, square_R), weight_R, count)
    free_R = (tl.abs(moved_R) <= CLIP) | ((square_R <= near_square_R) == 0)
    tl.store(value_grad_ptr + step_R, tl.where(free_R, 2 * error_R * weight_R / count, 0.0), mask=inside_R)
    entropy = _mean(tl.load(entropy_ptr + step_R, mask=inside_R, other=0.0), weight_R, count)
    tl.store(entropy_grad_ptr + step_R, -BONUS * weight_R / count, mask=inside_R)
    tl.store(loss_ptr, actor_loss + value_loss - BONUS * entropy)
    spread = tl.maximum(_variance(return_R, weight_R, count), 1e-12)
    tl.store(measured_ptr, actor_loss)
    tl.store(measured_ptr + 1, value_loss)
    tl.store(measured_ptr + 2, _mean(ratio_R - 1 - log_ratio_R, weight_R, count))
    tl.store(measured_ptr + 3, _mean((tl.abs(ratio_R - 1) > CLIP).to(tl.float32), weight_R, count))
    tl.store(measured_ptr + 4, 1 - _variance(error_R, weight_R, count) / spread)
    tl.store(measured_ptr + 5, entropy)
    tl.store(measured_ptr + 6, _mean(value_R, weight_R, count))


def fits(reward_TB: Tensor) -> bool:
    """Can a program hold all steps?"""
    return reward_TB.numel() <= MOST and reward_TB.dtype == torch.float32


class _PpoLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, objective: Objective, *each: Tensor) -> Any:  # noqa: ANN401
        steps, rows = each[0].shape
        loss, measured = (torch.empty(shape, device=each[0].device) for shape in ((), len(MEASURED)))
        grads = torch.empty(3, steps, rows, device=each[0].device)
        padded = power_of_two(steps * rows)
        _loss_kernel[(1,)](
            *(x.contiguous() for x in each), loss, measured, *grads, rows,
            T=steps, R=padded, CLIP=objective.clip, DISCOUNT=objective.discount, NORMALISE=objective.normalise,
            BONUS=objective.entropy_bonus, num_warps=min(16, max(4, padded // 512)),
        )  # fmt: skip
        ctx.save_for_backward(grads)
        ctx.bonus = objective.entropy_bonus > 0
        ctx.mark_non_differentiable(measured)
        return loss, measured

    @staticmethod
    def backward(ctx: Any, grad: Tensor, _: Any) -> Any:  # noqa: ANN401
        (grads,) = ctx.saved_tensors
        log_prob_grad, entropy_grad, value_grad = grad * grads
        return None, log_prob_grad, entropy_grad if ctx.bonus else None, value_grad, *(None,) * 5


def ppo_loss_triton(
    now: NetworkOutputs, old: NetworkOutputs, rewards: Rewards, objective: Objective
) -> tuple[Tensor, Tensor]:
    """The loss, with gradients, and measured_M."""
    loss, measured_M = _PpoLoss.apply(objective, *now, old.log_prob_TB, old.value_TB, *rewards)
    return loss, measured_M
