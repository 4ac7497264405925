"""A bonus for entropy that is a share of a running standard deviation of the advantages.

Advantages shrink as a policy gets better, so that a fixed bonus weighs ever more. Everything is on the device: a
captured update reads the deviation of this segment, not that of the capture.

Shape letters: T steps of a segment, B rows.
"""

import torch
from torch import Tensor

from dact.kernels.ppo_loss import NetworkOutputs, Rewards, n_step_returns, weighted_mean, weighted_variance
from dact.training.optimiser import Average

MEMORY = 0.98
"""Decay of the running variance. Fifty segments are about a horizon, whose first steps gain the most; what a fresh
critic gets wrong in its first updates is forgotten within a few hundred."""


class EntropyBonus:
    """Watches the advantages of each segment, and tells the bonus for the entropy."""

    def __init__(self, share: float, device: torch.device, average: Average | None = None) -> None:
        self.share, self.average = share, average
        self.variance = torch.zeros((), device=device)
        self.segments = torch.zeros((), device=device)
        """Number of segments seen."""

    @property
    def value(self) -> Tensor:
        """The bonus; 0 before the first segment."""
        return self.share * self.variance.sqrt()

    @torch.no_grad()
    def watch(self, now: NetworkOutputs, rewards: Rewards, discount: float) -> None:
        """Count in the advantages of a segment, as the first pass of its update finds them."""
        advantage_TB = n_step_returns(rewards.reward_TB, rewards.bootstrap_B, discount) - now.value_TB
        seen = weighted_variance(advantage_TB, rewards.weight_B)
        if self.average is not None:
            # Processes must stay identical.
            self.average([seen])
        # The update of a segment that is not finite is skipped, and must not spoil the later ones.
        finite = seen.isfinite()
        self.segments += finite
        # All segments count alike at first.
        part = (1 / self.segments).clamp(min=1 - MEMORY, max=1)
        self.variance.copy_(torch.where(finite, self.variance.lerp(seen, part), self.variance))

    def gain(self, now: NetworkOutputs, weight_B: Tensor) -> Tensor:
        """What the bonus takes off the loss."""
        return self.value * weighted_mean(now.entropy_TB, weight_B)

    def tensors(self) -> dict[str, Tensor]:
        """All that a run needs to go on."""
        return {"variance": self.variance, "segments": self.segments}
