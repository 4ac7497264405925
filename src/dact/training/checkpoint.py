"""A run on disk: everything needed to go on as if it had never stopped."""

import io
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

FORMAT = 2
GONE = (("runtime", "compile"),)
"""Settings that older runs have and that mean nothing any more."""


@dataclass(kw_only=True)
class Progress:
    """How far a run is."""

    segments: int = 0
    seconds: float = 0.0
    """Time spent training and validating, over all calls."""
    validating: float = 0.0
    """The part of it that validations took, which schedules by minutes leave out."""
    total_seconds: float = 0.0
    """Of all processes together, with compiling and reading as well."""
    start_seen: bool = False
    """The first validation was made, or left out because it did not fit into a call."""
    horizon_progress: float = 0.0
    """Schedule progress that the rates follow: as of the current horizon's beginning, or a little later."""
    warm_up: int = 0
    """Warm-up steps of the current horizon."""
    rate_scale: float = 1.0
    """Lowered by collapses."""
    rollbacks: int = 0
    processes: int = 1
    """Of the call that wrote this."""
    best_cost: float = float("inf")
    best_gap: float | None = None
    best_compared: int = 0
    """Of the weights that are kept: mean cost, and mean gap over so many instances."""
    judged_cost: float = float("inf")
    """What collapses are judged by: the best at a validation that the schedule asked for, so that where calls end
    makes no difference."""
    started_from: str = ""
    """Weights, if not from nothing."""
    start_minutes: float = 0.0
    """GPU minutes that they had taken."""
    validated_at: float = 0.0
    """`seconds` at the last validation."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """What is stored. Only tensors and plain values, so that loading runs no code."""

    config: dict[str, Any]
    policy: dict[str, Any]
    """The networks' own config, which weights that a run started from may have brought."""
    progress: Progress
    tensors: dict[str, Tensor]
    best: dict[str, Tensor]
    generator: Tensor
    """Of new instances."""
    others: list[dict[str, Tensor]] = field(default_factory=list)
    """What the other processes of a team have of their own."""


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Written beside and then renamed: a crash or a full disk leaves the one before."""
    plain = {each.name: getattr(checkpoint, each.name) for each in fields(checkpoint)}
    for name in ("tensors", "best"):
        plain[name] = {key: x.detach().cpu() for key, x in plain[name].items()}
    plain |= {"format": FORMAT, "progress": asdict(checkpoint.progress)}
    partial = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            _write(plain, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ValueError(f"{path}: cannot be written ({error.strerror})") from error


def _write(plain: dict[str, Any], file: IO[bytes]) -> None:
    """By way of memory: PyTorch would hide the reason of a write that fails."""
    buffer = io.BytesIO()
    torch.save(plain, buffer)
    file.write(buffer.getbuffer())


def load_checkpoint(path: Path) -> Checkpoint:
    """Read what `save_checkpoint` wrote; anything else is refused in one sentence."""
    try:
        plain = torch.load(path, map_location="cpu", weights_only=True)
        number = plain.pop("format")
        if number == FORMAT:
            for table, name in GONE:
                plain["config"].get(table, {}).pop(name, None)
            return Checkpoint(**plain | {"progress": Progress(**plain["progress"])})
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from error
    except Exception as error:
        # PyTorch's reason would be advice that does not help here.
        raise ValueError(f"{path}: is not a checkpoint of this version") from error
    raise ValueError(f"{path}: is not a checkpoint of this version (format {number}, not {FORMAT})")
