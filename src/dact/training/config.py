"""All settings of a training run: a TOML file with a table per component, and `key=value` changes to it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from dact.instances.errors import naming
from dact.instances.files import read_text
from dact.operators import OPERATORS
from dact.policy import CriticConfig, DecoderConfig, EncoderConfig, PolicyConfig, PositionConfig
from dact.problems import PROBLEMS, InstanceConfig, Problem
from dact.training import settings
from dact.training.curriculum import CurriculumConfig, ScheduleConfig
from dact.training.networks import RuntimeConfig
from dact.training.ppo import PpoConfig
from dact.training.validation import ValidationConfig

CONFIG_BYTES = 2**16
"""Length of a file: ours have a tenth of that."""
LARGEST_BATCH = 2**30
"""Positions of all rows and steps that are in memory together."""
PAPERS_CRITIC = CriticConfig()


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """The parts of `PolicyConfig` that runs differ in."""

    encoder: str = "dual"
    norm: str = "instance"
    position: str = "cyclic"
    dim: int = 64
    layers: int = 3
    heads: int = 4
    """m, of an aspect: in attention, and in the decoder's compatibility."""
    hidden: int = 0
    """Width of the feed-forward networks; 0: that of everything else."""
    logit_range: float = 6.0
    """C: logits stay within -C .. C."""

    def __post_init__(self) -> None:
        self.policy_config(features=2)

    def policy_config(self, features: int, critic: CriticConfig = PAPERS_CRITIC) -> PolicyConfig:
        """The whole config of the networks."""
        return PolicyConfig(
            features=features,
            encoder=self.encoder,
            encoder_config=EncoderConfig(
                norm=self.norm, dim=self.dim, hidden=self.hidden or self.dim, layers=self.layers, heads=self.heads
            ),
            decoder_config=DecoderConfig(heads=self.heads, clip=self.logit_range),
            critic_config=critic,
            position=PositionConfig(kind=self.position),
        )


def network_of(config: PolicyConfig) -> NetworkConfig:
    """The settings that give such networks."""
    encoder = config.encoder_config
    return NetworkConfig(
        encoder=config.encoder,
        norm=encoder.norm,
        position=config.position.kind,
        dim=encoder.dim,
        layers=encoder.layers,
        heads=encoder.heads,
        hidden=0 if encoder.hidden == encoder.dim else encoder.hidden,
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
    """Sizes that batches have in turn, if not `size` alone: a list, or a range such as "20-60/10". Validation stays at
    `size`. Each is captured by itself."""
    seed: int = 1
    fresh_critic: bool = False
    """Runs that start from weights take the policy alone, and begin with a critic of their own."""
    operator: str = "two_opt"
    idle_moves: bool = True
    """2-opt moves that change no route may be made."""
    instances: InstanceConfig = field(default_factory=InstanceConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)
    ppo: PpoConfig = field(default_factory=PpoConfig)
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

        most = max(self.size, *self.sizes, 0)
        for name, rows in (("schedule.rows", self.schedule.rows), ("validation.count", self.validation.count)):
            if rows * most * self.ppo.segment > LARGEST_BATCH:
                product = f"{name} {rows} times size {most} times ppo.segment {self.ppo.segment}"
                raise ValueError(f"{product} is above {LARGEST_BATCH}, more than any device holds")

    def _check_ages(self, ages: int) -> None:
        """Rows are replaced between segments, by instances that are drawn as a horizon begins."""
        if ages % self.ppo.segment:
            raise ValueError(f"curriculum.ages {ages} is not a multiple of ppo.segment {self.ppo.segment}")
        if ages < self.schedule.horizon:
            raise ValueError(f"curriculum.ages {ages} is below schedule.horizon {self.schedule.horizon}")

    @property
    def segments(self) -> int:
        """Segments of a horizon."""
        return self.schedule.horizon // self.ppo.segment

    def searched_problem(self) -> Problem:
        """The problem, with the moves that are open in training."""
        return PROBLEMS[self.problem].with_idle_moves(self.idle_moves)

    def to_dict(self) -> dict[str, Any]:
        """Plain containers."""
        return asdict(self)


def load_config(path: Path, changes: Sequence[str] = ()) -> TrainConfig:
    """Read a TOML file and apply `key=value` or `table.key=value` changes."""
    with naming(path):
        plain = settings.parse(read_text(path, CONFIG_BYTES))
    try:
        return from_dict(changed(plain, changes))
    except ValueError as error:
        # A file may hold keys and texts of any length, with line breaks in them.
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= 400 else f"{reason[:200]} ... {reason[-200:]}"
        raise ValueError(f"{path}{' with ' if changes else ''}{', '.join(changes)[:200]}: {reason}") from error


def from_dict(plain: dict[str, Any]) -> TrainConfig:
    """Check every name and type, then build; the error names the key."""
    config: TrainConfig = settings.build(TrainConfig, plain)
    return config


def changed(plain: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """The same settings with some replaced. A key that stands in one table only needs no table before it."""
    return settings.changed(TrainConfig, plain, changes)


def to_toml(config: TrainConfig) -> str:
    """Text that `load_config` reads back to the same settings."""
    plain = config.to_dict()
    lines = [f"{key} = {settings.literal(value)}" for key, value in plain.items() if not isinstance(value, dict)]
    for table, values in plain.items():
        if isinstance(values, dict):
            lines += ["", f"[{table}]", *(f"{key} = {settings.literal(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"
