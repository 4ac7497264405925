"""Checkpoints: everything needed to resume a run as if it had not been interrupted."""

import io
import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

FORMAT = 2
GONE = (("runtime", "compile"),)
"""Settings of older runs that no longer exist; ignored."""


@dataclass(kw_only=True)
class Progress:
    """How far a run is."""

    segments: int = 0
    seconds: float = 0.0
    """Time spent training and validating, over all calls."""
    validating: float = 0.0
    """The part of `seconds` spent on validation, which schedules by minutes do not count."""
    total_seconds: float = 0.0
    """Wall-clock seconds times processes, set-up included."""
    start_seen: bool = False
    """The first validation is done, or was skipped because a call had no time for it."""
    horizon_progress: float = 0.0
    """Schedule progress, 0 to 1, that the learning rates follow; updated at the start of a horizon or soon after."""
    warm_up: int = 0
    """Warm-up steps of the current horizon."""
    walking: str = ""
    """Rows in an unfinished warm-up: `rows`, those to be trained on, or `fresh`, those that replace old ones."""
    walked: int = 0
    """Warm-up steps they have made."""
    unseen: bool = False
    """A horizon has ended, but its metrics have not been read, nor its validation been made."""
    rate_scale: float = 1.0
    """Factor on the learning rates; every rollback lowers it."""
    rollbacks: int = 0
    processes: int = 1
    """Number of processes of the call that wrote this."""
    best_cost: float = float("inf")
    best_gap: float | None = None
    best_compared: int = 0
    """Best weights: mean cost, mean gap, and the number of instances the gap is over."""
    judged_cost: float = float("inf")
    """Cost that collapses are measured against: the best of the scheduled validations, so that it does not depend on
    where calls end."""
    started_from: str = ""
    """Name of the initial weights; empty if trained from scratch."""
    start_minutes: float = 0.0
    """GPU minutes spent on the initial weights."""
    validated_at: float = 0.0
    """`seconds` at the last validation."""


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Contents of a checkpoint: tensors and plain values only, so that loading runs no code."""

    config: dict[str, Any]
    policy: dict[str, Any]
    """Config of the networks; initial weights may have brought their own."""
    progress: Progress
    tensors: dict[str, Tensor]
    best: dict[str, Tensor]
    generator: Tensor
    """State of the generator that draws new instances."""
    others: list[dict[str, Tensor]] = field(default_factory=list)
    """Instances and draws of the other processes of a team."""


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write atomically: after a crash or on a full disk the previous checkpoint remains."""
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
    """Serialise in memory first: PyTorch hides why a write fails."""
    buffer = io.BytesIO()
    torch.save(plain, buffer)
    file.write(buffer.getbuffer())


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a file of `save_checkpoint`; anything else raises ValueError."""
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
        # PyTorch's own message gives advice that does not apply here.
        raise ValueError(f"{path}: is not a checkpoint of this version") from error
    raise ValueError(f"{path}: is not a checkpoint of this version (format {number}, not {FORMAT})")
