"""Weights on disk: safetensors with actor, critic, the config that builds them, and a card that says what they are."""

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
UNTRAINED = "untrained"
EMBED = "encoder.embed.weight"
"""(D, F): the one tensor of a policy that depends on the problem."""


@dataclass(frozen=True, kw_only=True)
class Card:
    """Where weights come from and how good they were measured to be."""

    name: str
    problem: str
    size: int
    """Nodes (customers) of the instances they were trained on."""
    note: str = ""
    """One sentence for people: how they were trained, or that they were not."""
    created: str = ""
    commit: str = ""
    gpu_minutes: float = 0.0
    """With those of the weights that training started from."""
    started_from: str = ""
    """Their name, if there were any."""
    gaps: dict[str, float] = field(default_factory=dict)
    """Measured gaps in percent, by what was measured."""
    training: dict[str, Any] = field(default_factory=dict)
    """The training config, if there was one."""

    @property
    def operator(self) -> str:
        """Which moves they were trained to make."""
        return str(self.training.get("operator", "two_opt"))

    @property
    def idle_moves(self) -> bool:
        """May these be moves that change nothing?"""
        return bool(self.training.get("idle_moves", True))


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Networks ready to use and their card."""

    policy: Policy
    critic: Critic
    card: Card


def save_weights(path: Path, weights: Weights) -> None:
    """Written beside and then renamed, so that no half file is ever found under the name."""
    tensors = {f"actor.{name}": value for name, value in weights.policy.state_dict().items()}
    tensors |= {f"critic.{name}": value for name, value in weights.critic.state_dict().items()}
    plain: dict[str, Tensor] = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    about = {"format": 1, "policy": weights.policy.config.to_dict(), "card": asdict(weights.card)}
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    save_file(plain, partial, metadata={"dact": json.dumps(about)})
    partial.chmod(0o644)
    os.replace(partial, path)


def load_weights(path: Path) -> Weights:
    """Read a file that `save_weights` wrote; anything else is refused in one sentence."""
    about, tensors = _read(path)
    try:
        policy = Policy(PolicyConfig.from_dict(about["policy"]))
        critic = make_critic(policy.config)
        policy.load_state_dict(_part(tensors, "actor."))
        critic.load_state_dict(_part(tensors, "critic."))
        card = Card(**about["card"])
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{path}: the weights do not fit the config stored with them ({reason})") from error
    return Weights(policy=policy.eval(), critic=critic.eval(), card=card)


def read_card(path: Path) -> Card:
    """Only the card of a weights file."""
    return Card(**_read(path, tensors=False)[0]["card"])


def untrained(problem: str, features: int, size: int) -> Weights:
    """Random networks from a fixed seed, for when there is nothing better."""
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
    """Weights to train from; those of another problem will do if it sees the first of this problem's features.

    Coordinates come first in every problem. What the other problem did not see is embedded as zero, so training
    starts from what its policy would do.
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
    for path in (Path(name), SHIPPED / f"{name}.safetensors"):
        if path.is_file():
            return path
    known = ", ".join([path.stem for path in shipped()] + [UNTRAINED])
    raise ValueError(f"weights '{name}' are neither a file nor one of: {known}")


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
        return json.loads(metadata["dact"]), values
    except FileNotFoundError as error:
        raise ValueError(f"{path}: there is no such weights file") from error
    except (SafetensorError, KeyError, OSError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: not a weights file of DACT ({error})") from error
