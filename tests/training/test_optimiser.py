"""The optimiser."""

import pytest
import torch
from torch import nn

from dact.training.optimiser import Optimiser


def networks(seed=0):
    """An actor and a critic of a few numbers."""
    torch.manual_seed(seed)
    return nn.Linear(3, 4), nn.Linear(3, 1)


def loss_of(actor, critic, seed):
    """Some loss with gradients of very different size for the two."""
    x = torch.randn(8, 3, generator=torch.Generator().manual_seed(seed))
    return 0.01 * actor(x).square().mean() + 50 * (critic(x) - 1).square().mean()


def test_equals_two_plain_adams():
    """Several clipped steps with changing rates end where PyTorch's plain way ends."""
    ours, plain = networks(), networks()
    optimiser = Optimiser(*ours)
    adams = [torch.optim.Adam(module.parameters(), lr=1.0) for module in plain]
    go = torch.zeros((), dtype=torch.bool)
    for step in range(5):
        rates = (1e-2 / (step + 1), 3e-3 / (step + 1))
        optimiser.set_rates(*rates)
        norm_2, skipped = optimiser.step(loss_of(*ours, step), 0.5, go)
        loss_of(*plain, step).backward()
        for place, (module, adam) in enumerate(zip(plain, adams, strict=True)):
            norm = torch.nn.utils.clip_grad_norm_(module.parameters(), 0.5)
            assert norm_2[place].item() == pytest.approx(norm.item(), rel=1e-5)
            adam.param_groups[0]["lr"] = rates[place]
            adam.step()
            adam.zero_grad()
        assert skipped == 0
    for module, expected in zip(ours, plain, strict=True):
        for x, y in zip(module.parameters(), expected.parameters(), strict=True):
            torch.testing.assert_close(x, y)


def test_making_one_changes_no_weight():
    """Adam's memory is there from the start, empty, and the weights are as they were."""
    ours, same = networks(), networks()
    optimiser = Optimiser(*ours)
    for module, expected in zip(ours, same, strict=True):
        for x, y in zip(module.parameters(), expected.parameters(), strict=True):
            assert torch.equal(x, y)
    state = optimiser.tensors()
    assert len(state) == 3 * 4
    assert all(not x.any() for x in state.values())


def test_a_skipped_step_changes_nothing():
    """Neither weights nor memory."""
    ours = networks()
    optimiser = Optimiser(*ours)
    optimiser.set_rates(0.1, 0.1)
    optimiser.step(loss_of(*ours, 0), 1.0, torch.zeros((), dtype=torch.bool))
    before = [x.clone() for module in ours for x in module.parameters()] + [
        x.clone() for x in optimiser.tensors().values()
    ]
    _, skipped = optimiser.step(loss_of(*ours, 1), 1.0, torch.ones((), dtype=torch.bool))
    after = [x for module in ours for x in module.parameters()] + list(optimiser.tensors().values())
    assert skipped == 1
    assert all(torch.equal(x, y) for x, y in zip(before, after, strict=True))


def test_gradients_are_averaged_before_they_are_clipped():
    """What a group of processes would do, with a mean that halves."""
    ours = networks()

    def halve(gradients):
        torch._foreach_mul_(gradients, 0.5)

    halved = Optimiser(*ours, average=halve)
    others = networks()
    plain = Optimiser(*others)
    go = torch.zeros((), dtype=torch.bool)
    norm_2, _ = halved.step(loss_of(*ours, 0), 1e9, go)
    expected_2, _ = plain.step(loss_of(*others, 0), 1e9, go)
    torch.testing.assert_close(norm_2, expected_2 / 2)
