"""Weights files without their networks: where they are, what they say of themselves. Needs no PyTorch."""

import json
import os
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

SHIPPED = Path(__file__).parent / "weights"
BEST = "best.safetensors"
"""File name of the best weights in the folder of a run."""
UNTRAINED = "untrained"
LOOKED_AT = 2**24
"""Numbers of the largest tensor that is looked at before networks of its size are made."""


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
    def sizes(self) -> tuple[int, ...]:
        """The sizes they were trained on, if there were several: such weights are meant for files."""
        sizes = self.training.get("sizes")
        return tuple(size for size in sizes if isinstance(size, int)) if isinstance(sizes, list | tuple) else ()

    @property
    def largest(self) -> int:
        """The most nodes (customers) of an instance that they were trained on."""
        return max((self.size, *self.sizes))

    @property
    def depots(self) -> int:
        """The number of depots in a tour that was set in training; 0: the usual."""
        instances = self.training.get("instances")
        depots = instances.get("most_routes", 0) if isinstance(instances, dict) else 0
        return depots if isinstance(depots, int) and depots > 0 else 0


def shipped() -> list[Path]:
    """Weights files in the package, by name."""
    return sorted(SHIPPED.glob("*.safetensors"))


def find_file(name: str) -> Path:
    """Path of weights by name: a file, shipped weights, or the best weights of a run's folder."""
    for path in (Path(name), Path(name) / BEST, SHIPPED / f"{name}.safetensors"):
        if os.path.isfile(path):
            return path
    if os.path.isdir(name):
        raise ValueError(f"{name}: the folder has no best weights yet ({BEST}): validations choose them")
    known = ", ".join([path.stem for path in shipped()] + [UNTRAINED])
    raise ValueError(f"weights '{name}' are neither a file, nor the folder of a run, nor one of: {known}")


def nearest(problem: str, size: int, *, files: bool = False) -> Path | None:
    """Of the shipped weights for the problem, those trained nearest to the size; None if there are none.

    For `files`, weights that were trained on several sizes and distributions are preferred, from the smallest of their
    sizes on: they are better on instances of all kinds, and worse on sets of uniform ones.
    """
    known = [(card, path) for path in shipped() if (card := read_card(path)).problem == problem]
    general = [path for card, path in known if files and card.sizes and size >= min(card.sizes)]
    fitting = [(abs(card.size - size), card.size, path) for card, path in known if not card.sizes]
    return general[0] if general else min(fitting)[2] if fitting else None


def read_card(path: Path) -> Card:
    """Only the card of a weights file."""
    try:
        return Card(**read_about(path)["card"])
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path}: not a weights file of DACT (its card is not readable)") from error


def read_about(path: Path) -> dict[str, Any]:
    """What a weights file says of itself: the sizes of its networks, and its card."""
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
        about = json.loads(metadata["dact"])
        if not isinstance(about, dict):
            raise KeyError("dact")
        return about
    except FileNotFoundError as error:
        raise ValueError(f"{path}: there is no such weights file") from error
    except RecursionError:
        raise ValueError(f"{path}: not a weights file of DACT (its JSON is nested too deep)") from None
    except (SafetensorError, KeyError, OSError, ValueError) as error:
        raise ValueError(f"{path}: not a weights file of DACT ({error})") from error


def check_early(name: str | None) -> None:
    """Refuse weights, by name or file, for what can be seen without PyTorch; loading them checks all the rest."""
    if name in (None, UNTRAINED):
        return
    path = find_file(str(name))
    read_card(path)
    _refuse_sizes(path, read_about(path).get("policy"))
    with safe_open(path, framework="np") as file:
        for name in file.keys():  # noqa: SIM118 - it is no dictionary
            held = file.get_slice(name)
            small = held.get_dtype() == "F32" and prod(held.get_shape()) < LOOKED_AT
            if small and not np.isfinite(file.get_tensor(name)).all():
                raise not_finite(path, name.partition(".")[2])


def not_finite(path: Path, name: str) -> ValueError:
    """The error about a tensor with a number that is not finite."""
    return ValueError(f"{path}: the weights '{name}' hold numbers that are not finite")


def _refuse_sizes(path: Path, config: object) -> None:
    """A layer, or a unit of width, takes more than a byte, so that no size exceeds the file's own."""
    most = path.stat().st_size
    for table in (config, *config.values()) if isinstance(config, dict) else ():
        for name, value in table.items() if isinstance(table, dict) else ():
            if type(value) is int and value > most:
                raise ValueError(f"{path}: says {name} is {value:.6g}, more than a file of {most} bytes can hold")
