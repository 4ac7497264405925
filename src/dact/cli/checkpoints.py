"""`dact import`: checkpoints of the authors' code."""

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import torch
from torch import Tensor

from dact.cards import Card
from dact.instances import InputError
from dact.instances.errors import naming, shown
from dact.instances.files import read_bytes
from dact.instances.limits import MAX_NODES
from dact.policy import Weights, make_critic, save_weights
from dact.policy.authors import critic_from_authors, policy_from_authors
from dact.problems import PROBLEMS

EMBEDDING = "embedder.embedder.weight"


def convert(file: Path, out: Path, *, size: int, problem: str | None = None) -> Card:
    """Convert a checkpoint to a weights file and return its card."""
    if not 1 <= size <= MAX_NODES:
        raise InputError(f"size {size} is {'below 1' if size < 1 else f'above {MAX_NODES}'}")
    with naming(file):
        weights = _weights(_load(file), out.stem, size, problem)
    save_weights(out, weights)
    return weights.card


def size_in_name(file: Path) -> int:
    """The 50 of `cvrp50-epoch-190.pt`; 100 where the name has no such number."""
    found = re.search(rf"(?:{'|'.join(PROBLEMS)})[-_]?(\d+)", file.name, re.IGNORECASE)
    return int(found[1]) if found else 100


def _load(file: Path) -> object:
    read_bytes(file)
    # Corrupt files can fail anywhere in zipfile, pickle or torch, with various exceptions.
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:
        kind = type(error).__name__
        raise InputError(f"is not a PyTorch checkpoint of plain tensors ({kind})") from None


def _weights(content: object, name: str, size: int, problem: str | None) -> Weights:
    actor, critic = _networks(content)
    problem = _problem(actor, problem)
    try:
        policy = policy_from_authors(actor)
        judge = critic_from_authors(critic, policy.config) if critic else make_critic(policy.config)
    except KeyError as error:
        raise InputError(f"is not a checkpoint of the authors: parameter {error} is missing") from None
    except (RuntimeError, IndexError, ValueError):
        raise InputError("is not a checkpoint of the authors: a parameter has another shape than theirs") from None
    note = "imported from a checkpoint of the authors" + ("" if critic else ", with a random critic")
    card = Card(name=name, problem=problem, size=size, note=note, created=date.today().isoformat())
    return Weights(policy=policy.eval(), critic=judge.eval(), card=card)


def _networks(content: object) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Parameters of actor and critic; none for a missing critic."""
    if isinstance(content, Mapping) and "model" in content:
        content = content["model"]
    if not isinstance(content, Mapping):
        raise InputError("is not a checkpoint of the authors: it holds no dictionary")
    actor = _parameters(content.get("actor", content))
    if EMBEDDING not in actor:
        raise InputError(f"is not a checkpoint of the authors: it has no actor with the parameter '{EMBEDDING}'")
    return actor, _parameters(content.get("critic", {}))


def _parameters(state: object) -> dict[str, Tensor]:
    """Tensors by name, without the prefix that DataParallel adds."""
    if not isinstance(state, Mapping):
        return {}
    found = {str(name).removeprefix("module."): value for name, value in state.items() if isinstance(value, Tensor)}
    for name, value in found.items():
        # A view can expand one number to any shape.
        if value.numel() * value.element_size() > value.untyped_storage().nbytes():
            raise InputError(f"parameter {shown(name)} has shape {tuple(value.shape)}, more than is stored of it")
        if not value.isfinite().all():
            raise InputError(f"parameter {shown(name)} holds numbers that are not finite")
    return found


def _problem(actor: Mapping[str, Tensor], asked: str | None) -> str:
    """The problem whose nodes have as many features as the actor reads."""
    shape = tuple(actor[EMBEDDING].shape)
    found = next((name for name, problem in PROBLEMS.items() if shape[1:] == (problem.features,)), None)
    if found is None:
        raise InputError(f"is not a checkpoint of the authors: '{EMBEDDING}' has shape {shape}")
    if asked not in (None, found):
        raise InputError(f"reads {shape[1]} node features, which makes it one for {found}, not for {asked}")
    return found
