"""The update: K epochs of PPO on one segment (Appendix C, Eqs. PPO and BL).

Shape letters: T steps of a segment, B rows, R = T * B rows in one batch, N tour length, F features, M metrics.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from dact.policy import PairDistribution
from dact.training.networks import Networks
from dact.training.optimiser import Optimiser
from dact.training.returns import n_step_returns
from dact.training.rollout import Segment

METRICS = (
    "reward",
    "actor_loss",
    "value_loss",
    "approx_kl",
    "clip_fraction",
    "explained_variance",
    "entropy",
    "value",
    "rollout_log_ratio",
    "actor_norm",
    "critic_norm",
    "skipped",
)
"""What an update measures: losses and norms averaged over its epochs; KL and clip fraction at the last epoch, the
rest at the first, where the policy is still the one that acted."""


@dataclass(frozen=True, kw_only=True)
class PpoConfig:
    """The update; the defaults are the paper's for TSP20. Zero turns an option off."""

    segment: int = 4
    """n: steps between updates."""
    update_epochs: int = 3
    """K."""
    clip: float = 0.1
    """Epsilon, for the ratio and for the value."""
    discount: float = 0.999
    gradient_norm: float = 0.04
    actor_rate: float = 1e-4
    critic_rate: float = 3e-5
    normalise_advantage: bool = False
    entropy_bonus: float = 0.0
    kl_limit: float = 0.0
    """The remaining epochs are skipped once the approximate KL exceeds it."""

    def __post_init__(self) -> None:
        for name in ("segment", "update_epochs", "clip", "gradient_norm", "actor_rate", "critic_rate"):
            if getattr(self, name) <= 0:
                raise ValueError(f"ppo.{name} is {getattr(self, name)}, but must be positive")
        if not 0 <= self.discount <= 1:
            raise ValueError(f"ppo.discount {self.discount} is not between 0 and 1")
        for name in ("entropy_bonus", "kl_limit"):
            if getattr(self, name) < 0:
                raise ValueError(f"ppo.{name} {getattr(self, name)} is negative")


class Evaluation(NamedTuple):
    """What the networks say now about the steps of a segment."""

    log_prob_TB: Tensor
    entropy_TB: Tensor
    value_TB: Tensor


class Epoch(NamedTuple):
    """One epoch's loss and what was measured on the way."""

    loss: Tensor
    metrics: dict[str, Tensor]


def evaluate_segment(networks: Networks, segment: Segment, entropy: bool) -> Evaluation:
    """All steps as one batch, with gradients; the entropy is left at zero unless asked for."""
    steps, rows = segment.reward_TB.shape
    aspects_SRND = networks.encode(segment.features_TBNF.flatten(0, 1))
    moves = PairDistribution(networks.decode(aspects_SRND), segment.open_TBNN.flatten(0, 1))
    log_prob_R = moves.log_prob(segment.move_TB2.flatten(0, 1))
    entropy_R = pair_entropy(moves.logits_BNN) if entropy else torch.zeros_like(log_prob_R)
    value_R = networks.value(aspects_SRND)
    return Evaluation(*(x_R.view(steps, rows) for x_R in (log_prob_R, entropy_R, value_R)))


def pair_entropy(logits_RNN: Tensor) -> Tensor:
    """(R,) entropies of masked logits, with a gradient that is finite at forbidden pairs."""
    log_RP = logits_RNN.flatten(1).log_softmax(1)
    log_RP = log_RP.masked_fill(log_RP.isneginf(), 0.0)
    # A forbidden pair has log-probability 0 here, so its product vanishes whatever its exponential.
    return -(log_RP.exp() * log_RP).sum(1)


def update(networks: Networks, segment: Segment, optimiser: Optimiser, config: PpoConfig) -> Tensor:
    """Train on a segment; gives metrics_M in the order of METRICS."""
    old: Evaluation | None = None
    enough = torch.zeros((), dtype=torch.bool, device=segment.reward_TB.device)
    epochs = []
    for _ in range(config.update_epochs):
        now = evaluate_segment(networks, segment, entropy=old is None or config.entropy_bonus > 0)
        # The policy that acted is the one of the first pass: the ratio is exactly 1 there.
        old = old or Evaluation(*(x.detach() for x in now))
        return_TB = _returns(networks, segment, config.discount)
        epoch = losses(now, old, return_TB, config)
        if config.kl_limit > 0:
            enough = enough | (epoch.metrics["approx_kl"] > config.kl_limit)
        norm_2, skipped = optimiser.step(epoch.loss, config.gradient_norm, enough)
        epochs.append(epoch.metrics | {"actor_norm": norm_2[0], "critic_norm": norm_2[1], "skipped": skipped})
    return _summary(segment, epochs)


def losses(now: Evaluation, old: Evaluation, return_TB: Tensor, config: PpoConfig) -> Epoch:
    """The clipped objective (Eq. PPO) and the clipped value loss (Eq. BL), added: no parameter is in both."""
    advantage_TB = return_TB - now.value_TB.detach()
    if config.normalise_advantage:
        advantage_TB = (advantage_TB - advantage_TB.mean()) / (advantage_TB.std() + 1e-8)
    log_ratio_TB = now.log_prob_TB - old.log_prob_TB
    ratio_TB = log_ratio_TB.exp()
    clipped_TB = ratio_TB.clamp(1 - config.clip, 1 + config.clip)
    actor_loss = -torch.minimum(ratio_TB * advantage_TB, clipped_TB * advantage_TB).mean()
    near_TB = old.value_TB + (now.value_TB - old.value_TB).clamp(-config.clip, config.clip)
    value_loss = torch.maximum((now.value_TB - return_TB).square(), (near_TB - return_TB).square()).mean()
    loss = actor_loss + value_loss
    if config.entropy_bonus > 0:
        loss = loss - config.entropy_bonus * now.entropy_TB.mean()
    with torch.no_grad():
        metrics = {
            "actor_loss": actor_loss.detach(),
            "value_loss": value_loss.detach(),
            "approx_kl": (ratio_TB - 1 - log_ratio_TB).mean(),
            "clip_fraction": ((ratio_TB - 1).abs() > config.clip).float().mean(),
            "explained_variance": explained_variance(now.value_TB, return_TB),
            "entropy": now.entropy_TB.mean(),
            "value": now.value_TB.mean(),
            "log_prob": now.log_prob_TB.detach(),
        }
    return Epoch(loss, metrics)


def explained_variance(value_TB: Tensor, return_TB: Tensor) -> Tensor:
    """1 for a perfect critic, 0 for one that knows only the mean."""
    return 1 - (return_TB - value_TB).var() / return_TB.var().clamp(min=1e-12)


@torch.no_grad()
def _returns(networks: Networks, segment: Segment, discount: float) -> Tensor:
    """Bootstrapped anew in each epoch, with the networks as they are (Algorithm 1, line 11)."""
    bootstrap_B = networks.value(networks.encode(segment.end_BNF))
    return n_step_returns(segment.reward_TB, bootstrap_B, discount)


def _summary(segment: Segment, epochs: list[dict[str, Tensor]]) -> Tensor:
    first, last = epochs[0], epochs[-1]
    mean = {
        name: torch.stack([epoch[name] for epoch in epochs]).mean()
        for name in ("actor_loss", "value_loss", "actor_norm", "critic_norm", "skipped")
    }
    moved = (first["log_prob"] - segment.log_prob_TB).abs().mean()
    chosen = first | {name: last[name] for name in ("approx_kl", "clip_fraction")} | mean
    chosen |= {"reward": segment.reward_TB.mean(), "rollout_log_ratio": moved}
    return torch.stack([chosen[name] for name in METRICS])
