"""The loss of an epoch in one kernel against plain PyTorch, value, measurements and gradients."""

import pytest
import torch
from torch import Tensor

from dact.kernels.ppo_loss import NetworkOutputs, Objective, Rewards, ppo_loss, ppo_loss_reference, weighted_mean

pytest.importorskip("triton")
PLAIN = Objective(clip=0.1, discount=0.999, normalise=False, entropy_bonus=0.0)


def case(steps: int, rows: int, device: str) -> tuple[NetworkOutputs, NetworkOutputs, Rewards]:
    """Ratios and values within and beyond the clip, both ways, and rows of different weights."""
    generator = torch.Generator().manual_seed(steps * rows)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).to(device)

    old = NetworkOutputs(*(draw(steps, rows) for _ in range(3)))
    now = NetworkOutputs(*((x + 0.1 * draw(steps, rows)).requires_grad_() for x in old))
    return now, old, Rewards(draw(steps, rows), draw(rows), draw(rows).abs())


@pytest.mark.parametrize(("steps", "rows"), [(1, 2), (4, 8), (5, 7), (4, 33)])
@pytest.mark.parametrize(
    "objective", [PLAIN, PLAIN._replace(normalise=True), PLAIN._replace(entropy_bonus=0.3, discount=0.9)]
)
@pytest.mark.usefixtures("poisoned")
def test_kernel_equals_the_reference(steps: int, rows: int, objective: Objective, device: str) -> None:
    """Loss, measurements, and the gradients of log-probabilities, values and entropies."""
    from dact.kernels.ppo_loss.triton_impl import ppo_loss_triton

    now, old, rewards = case(steps, rows, device)
    wanted = now if objective.entropy_bonus > 0 else (now.log_prob_TB, now.value_TB)
    loss, measured = ppo_loss_triton(now, old, rewards, objective)
    expected_loss, expected = ppo_loss_reference(now, old, rewards, objective)
    torch.testing.assert_close(loss, expected_loss, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(measured, expected, atol=1e-5, rtol=1e-4)
    theirs = torch.autograd.grad(expected_loss, wanted)
    for ours, expected_grad in zip(torch.autograd.grad(loss, wanted), theirs, strict=True):
        torch.testing.assert_close(ours, expected_grad, atol=1e-6, rtol=1e-4)


@pytest.mark.usefixtures("poisoned")
def test_the_policy_that_acted(device: str) -> None:
    """At ratio one and value unmoved, where both sides of each clip agree, gradients are those of the plain losses."""
    from dact.kernels.ppo_loss.triton_impl import ppo_loss_triton

    now, _, rewards = case(4, 8, device)
    old = NetworkOutputs(*(x.detach() for x in now))
    wanted = (now.log_prob_TB, now.value_TB)
    ours = torch.autograd.grad(ppo_loss_triton(now, old, rewards, PLAIN)[0], wanted)
    theirs = torch.autograd.grad(ppo_loss_reference(now, old, rewards, PLAIN)[0], wanted)
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-4)


@pytest.mark.usefixtures("poisoned")
def test_a_bonus_beside_the_kernel(device: str) -> None:
    """One that is a tensor, taken off the loss behind the kernel, has the loss and the gradients of one inside."""
    from dact.kernels.ppo_loss.triton_impl import ppo_loss_triton

    now, old, rewards = case(4, 8, device)
    bonus = torch.tensor(0.3, device=device)
    beside = ppo_loss_triton(now, old, rewards, PLAIN)[0] - bonus * weighted_mean(now.entropy_TB, rewards.weight_B)
    inside = ppo_loss_triton(now, old, rewards, PLAIN._replace(entropy_bonus=0.3))[0]
    torch.testing.assert_close(beside, inside)
    torch.testing.assert_close(torch.autograd.grad(beside, now), torch.autograd.grad(inside, now))


@pytest.mark.usefixtures("poisoned")
def test_what_is_not_a_number_stays_so(device: str) -> None:
    """A reward that is not a number spoils the loss and the gradient, so that the step is skipped."""
    from dact.kernels.ppo_loss.triton_impl import ppo_loss_triton

    now, old, rewards = case(2, 3, device)
    rewards.reward_TB[0, 1] = torch.nan
    loss, _ = ppo_loss_triton(now, old, rewards, PLAIN)
    assert loss.isnan()
    for grad in torch.autograd.grad(loss, (now.log_prob_TB, now.value_TB)):
        assert grad[0, 1].isnan()


def test_large_batches_take_the_reference() -> None:
    """What the kernel has no room for is computed all the same."""
    from dact.kernels.ppo_loss.triton_impl import fits

    assert fits(torch.zeros(4, 2048))
    assert not fits(torch.zeros(4, 2049))
    now, old, rewards = case(2, 3, "cpu")
    assert ppo_loss(now, old, rewards, PLAIN)[0].isfinite()
