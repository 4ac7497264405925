"""The update: K epochs of PPO on one segment (Appendix C, Eqs. PPO and BL).

Shape letters: T steps of a segment, B rows, R = T * B rows in one batch, N tour length, F features, M metrics.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from dact.kernels.ppo_loss import MEASURED, NetworkOutputs, Objective, Rewards, ppo_loss
from dact.training.entropy import EntropyBonus
from dact.training.networks import Networks
from dact.training.optimiser import Optimiser
from dact.training.rollout import Segment

METRICS = ("reward", *MEASURED, "rollout_log_ratio", "actor_norm", "critic_norm", "skipped")
"""Metrics of an update: losses and norms are means over its epochs; KL and clip fraction are of the last epoch, or
after a single one; the others are of the first epoch, before the policy has changed."""
BONUS = "entropy_bonus"
"""Name of the bonus for entropy beside METRICS in what is recorded."""
PROBED = 16
"""Rows that KL and clip fraction of a single epoch are measured on: all would cost another forward pass."""

TAKEOVERS = ("best", "any")
SCALES = ("none", "group")
LARGEST_RATE = 0.01
"""Largest learning rate of Adam. The largest that was seen to learn is 1e-3."""


@dataclass(frozen=True, kw_only=True)
class PpoConfig:
    """Settings of the update; the defaults are the paper's for TSP20. Zero turns an option off."""

    segment: int = 4
    """n: steps between updates."""
    share: float = 1.0
    """Share of the rows used in an update, sampled by their rewards and weighted to stay unbiased. With groups: share
    of the moves, sampled by the size of their advantages."""
    group: int = 0
    """0: the critic's values are the baseline, as in the paper. Else the number of copies of each instance: the mean
    return of the copies is the baseline, and the critic is not trained."""
    takeover: str = "best"
    """Which copy's state all copies take over before a segment: that of the `best`, or of `any`."""
    scale: str = "none"
    """What advantages are divided by: `none`, or the standard deviation of the `group`."""
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
    entropy_share: float = 0.0
    """Instead of `entropy_bonus`: the bonus as a share of a running standard deviation of the advantages."""
    kl_limit: float = 0.0
    """The remaining epochs are skipped once the approximate KL exceeds it."""
    smoothing: float = 0.0
    """Decay of an exponential moving average of the weights, such as 0.999, which is validated and exported instead of
    them."""

    def __post_init__(self) -> None:
        for name in ("segment", "update_epochs", "clip", "gradient_norm", "actor_rate", "critic_rate"):
            if getattr(self, name) <= 0:
                raise ValueError(f"ppo.{name} is {getattr(self, name)}, but must be positive")
        for name in ("actor_rate", "critic_rate"):
            if getattr(self, name) > LARGEST_RATE:
                raise ValueError(f"ppo.{name} {getattr(self, name)} is above {LARGEST_RATE}, where nothing is learnt")
        if self.group < 0 or self.group == 1:
            raise ValueError(f"ppo.group is {self.group}, but must be 0 (the critic is the baseline) or at least 2")
        for name, known in (("takeover", TAKEOVERS), ("scale", SCALES)):
            if getattr(self, name) not in known:
                raise ValueError(f"ppo.{name} '{getattr(self, name)}' is not one of {', '.join(known)}")
        if not 0 <= self.discount <= 1:
            raise ValueError(f"ppo.discount {self.discount} is not between 0 and 1")
        if not 0 < self.share <= 1:
            raise ValueError(f"ppo.share {self.share} is not above 0 and at most 1")
        if not 0 <= self.smoothing < 1:
            raise ValueError(f"ppo.smoothing {self.smoothing} is not at least 0 and below 1")
        for name in ("entropy_bonus", "kl_limit"):
            if getattr(self, name) < 0:
                raise ValueError(f"ppo.{name} {getattr(self, name)} is negative")
        if not 0 <= self.entropy_share < 1:
            raise ValueError(f"ppo.entropy_share {self.entropy_share} is not at least 0 and below 1")
        if self.entropy_share > 0:
            self._check_entropy_share()
        if self.kl_limit > 0 and self.update_epochs == 1:
            raise ValueError(
                f"ppo.kl_limit is {self.kl_limit}, but with ppo.update_epochs = 1 there are no further epochs to skip"
            )

    def _check_entropy_share(self) -> None:
        """The share is the only bonus, and advantages that are divided by their deviation have none to follow."""
        if self.entropy_bonus > 0:
            raise ValueError(
                f"ppo.entropy_share {self.entropy_share} goes with ppo.entropy_bonus = 0, not {self.entropy_bonus}"
            )
        divided = {"normalise_advantage = false": self.normalise_advantage, "scale = none": self.scale != "none"}
        for needed, wrong in divided.items():
            if wrong:
                raise ValueError(
                    f"ppo.entropy_share {self.entropy_share} goes with ppo.{needed}: where advantages are divided by "
                    "their deviation, ppo.entropy_bonus is that share"
                )

    @property
    def objective(self) -> Objective:
        """The settings of the loss."""
        return Objective(self.clip, self.discount, self.normalise_advantage, self.entropy_bonus)


def evaluate_segment(networks: Networks, segment: Segment) -> NetworkOutputs:
    """Evaluate all steps as one batch, with gradients. A baseline of the segment's own replaces the critic's values."""

    def evaluate(features_RNF: Tensor, open_RNN: Tensor, move_R2: Tensor, *standing: Tensor) -> tuple[Tensor, ...]:
        aspects_SRND = networks.encode(features_RNF)
        moves = networks.log_prob(aspects_SRND, open_RNN, move_R2)
        return (*moves, *(networks.value(aspects_SRND, standing_R2) for standing_R2 in standing))

    states = [segment.features_TBNF, segment.open_TBNN, segment.move_TB2]
    if segment.standing_ZB2 is not None:
        states.append(segment.standing_ZB2[:-1])
    each = networks.by_rows(evaluate, *(x.flatten(0, 1) for x in states))
    outputs = [x_R.view(segment.reward_TB.shape) for x_R in each]
    return NetworkOutputs(*outputs if segment.credit is None else (*outputs, segment.credit.baseline_TB))


def update(
    networks: Networks,
    segment: Segment,
    optimiser: Optimiser,
    config: PpoConfig,
    bonus: EntropyBonus | None = None,
) -> Tensor:
    """Train on a segment; returns metrics_M in the order of METRICS. `bonus` goes with `entropy_share`."""
    assert (bonus is not None) == (config.entropy_share > 0)
    old: NetworkOutputs | None = None
    enough = torch.zeros((), device=segment.reward_TB.device)
    epochs = []
    for _ in range(config.update_epochs):
        now, rewards = evaluate_segment(networks, segment), _rewards(networks, segment)
        if bonus is not None and old is None:
            bonus.watch(now, rewards, config.discount)
        # Old log-probabilities are those of the first pass, where the ratio is exactly 1.
        old = old or NetworkOutputs(*(x.detach() for x in now))
        loss, measured_M = ppo_loss(now, old, rewards, config.objective)
        if bonus is not None:
            loss = loss - bonus.gain(now, segment.weight_B)
        if config.kl_limit > 0:
            kl = measured_M[MEASURED.index("approx_kl")]
            enough = torch.maximum(enough, (kl > config.kl_limit).float())
        norm_2, skipped = optimiser.step(loss, config.gradient_norm, enough)
        epochs.append(torch.cat((measured_M, norm_2, skipped.unsqueeze(0))))
    assert old is not None
    if config.update_epochs == 1:
        epochs[0][2:4] = _moved(networks, segment, old, config.clip)
    return _summary(segment, old, torch.stack(epochs))


@torch.no_grad()
def _moved(networks: Networks, segment: Segment, old: NetworkOutputs, clip: float) -> Tensor:
    """(2,) approximate KL and clip fraction after the step, from a few rows. Rows are sorted by reward, so these are
    taken evenly, with their weights.
    """
    few = slice(None, None, -(-len(segment.weight_B) // PROBED))
    seen = (segment.features_TBNF, segment.open_TBNN, segment.move_TB2)
    features_RNF, open_RNN, move_R2 = (x[:, few].flatten(0, 1) for x in seen)
    log_prob_R, _ = networks.log_prob(networks.encode(features_RNF), open_RNN, move_R2)
    weight_C = segment.weight_B[few] / segment.weight_B[few].mean()
    log_ratio_TC = log_prob_R.view(-1, len(weight_C)) - old.log_prob_TB[:, few]
    moved_TC = log_ratio_TC.expm1()
    both_2TC = torch.stack((moved_TC - log_ratio_TC, (moved_TC.abs() > clip).float()))
    return (both_2TC * weight_C).mean(dim=(1, 2))


@torch.no_grad()
def _rewards(networks: Networks, segment: Segment) -> Rewards:
    """Rewards with the values of the states after the last step, by the current critic (Algorithm 1, line 11)."""
    if segment.credit is not None:
        return_TB = segment.credit.return_TB
        return Rewards(return_TB, torch.zeros_like(return_TB[0]), segment.weight_B)
    assert segment.end_BNF is not None
    assert segment.standing_ZB2 is not None

    def evaluate(features_BNF: Tensor, standing_B2: Tensor) -> tuple[Tensor, ...]:
        return (networks.value(networks.encode(features_BNF), standing_B2),)

    (value_B,) = networks.by_rows(evaluate, segment.end_BNF, segment.standing_ZB2[-1])
    return Rewards(segment.reward_TB, value_B, segment.weight_B)


def _summary(segment: Segment, old: NetworkOutputs, epoch_EM: Tensor) -> Tensor:
    """MEASURED, norms and skips of each epoch as metrics_M, by slices, which takes few kernels."""
    first_M, last_M, mean_M = epoch_EM[0], epoch_EM[-1], epoch_EM.mean(0)
    reward = (segment.reward_TB * segment.weight_B).mean(dim=(0, 1), keepdim=True).view(1)
    moved = (old.log_prob_TB - segment.log_prob_TB).abs().mean(dim=(0, 1), keepdim=True).view(1)
    return torch.cat((reward, mean_M[:2], last_M[2:4], first_M[4:7], moved, mean_M[7:]))
