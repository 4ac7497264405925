"""One Adam with a group for the actor and one for the critic, that a CUDA graph can hold.

Rates are tensors, so that schedules change them between replays. A step is skipped by a number on the device, not
by a branch on the host. State tensors keep their addresses: they are copied into, never replaced.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

Average = Callable[[list[Tensor]], None]
"""Replaces gradients by their mean over processes, in place."""


class Optimiser:
    """Adam for (actor, critic), each with its own rate and with its gradient clipped to a norm of its own."""

    def __init__(self, actor: nn.Module, critic: nn.Module, average: Average | None = None) -> None:
        self.groups = (list(actor.parameters()), list(critic.parameters()))
        device = self.groups[0][0].device
        self.rates = tuple(torch.zeros((), device=device) for _ in self.groups)
        self.average = average
        self.adam = torch.optim.Adam(
            [{"params": group, "lr": rate} for group, rate in zip(self.groups, self.rates, strict=True)],
            fused=True,
            capturable=device.type == "cuda",
        )
        self._prepare(device)

    def set_rates(self, actor: float, critic: float) -> None:
        """Learning rates from the next step on."""
        for rate, value in zip(self.rates, (actor, critic), strict=True):
            rate.fill_(value)

    def step(self, loss: Tensor, largest_norm: float, skip: Tensor) -> tuple[Tensor, Tensor]:
        """Follow the gradient of the loss unless `skip` or a gradient is not finite.

        Gives the norms of the actor's and the critic's gradient before clipping, and 1 where the step was skipped.
        """
        everything = [parameter for group in self.groups for parameter in group]
        # Not `backward`, whose accumulators would tie parameters to the stream they were first used on. Like those
        # accumulators, lay gradients out as the parameters are, which the fused Adam takes for granted.
        gradients = [gradient.contiguous() for gradient in torch.autograd.grad(loss, everything)]
        if self.average is not None:
            # Processes must stay alike: one that has had enough speaks for all.
            share = skip.float()
            self.average([*gradients, share])
            skip = share > 0
        border = len(self.groups[0])
        norm_2 = torch.stack([clip_(part, largest_norm) for part in (gradients[:border], gradients[border:])])
        skipped = (skip | ~norm_2.isfinite().all()).float()
        self._apply(everything, gradients, skipped)
        return norm_2, skipped

    def tensors(self) -> dict[str, Tensor]:
        """Everything Adam remembers, by name."""
        return {
            f"{place}.{name}": value
            for place, parameter in enumerate(parameter for group in self.groups for parameter in group)
            for name, value in self.adam.state[parameter].items()
        }

    def _apply(self, parameters: Sequence[nn.Parameter], gradients: Sequence[Tensor], skipped: Tensor) -> None:
        for parameter, gradient in zip(parameters, gradients, strict=True):
            parameter.grad = gradient
        # The number through which gradient scalers tell a fused Adam, on its device, to leave all as it is.
        self.adam.found_inf = skipped  # type: ignore[attr-defined]
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)

    def _prepare(self, device: torch.device) -> None:
        """Allocate Adam's state by a step that is skipped."""
        everything = [parameter for group in self.groups for parameter in group]
        self._apply(everything, [torch.zeros_like(each) for each in everything], torch.ones((), device=device))


def clip_(gradients: list[Tensor], largest_norm: float) -> Tensor:
    """Scale gradients down to a norm, in place; gives the norm they had. Nothing is read by the host."""
    norm = torch.nn.utils.get_total_norm(gradients)
    scale = (largest_norm / (norm + 1e-6)).clamp(max=1.0)
    torch._foreach_mul_(gradients, scale)
    return norm
