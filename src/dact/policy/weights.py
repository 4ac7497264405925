"""Weights on disk: safetensors files with actor, critic, their config, and a card that describes them."""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from dact.cards import UNTRAINED, Card, find_file, nearest, not_finite, read_about
from dact.policy.critic import Critic
from dact.policy.policy import Policy, PolicyConfig, make_critic

EMBED = "encoder.embed.weight"
"""(D, F): the one tensor of a policy that depends on the problem."""


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
    about = read_about(path)
    try:
        config, card = PolicyConfig.from_dict(about["policy"]), Card(**about["card"])
        policy, critic = _filled(config, path)
    except (KeyError, TypeError, RuntimeError, ValueError, SafetensorError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ValueError(f"{path}: the weights do not fit the config stored with them ({reason})") from error
    for name, value in (*policy.state_dict().items(), *critic.state_dict().items()):
        if not value.isfinite().all():
            raise not_finite(path, name)
    return Weights(policy=policy.eval(), critic=critic.eval(), card=card)


def _filled(config: PolicyConfig, path: Path) -> tuple[Policy, Critic]:
    """Networks with the tensors of the file. Names and shapes are checked before memory is allocated."""
    with torch.device("meta"):
        planned = {"actor.": Policy(config), "critic.": make_critic(config)}
    shapes = {f"{key}{name}": x.shape for key, net in planned.items() for name, x in net.state_dict().items()}
    with safe_open(path, framework="pt") as file:
        held = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        for name, shape in shapes.items():
            if held.get(name) != tuple(shape):
                raise ValueError(f"no '{name.partition('.')[2]}' of shape {tuple(shape)}")
        for name in held.keys() - shapes.keys():
            raise ValueError(f"'{name:.60}' is no part of them")
        tensors = {name: file.get_tensor(name) for name in held}
    policy, critic = Policy(config), make_critic(config)
    policy.load_state_dict(_part(tensors, "actor."))
    critic.load_state_dict(_part(tensors, "critic."))
    return policy, critic


def untrained(problem: str, features: int, size: int) -> Weights:
    """Random networks from a fixed seed, for problems without trained weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        config = PolicyConfig(features=features)
        policy, critic = Policy(config), make_critic(config)
    card = Card(name=UNTRAINED, problem=problem, size=size, note="untrained: random weights")
    return Weights(policy=policy.eval(), critic=critic.eval(), card=card)


def find_weights(problem: str, features: int, size: int, name: str | None = None) -> Weights:
    """Weights by name or path; without a name, the shipped ones for the problem trained nearest to the size.

    `size` counts customers, never the depot.
    """
    return Library().find(problem, features, size, name)


class Library:
    """Finds weights as `find_weights` does, for sets or for `files`, and loads each file only once."""

    def __init__(self, *, files: bool = False) -> None:
        self.files = files
        self._loaded: dict[Path, Weights] = {}

    def find(self, problem: str, features: int, size: int, name: str | None = None) -> Weights:
        """By name or path, or the nearest shipped ones."""
        if name is None:
            path = nearest(problem, size, files=self.files)
        else:
            path = None if name == UNTRAINED else find_file(name)
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
    weights = load_weights(find_file(name))
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


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
