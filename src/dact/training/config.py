"""All settings of a training run: a TOML file with a table per component, and `key=value` changes to it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dact import settings
from dact.operators import OPERATORS
from dact.policy import CriticConfig, DecoderConfig, EncoderConfig, PolicyConfig, PositionConfig
from dact.problems import PROBLEMS, InstanceConfig, Problem
from dact.search import SearchConfig
from dact.training.curriculum import CurriculumConfig, ScheduleConfig
from dact.training.guide import GuideConfig
from dact.training.networks import RuntimeConfig
from dact.training.ppo import PpoConfig
from dact.training.validation import ValidationConfig

LARGEST_BATCH = 2**30
"""Largest product of rows, positions and steps of a segment."""
PAPERS_CRITIC = CriticConfig()


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """The settings of `PolicyConfig` that a training config may change."""

    encoder: str = "dual"
    norm: str = "instance"
    position: str = "cyclic"
    dim: int = 64
    layers: int = 3
    heads: int = 4
    """m: heads per aspect, in attention and in the decoder's compatibility."""
    hidden: int = 0
    """Width of the feed-forward networks; 0: the same as `dim`."""
    head_dim: int = 64
    """Width of a head in the decoder's compatibility."""
    logit_range: float = 6.0
    """C: logits stay within -C .. C."""

    def __post_init__(self) -> None:
        if self.hidden == self.dim:
            # A canonical form, so that equal networks have equal settings.
            object.__setattr__(self, "hidden", 0)
        self.policy_config(features=2)

    def policy_config(self, features: int, critic: CriticConfig = PAPERS_CRITIC) -> PolicyConfig:
        """The complete config of the networks."""
        return PolicyConfig(
            features=features,
            encoder=self.encoder,
            encoder_config=EncoderConfig(
                norm=self.norm, dim=self.dim, hidden=self.hidden or self.dim, layers=self.layers, heads=self.heads
            ),
            decoder_config=DecoderConfig(heads=self.heads, head_dim=self.head_dim, clip=self.logit_range),
            critic_config=critic,
            position=PositionConfig(kind=self.position),
        )


def network_of(config: PolicyConfig) -> NetworkConfig:
    """The inverse of `NetworkConfig.policy_config`."""
    encoder = config.encoder_config
    return NetworkConfig(
        encoder=config.encoder,
        norm=encoder.norm,
        position=config.position.kind,
        dim=encoder.dim,
        layers=encoder.layers,
        heads=encoder.heads,
        hidden=0 if encoder.hidden == encoder.dim else encoder.hidden,
        head_dim=config.decoder_config.head_dim,
        logit_range=config.decoder_config.clip,
    )


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """A training run."""

    name: str
    problem: str
    size: int
    """Nodes (TSP) or customers (CVRP)."""
    sizes: tuple[int, ...] = ()
    """Sizes that batches take in turn instead of `size`: a list, or a range such as "20-60/10". Validation stays at
    `size`. Each size has a CUDA graph of its own."""
    seed: int = 1
    fresh_critic: bool = False
    """Take only the policy from the initial weights, and start with a new critic."""
    operator: str = "two_opt"
    idle_moves: bool = True
    """Allow 2-opt moves that change no route."""
    tabu: int = 0
    """Draw moves again that lead back to one of the last so many tours, in rollouts and in validation."""
    instances: InstanceConfig = field(default_factory=InstanceConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)
    ppo: PpoConfig = field(default_factory=PpoConfig)
    guide: GuideConfig = field(default_factory=GuideConfig)
    validation: ValidationConfig = field(default_factory=ValidationConfig)
    runtime: RuntimeConfig = field(default_factory=RuntimeConfig)
    network: NetworkConfig = field(default_factory=NetworkConfig)
    critic: CriticConfig = field(default_factory=CriticConfig)

    def __post_init__(self) -> None:
        if self.problem not in PROBLEMS:
            raise ValueError(f"problem '{self.problem}' is not one of {', '.join(PROBLEMS)}")
        if self.operator not in OPERATORS:
            raise ValueError(f"operator '{self.operator}' is not one of {', '.join(OPERATORS)}")
        if not self.idle_moves and self.operator != "two_opt":
            raise ValueError(f"idle_moves = false goes with the operator two_opt, not with {self.operator}")
        SearchConfig(tabu=self.tabu)
        for size in (self.size, *self.sizes):
            settings.check_size(size)
        if len(set(self.sizes)) < len(self.sizes):
            raise ValueError(f"sizes {list(self.sizes)} name a size twice")
        if not 0 <= self.seed < 2**31:
            raise ValueError(f"seed {self.seed} is not between 0 and 2^31 - 1")
        if self.schedule.horizon % self.ppo.segment:
            raise ValueError(
                f"schedule.horizon {self.schedule.horizon} is not a multiple of ppo.segment {self.ppo.segment}"
            )
        if self.curriculum.ages:
            self._check_ages(self.curriculum.ages)
        if self.ppo.group:
            self._check_groups(self.ppo.group)

        most = max(self.size, *self.sizes, 0)
        for name, rows in (("schedule.rows", self.schedule.rows), ("validation.count", self.validation.count)):
            if rows * most * self.ppo.segment > LARGEST_BATCH:
                product = f"{name} {rows} times size {most} times ppo.segment {self.ppo.segment}"
                raise ValueError(f"{product} is above {LARGEST_BATCH}, more than any device holds")

    def _check_ages(self, ages: int) -> None:
        """Rows are replaced between segments by instances drawn at the start of a horizon, which bounds `ages`."""
        if ages % self.ppo.segment:
            raise ValueError(f"curriculum.ages {ages} is not a multiple of ppo.segment {self.ppo.segment}")
        if ages < self.schedule.horizon:
            raise ValueError(f"curriculum.ages {ages} is below schedule.horizon {self.schedule.horizon}")

    def _check_groups(self, group: int) -> None:
        """Rows must be a multiple of the group, and without a critic `critic_first` has no meaning."""
        if self.schedule.rows % group:
            raise ValueError(f"schedule.rows {self.schedule.rows} is not a multiple of ppo.group {group}")
        if self.schedule.critic_first > 0:
            raise ValueError(f"schedule.critic_first {self.schedule.critic_first} goes with ppo.group = 0, not {group}")

    @property
    def segments(self) -> int:
        """Segments per horizon."""
        return self.schedule.horizon // self.ppo.segment

    def searched_problem(self) -> Problem:
        """The problem with the moves and the depots of the training."""
        return PROBLEMS[self.problem].with_idle_moves(self.idle_moves).with_depots(self.instances.most_routes)

    def to_dict(self) -> dict[str, Any]:
        """As plain containers."""
        return asdict(self)


def load_config(path: Path, changes: Sequence[str] = ()) -> TrainConfig:
    """Read a TOML file and apply `key=value` or `table.key=value` changes."""
    plain = settings.read(path)
    try:
        return from_dict(changed(plain, changes))
    except ValueError as error:
        # Keys and strings of a file may be of any length, with line breaks.
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= 400 else f"{reason[:200]} ... {reason[-200:]}"
        raise ValueError(f"{path}{' with ' if changes else ''}{', '.join(changes)[:200]}: {reason}") from error


def from_dict(plain: dict[str, Any]) -> TrainConfig:
    """Build a config from plain containers; ValueError names the first wrong key."""
    config: TrainConfig = settings.build(TrainConfig, plain)
    return config


def changed(plain: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """Apply `key=value` changes. A key that is unique among the tables needs no table name."""
    return settings.changed(TrainConfig, plain, changes)


def to_toml(config: TrainConfig) -> str:
    """Text that `load_config` reads back to the same settings."""
    plain = config.to_dict()
    lines = [f"{key} = {settings.literal(value)}" for key, value in plain.items() if not isinstance(value, dict)]
    for table, values in plain.items():
        if isinstance(values, dict):
            lines += ["", f"[{table}]", *(f"{key} = {settings.literal(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"
