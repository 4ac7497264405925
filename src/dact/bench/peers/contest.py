"""A comparison: instances with reference costs, solvers, and time limits."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Protocol

import numpy as np

from dact.instances import InputError, Instance, InstanceSet
from dact.instances.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class Round:
    """Instances with a common time limit: a set, or one file."""

    name: str
    """Of the file; empty for a set."""
    members: tuple[Instance, ...]
    whole: InstanceSet | None = None
    """The set, if it is one."""

    @cached_property
    def references(self) -> FloatArray:
        """NaN where there is none."""
        return np.array([np.nan if each.best_known is None else each.best_known for each in self.members])

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the instances."""
        digest = sha256()
        for each in self.members:
            digest.update(f"{each.problem}|{each.rule}|{each.capacity}|{each.vehicles}|{each.best_known}".encode())
            for array in (each.coordinates, each.matrix, each.demand):
                digest.update(b"-" if array is None else array.tobytes())
        return digest.hexdigest()[:12]


@dataclass(frozen=True, kw_only=True)
class Contest:
    """All rounds: one for a set, one per file for files."""

    name: str
    rounds: tuple[Round, ...]
    cores: int

    @classmethod
    def of_set(cls, instances: InstanceSet, cores: int) -> "Contest":
        """A whole set, which needs some reference costs."""
        known = instances.reference_cost
        if known is None or not (known > 0).any():
            raise InputError(f"{instances.name}: has no reference costs, so that there are no gaps to compare")
        whole = Round(name="", members=tuple(instances), whole=instances)
        return cls(name=instances.name, rounds=(whole,), cores=cores)

    @classmethod
    def of_files(cls, name: str, instances: Sequence[Instance], cores: int) -> "Contest":
        """Files of one problem, each with a best known value."""
        for each in instances:
            if not each.best_known:
                raise InputError(f"{each.name}: has no best known value to compare with: name a file of --best-known")
            if each.problem != instances[0].problem:
                titles = f"{instances[0].facts.title} and {each.facts.title}"
                raise InputError(f"{name}: holds both {titles} files: name one kind by a pattern, such as '*.vrp'")
        return cls(name=name, rounds=tuple(Round(name=each.name, members=(each,)) for each in instances), cores=cores)

    @property
    def of_one_set(self) -> bool:
        """A set, not files?"""
        return self.rounds[0].whole is not None

    @property
    def sample(self) -> Instance:
        """One of the instances."""
        return self.rounds[0].members[0]


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """Result of a solver on a round: costs by our own checker."""

    costs: FloatArray
    seconds: float
    busy: float | None
    limit: str


Progress = Callable[[float], None]
"""Called with the finished fraction of an attempt. May raise KeyboardInterrupt."""
Run = Callable[[Round, float, Progress], Attempt]
"""Solves a round within a time limit in seconds; raises PeerError if it cannot."""


class Solver(Protocol):
    """A solver in the comparison."""

    @property
    def name(self) -> str:
        """In tables."""

    @property
    def version(self) -> str:
        """Of its package."""

    @property
    def terms(self) -> str:
        """A note that must accompany its numbers."""

    @property
    def missing(self) -> str:
        """Why it cannot run; empty if it can."""

    @property
    def place(self) -> tuple[int | None, str]:
        """How many cores it runs on, None on a GPU; and what they are."""

    def takes(self, instance: Instance) -> bool:
        """Is this its problem?"""

    def start(self, contest: Contest) -> AbstractContextManager[Run]:
        """Set up before and clean up after the measurement; neither counts."""


def cores_here() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
