"""Weights on disk: safetensors files with actor, critic, their config, and a card that describes them."""

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from dact.policy.critic import Critic
from dact.policy.policy import Policy, PolicyConfig, make_critic

SHIPPED = Path(__file__).parents[1] / "weights"
BEST = "best.safetensors"
"""File name of the best weights in the folder of a run."""
UNTRAINED = "untrained"
EMBED = "encoder.embed.weight"
"""(D, F): the one tensor of a policy that depends on the problem."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """Origin of weights and their measured quality."""

    name: str
    problem: str
    size: int
    """Nodes (customers) of the instances they were trained on."""
    note: str = ""
    """One sentence: how they were trained, or that they were not."""
    created: str = ""
    commit: str = ""
    gpu_minutes: float = 0.0
    """GPU minutes of training, including those of the initial weights."""
    started_from: str = ""
    """Name of the initial weights, if any."""
    gaps: dict[str, float] = field(default_factory=dict)
    """Measured gaps in percent, by what was measured."""
    training: dict[str, Any] = field(default_factory=dict)
    """The training config, if there was one."""

    def __post_init__(self) -> None:
        kinds = {"name": str, "problem": str, "size": int, "note": str, "created": str, "commit": str, "gaps": dict}
        for name, kind in (kinds | {"gpu_minutes": float | int, "started_from": str, "training": dict}).items():
            if not isinstance(getattr(self, name), kind):
                raise ValueError(f"the card's {name} is {getattr(self, name)!r:.60}")
        if not all(isinstance(gap, float | int) for gap in self.gaps.values()):
            raise ValueError("the card's gaps are not numbers")

    @property
    def operator(self) -> str:
        """The operator they were trained with."""
        return str(self.training.get("operator", "two_opt"))

    @property
    def idle_moves(self) -> bool:
        """Were moves that change no route allowed in training?"""
        return bool(self.training.get("idle_moves", True))

    @property
    def depots(self) -> int:
        """The number of depots in a tour that was set in training; 0: the usual."""
        instances = self.training.get("instances")
        depots = instances.get("most_routes", 0) if isinstance(instances, dict) else 0
        return depots if isinstance(depots, int) and depots > 0 else 0


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Networks ready to use and their card."""

    policy: Policy
    critic: Critic
    card: Card


def save_weights(path: Path, weights: Weights) -> None:
    """Write atomically: to a temporary file, which is then renamed."""
    tensors = {f"actor.{name}": value for name, value in weights.policy.state_dict().items()}
    tensors |= {f"critic.{name}": value for name, value in weights.critic.state_dict().items()}
    plain: dict[str, Tensor] = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    about = {"format": 1, "policy": weights.policy.config.to_dict(), "card": asdict(weights.card)}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    try:
        save_file(plain, partial, metadata={"dact": json.dumps(about)})
        partial.chmod(0o644)
        os.replace(partial, path)
    except (OSError, SafetensorError) as error:
        partial.unlink(missing_ok=True)
        raise ValueError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})") from error


def load_weights(path: Path) -> Weights:
    """Read a file of `save_weights`; anything else raises ValueError."""
    about, tensors = _read(path)
    try:
        config, card = PolicyConfig.from_dict(about["policy"]), Card(**about["card"])
        policy, critic = _filled(config, tensors)
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path}: the weights do not fit the config stored with them ({reason})") from error
    for name, value in (*policy.state_dict().items(), *critic.state_dict().items()):
        if not value.isfinite().all():
            raise ValueError(f"{path}: the weights '{name}' hold numbers that are not finite")
    return Weights(policy=policy.eval(), critic=critic.eval(), card=card)


def _filled(config: PolicyConfig, tensors: dict[str, Tensor]) -> tuple[Policy, Critic]:
    """Networks with these tensors. Shapes are checked before memory is allocated."""
    parts = _part(tensors, "actor."), _part(tensors, "critic.")
    with torch.device("meta"):
        planned = Policy(config), make_critic(config)
    for network, part in zip(planned, parts, strict=True):
        for name, value in network.state_dict().items():
            if name not in part or part[name].shape != value.shape:
                raise ValueError(f"no '{name}' of shape {tuple(value.shape)}")
    policy, critic = Policy(config), make_critic(config)
    for network, part in zip((policy, critic), parts, strict=True):
        network.load_state_dict(part)
    return policy, critic


def read_card(path: Path) -> Card:
    """Only the card of a weights file."""
    try:
        return Card(**_read(path, tensors=False)[0]["card"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path}: not a weights file of DACT (its card is not readable)") from error


def untrained(problem: str, features: int, size: int) -> Weights:
    """Random networks from a fixed seed, for problems without trained weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = PolicyConfig(features=features)
        policy, critic = Policy(config), make_critic(config)
    card = Card(name=UNTRAINED, problem=problem, size=size, note="untrained: random weights")
    return Weights(policy=policy.eval(), critic=critic.eval(), card=card)


def shipped() -> list[Path]:
    """Weights files in the package, by name."""
    return sorted(SHIPPED.glob("*.safetensors"))


def find_weights(problem: str, features: int, size: int, name: str | None = None) -> Weights:
    """Weights by name or path; without a name, the shipped ones for the problem trained nearest to the size.

    `size` counts customers, never the depot.
    """
    return Library().find(problem, features, size, name)


class Library:
    """Finds weights as `find_weights` does, and loads each file only once."""

    def __init__(self) -> None:
        self._loaded: dict[Path, Weights] = {}

    def find(self, problem: str, features: int, size: int, name: str | None = None) -> Weights:
        """By name or path, or the nearest shipped ones."""
        path = None if name == UNTRAINED else _nearest(problem, size) if name is None else _named(name)
        if path is None:
            return untrained(problem, features, size)
        if path not in self._loaded:
            self._loaded[path] = load_weights(path)
        weights = self._loaded[path]
        if weights.card.problem != problem:
            raise ValueError(f"{path}: these weights are for {weights.card.problem}, not for {problem}")
        return weights


def starting_weights(problem: str, features: int, size: int, name: str) -> Weights:
    """Weights to train from; another problem's are accepted if its features are the first of this problem's.

    Coordinates come first in every problem. Features it lacks are embedded as zero, so training
    starts from its policy.
    """
    if name == UNTRAINED:
        return untrained(problem, features, size)
    weights = load_weights(_named(name))
    config = weights.policy.config
    if weights.card.problem == problem:
        return weights
    if config.features > features:
        raise ValueError(f"weights '{name}' see {config.features} features of a node, but {problem} has {features}")
    policy = Policy(replace(config, features=features))
    seen = weights.policy.state_dict()
    seen[EMBED] = torch.nn.functional.pad(seen[EMBED], (0, features - config.features))
    policy.load_state_dict(seen)
    return replace(weights, policy=policy.eval(), card=replace(weights.card, problem=problem))


def _named(name: str) -> Path:
    """Path of weights by name: a file, shipped weights, or the best weights of a run's folder."""
    for path in (Path(name), Path(name) / BEST, SHIPPED / f"{name}.safetensors"):
        if os.path.isfile(path):
            return path
    if os.path.isdir(name):
        raise ValueError(f"{name}: the folder has no best weights yet ({BEST}): validations choose them")
    known = ", ".join([path.stem for path in shipped()] + [UNTRAINED])
    raise ValueError(f"weights '{name}' are neither a file, nor the folder of a run, nor one of: {known}")


def _nearest(problem: str, size: int) -> Path | None:
    """Of the shipped weights for the problem, those trained nearest to the size; None if there are none."""
    cards = [(read_card(path), path) for path in shipped()]
    fitting = [(abs(card.size - size), card.size, path) for card, path in cards if card.problem == problem]
    return min(fitting)[2] if fitting else None


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def _read(path: Path, tensors: bool = True) -> tuple[dict[str, Any], dict[str, Tensor]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            values = {name: file.get_tensor(name) for name in file.keys()} if tensors else {}  # noqa: SIM118
        about = json.loads(metadata["dact"])
        if not isinstance(about, dict):
            raise KeyError("dact")
        return about, values
    except FileNotFoundError as error:
        raise ValueError(f"{path}: there is no such weights file") from error
    except RecursionError:
        raise ValueError(f"{path}: not a weights file of DACT (its JSON is nested too deep)") from None
    except (SafetensorError, KeyError, OSError, ValueError) as error:
        raise ValueError(f"{path}: not a weights file of DACT ({error})") from error
