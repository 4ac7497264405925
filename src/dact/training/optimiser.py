"""Adam with one parameter group for the actor and one for the critic, in few kernels and safe for CUDA graphs.

Parameters and optimiser state are views of flat tensors with a row per group: gradients are gathered by one copy,
both norms are one reduction, and clipping is a divisor that Adam applies. Rates are tensors, so that schedules can
change them between replays. A step is skipped by a number on the device, not by a branch on the host. All tensors
keep their addresses: they are copied into, never replaced.

Shape letters: G = 2 groups, L numbers of a group, padded.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

Average = Callable[[list[Tensor]], None]
"""Replaces tensors by their means over processes, in place."""

ALIGNED = 64
"""Parameters begin at multiples of this many numbers (256 bytes), the alignment that kernels expect."""
PIECES = 32
"""The fused Adam uses one thread block per tensor, so a group is passed in this many pieces."""
BETAS, EPSILON = (0.9, 0.999), 1e-8
SOON = 10
"""Time constant of the moving average at its start; it grows with the steps until `smoothing` is reached."""


class Optimiser:
    """Adam for (actor, critic), each with its own learning rate and gradient clipping. With `smoothing`, an
    exponential moving average of the weights is kept.
    """

    def __init__(
        self,
        actor: nn.Module,
        critic: nn.Module,
        average: Average | None = None,
        scale: float = 1.0,
        smoothing: float = 0.0,
    ) -> None:
        self.groups = (list(actor.parameters()), list(critic.parameters()))
        self.average = average
        self.scale = scale
        """Loss scale of the backward pass, so that small gradients fit half precision."""
        device = self.groups[0][0].device
        self._scale = torch.full((), scale, device=device)
        length = max(sum(_room(parameter) for parameter in group) for group in self.groups)
        length += -length % (ALIGNED * PIECES)
        self.value_GL, self.mean_GL, self.square_GL, self.grad_GL = torch.zeros(4, len(self.groups), length).to(device)
        self.steps = torch.zeros((), device=device)
        self.rates = tuple(torch.zeros((), device=device) for _ in self.groups)
        self._one = torch.ones((), device=device)
        self._gap = torch.zeros(length, device=device)
        self._adopt()
        self.smoothing = smoothing
        self.smooth_GL = self.value_GL.clone()

    def set_rates(self, actor: float, critic: float) -> None:
        """Learning rates from the next step on."""
        for rate, value in zip(self.rates, (actor, critic), strict=True):
            rate.fill_(value)

    def step(self, loss: Tensor, largest_norm: float, skip: Tensor) -> tuple[Tensor, Tensor]:
        """Step along the gradient of the loss unless `skip` is 1 or a gradient is not finite.

        Returns the gradient norms of actor and critic before clipping, and 1 if the step was skipped.
        """
        self._gather(loss)
        if self.average is not None:
            # Processes must stay identical: if one skips, all do.
            share = skip.clone()
            self.average([self.grad_GL, share])
            skip = share.ceil()
        scaled_G = torch.linalg.vector_norm(self.grad_GL, dim=1)
        skipped = torch.where(scaled_G.amax() < torch.inf, skip, self._one)
        self._apply((scaled_G / largest_norm).clamp(min=self.scale), skipped)
        if self.smoothing > 0:
            # The average is faster at first, so that the initial weights are soon forgotten.
            share = (SOON / (SOON + self.steps)).clamp(min=1 - self.smoothing)
            self.smooth_GL.lerp_(self.value_GL, share)
        return scaled_G / self.scale, skipped

    def tensors(self) -> dict[str, Tensor]:
        """State of Adam by name; the step count is repeated for each parameter, as in PyTorch's Adam."""
        remembered = zip(self._views(self.mean_GL), self._views(self.square_GL), strict=True)
        everything = {
            f"{place}.{name}": value
            for place, (mean, square) in enumerate(remembered)
            for name, value in (("step", self.steps), ("exp_avg", mean), ("exp_avg_sq", square))
        }
        if self.smoothing > 0:
            everything |= {f"{place}.smooth": value for place, value in enumerate(self._views(self.smooth_GL))}
        return everything

    @contextmanager
    def smoothed(self) -> Iterator[None]:
        """Inside, the weights are replaced by their moving averages, if there are any."""
        if self.smoothing == 0:
            yield
            return
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    def _exchange(self) -> None:
        weights_GL = self.value_GL.clone()
        self.value_GL.copy_(self.smooth_GL)
        self.smooth_GL.copy_(weights_GL)

    def _adopt(self) -> None:
        """Move the parameters into the flat tensor."""
        parameters = [parameter for group in self.groups for parameter in group]
        for parameter, view in zip(parameters, self._views(self.value_GL), strict=True):
            view.copy_(parameter.detach())
            parameter.data = view

    def _gather(self, loss: Tensor) -> None:
        """Scaled gradients in the layout of the flat parameters."""
        everything = [parameter for group in self.groups for parameter in group]
        # Not `backward`: its accumulators tie parameters to the stream of their first use. A critic that is not in the
        # loss has a gradient of zero, with which Adam does not move it.
        grads = iter(torch.autograd.grad(loss, everything, self._scale, materialize_grads=True))
        lines = []
        for group in self.groups:
            taken = 0
            for parameter, grad in zip(group, grads, strict=False):
                lines += [grad.reshape(-1), self._gap[: _room(parameter) - parameter.numel()]]
                taken += _room(parameter)
            lines.append(self._gap[taken:])
        torch.cat([line for line in lines if line.numel()], out=self.grad_GL.view(-1))

    def _apply(self, divisor_G: Tensor, skipped: Tensor) -> None:
        self.steps += 1 - skipped
        for group, rate in enumerate(self.rates):
            value, grad, mean, square = (
                list(x_GL[group].chunk(PIECES)) for x_GL in (self.value_GL, self.grad_GL, self.mean_GL, self.square_GL)
            )
            torch._fused_adam_(
                value, grad, mean, square, [], [self.steps] * PIECES,
                lr=rate, beta1=BETAS[0], beta2=BETAS[1], weight_decay=0.0, eps=EPSILON,
                amsgrad=False, maximize=False, grad_scale=divisor_G[group], found_inf=skipped,
            )  # fmt: skip

    def _views(self, flat_GL: Tensor) -> Iterator[Tensor]:
        """Each parameter's part of a flat tensor, in its shape."""
        for group, flat_L in zip(self.groups, flat_GL, strict=True):
            start = 0
            for parameter in group:
                yield flat_L[start : start + parameter.numel()].view_as(parameter)
                start += _room(parameter)


def _room(parameter: Tensor) -> int:
    return parameter.numel() + -parameter.numel() % ALIGNED
