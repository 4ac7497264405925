"""All settings of a training run: a TOML file with a table per component, and `key=value` changes to it."""

import math
import re
import tomllib
from collections.abc import Sequence
from dataclasses import MISSING, Field, asdict, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from dact.instances import InputError
from dact.instances.errors import brief, naming, shown
from dact.instances.files import read_text
from dact.instances.limits import MAX_NODES
from dact.operators import OPERATORS
from dact.policy import CriticConfig, DecoderConfig, EncoderConfig, PolicyConfig, PositionConfig
from dact.problems import PROBLEMS, InstanceConfig, Problem
from dact.training.curriculum import CurriculumConfig, ScheduleConfig
from dact.training.networks import RuntimeConfig
from dact.training.ppo import PpoConfig
from dact.training.validation import ValidationConfig

CONFIG_BYTES = 2**16
CONFIG_DOTS = 1000
"""Length of a file and dots in it: ours have a tenth of that."""
LARGEST_NUMBER = 2**31 - 1
"""Of all settings."""
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


def _check_size(size: int) -> None:
    if not 4 <= size <= MAX_NODES:
        raise ValueError(f"size {size} is {'below 4' if size < 4 else f'above {MAX_NODES}'}")


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
            _check_size(size)
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


def load_config(path: Path, settings: Sequence[str] = ()) -> TrainConfig:
    """Read a TOML file and apply `key=value` or `table.key=value` changes."""
    with naming(path):
        plain = _toml(read_text(path, CONFIG_BYTES))
    try:
        return from_dict(changed(plain, settings))
    except ValueError as error:
        raise ValueError(f"{path}{' with ' if settings else ''}{', '.join(settings)}: {error}") from error


def _toml(text: str) -> dict[str, Any]:
    # Python's parser takes time and memory in the square of the parts of a key.
    if text.count(".") > CONFIG_DOTS:
        raise InputError(f"is not TOML of ours (it has {text.count('.')} dots)")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not TOML ({brief(error)})") from error


def from_dict(plain: dict[str, Any]) -> TrainConfig:
    """Check every name and type, then build; the error names the key."""
    config: TrainConfig = _build(TrainConfig, plain, "")
    return config


def changed(plain: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """The same settings with some replaced. A key that stands in one table only needs no table before it."""
    result = {key: dict(value) if isinstance(value, dict) else value for key, value in plain.items()}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"setting '{setting}' is not key=value")
        table, name = _place(key.strip())
        (result.setdefault(table, {}) if table else result)[name] = _value(text.strip())
    return result


def to_toml(config: TrainConfig) -> str:
    """Text that `load_config` reads back to the same settings."""
    plain = config.to_dict()
    lines = [f"{key} = {_literal(value)}" for key, value in plain.items() if not isinstance(value, dict)]
    for table, values in plain.items():
        if isinstance(values, dict):
            lines += ["", f"[{table}]", *(f"{key} = {_literal(value)}" for key, value in values.items())]
    return "\n".join(lines) + "\n"


def _tables() -> dict[str, type]:
    hints = get_type_hints(TrainConfig)
    return {each.name: hints[each.name] for each in fields(TrainConfig) if is_dataclass(hints[each.name])}


def _place(key: str) -> tuple[str, str]:
    table, _, name = key.rpartition(".")
    if table in {each.name for each in fields(TrainConfig)} - _tables().keys():
        raise ValueError(f"setting '{table}' is no table, so that it has no '{name}'")
    if table or key in {each.name for each in fields(TrainConfig)}:
        return table, name
    homes = [table for table, kind in _tables().items() if key in {each.name for each in fields(kind)}]
    if len(homes) > 1:
        raise ValueError(f"setting '{key}' is in several tables: {', '.join(f'{home}.{key}' for home in homes)}")
    if not homes:
        raise ValueError(f"setting '{key}' is unknown")
    return homes[0], key


def _value(text: str) -> Any:  # noqa: ANN401 - whatever TOML can say
    try:
        return _toml(f"value = {text}")["value"]
    except InputError:
        return text


def _span(text: str) -> list[int] | str:
    """A range such as "20-60/10", from 20 to 60 by tens, as its numbers; anything else stays as it is."""
    found = re.fullmatch(r"(\d+)-(\d+)(?:/(\d+))?", text.strip())
    if found is None:
        return text
    if max(len(part or "") for part in found.groups()) > 9:
        raise ValueError(f"range {text.strip()[:60]} is too large")
    low, high, step = (int(part or 1) for part in found.groups())
    _check_size(high)
    return list(range(low, high + 1, step)) if low <= high and step > 0 else text


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return repr(list(value) if isinstance(value, tuple) else value)


def _build(kind: Any, plain: dict[str, Any], prefix: str) -> Any:  # noqa: ANN401 - any of the dataclasses
    hints = get_type_hints(kind)
    known = {each.name for each in fields(kind)}
    unknown = sorted(plain.keys() - known)
    if unknown:
        raise ValueError(f"setting '{prefix}{unknown[0]}' is unknown; known here: {', '.join(sorted(known))}")
    values = {key: _checked(hints[key], value, prefix + key) for key, value in plain.items()}
    missing = [each.name for each in fields(kind) if not _has_default(each) and each.name not in values]
    if missing:
        raise ValueError(f"settings are incomplete: {', '.join(prefix + name for name in missing)} missing")
    return kind(**values)


def _has_default(each: Field[Any]) -> bool:
    return each.default is not MISSING or each.default_factory is not MISSING


def _checked(wanted: Any, value: Any, key: str) -> Any:  # noqa: ANN401 - a type from an annotation
    if is_dataclass(wanted):
        if not isinstance(value, dict):
            raise ValueError(f"setting '{key}' is a table")
        return _build(wanted, value, f"{key}.")
    if get_origin(wanted) is tuple:
        value = _span(value) if isinstance(value, str) else value
        items = value if isinstance(value, list | tuple) else (value,)
        return tuple(_checked(get_args(wanted)[0], item, key) for item in items)
    if type(value) is int and abs(value) > LARGEST_NUMBER:
        raise ValueError(f"setting '{key}' is {shown(value)}, but must be at most {LARGEST_NUMBER} in size")
    if wanted is float and type(value) is int:
        return float(value)
    if wanted is str and type(value) is bool:
        return str(value).lower()
    if wanted is float and type(value) is float and not math.isfinite(value):
        raise ValueError(f"setting '{key}' is {value}, but must be a finite number")
    if type(value) is not wanted:
        raise ValueError(f"setting '{key}' is {shown(value)}, but must be of type {wanted.__name__}")
    return value
