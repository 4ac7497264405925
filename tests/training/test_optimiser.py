"""The optimiser."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

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
    go = torch.zeros(())
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


def test_a_norm_below_the_limit_is_left_alone():
    """The step is the one without any limit."""
    ends = []
    for limit in (1e3, 1e9):
        ours = networks()
        optimiser = Optimiser(*ours)
        optimiser.set_rates(0.1, 0.1)
        optimiser.step(loss_of(*ours, 0), limit, torch.zeros(()))
        ends.append([x.clone() for module in ours for x in module.parameters()])
    assert all(torch.equal(x, y) for x, y in zip(*ends, strict=True))


def test_the_scale_cancels():
    """A scale that keeps small gradients in half precision changes neither the step nor the norms it reports."""
    ends = []
    for scale in (1.0, 2.0**14):
        ours = networks()
        optimiser = Optimiser(*ours, scale=scale)
        optimiser.set_rates(0.1, 0.1)
        norm_2, _ = optimiser.step(loss_of(*ours, 0), 0.5, torch.zeros(()))
        ends.append([norm_2, *(x.clone() for module in ours for x in module.parameters())])
    torch.testing.assert_close(*ends)


def test_a_step_takes_few_kernels():
    """Apart from the gradients themselves, a dozen operations, however many parameters there are."""
    ours = nn.Sequential(*(nn.Linear(5, 5) for _ in range(20))), nn.Linear(5, 1)
    optimiser = Optimiser(*ours)
    loss = ours[1](ours[0](torch.rand(3, 5))).sum()
    one, go = torch.ones(()), torch.zeros(())
    with Counter() as backward:
        torch.autograd.grad(loss, [x for group in optimiser.groups for x in group], one, retain_graph=True)
    with Counter() as step:
        optimiser.step(loss, 1.0, go)
    assert step.kernels - backward.kernels <= 12


class Counter(TorchDispatchMode):
    """Counts operations that are no views."""

    def __init__(self):
        super().__init__()
        self.kernels = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.kernels += not func.is_view and func.__name__.split(".")[0] != "detach"
        return func(*args, **(kwargs or {}))


def test_parameters_are_views_that_are_well_aligned():
    """All live in one tensor, each at a multiple of 256 bytes, and can still be loaded into."""
    ours = networks()
    optimiser = Optimiser(*ours)
    start = optimiser.value_GL.data_ptr()
    assert all((x.data_ptr() - start) % 256 == 0 for module in ours for x in module.parameters())
    ours[0].load_state_dict({"weight": torch.ones(4, 3), "bias": torch.ones(4)})
    assert optimiser.value_GL[0].sum() == 16


def test_making_one_changes_no_weight():
    """Adam's memory is there from the start, empty, and the weights are as they were."""
    ours, same = networks(), networks()
    optimiser = Optimiser(*ours)
    for module, expected in zip(ours, same, strict=True):
        for x, y in zip(module.parameters(), expected.parameters(), strict=True):
            assert torch.equal(x, y)
    state = optimiser.tensors()
    assert set(state) == {f"{place}.{name}" for place in range(4) for name in ("step", "exp_avg", "exp_avg_sq")}
    assert all(not x.any() for x in state.values())


def test_a_skipped_step_changes_nothing():
    """Neither weights nor memory."""
    ours = networks()
    optimiser = Optimiser(*ours)
    optimiser.set_rates(0.1, 0.1)
    optimiser.step(loss_of(*ours, 0), 1.0, torch.zeros(()))
    before = [x.clone() for module in ours for x in module.parameters()] + [
        x.clone() for x in optimiser.tensors().values()
    ]
    _, skipped = optimiser.step(loss_of(*ours, 1), 1.0, torch.ones(()))
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
    go = torch.zeros(())
    norm_2, _ = halved.step(loss_of(*ours, 0), 1e9, go)
    expected_2, _ = plain.step(loss_of(*others, 0), 1e9, go)
    torch.testing.assert_close(norm_2, expected_2 / 2)


def test_running_mean():
    """Weights by step are weighed as the factor says, once there have been enough of them."""
    ours = networks()
    optimiser = Optimiser(*ours, smoothing=0.8)
    optimiser.set_rates(0.1, 0.1)
    expected = optimiser.value_GL.clone()
    for step in range(60):
        optimiser.step(loss_of(*ours, step), 1.0, torch.zeros(()))
        expected.lerp_(optimiser.value_GL, max(0.2, 10 / (11 + step)))
    torch.testing.assert_close(optimiser.smooth_GL, expected)
    assert not torch.equal(expected, optimiser.value_GL)
    last = optimiser.value_GL.clone()
    with optimiser.smoothed():
        torch.testing.assert_close(optimiser.value_GL, expected)
    assert torch.equal(optimiser.value_GL, last)
