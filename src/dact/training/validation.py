"""How good the policy is now: the search from greedy starts on instances that never change."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from dact.instances import InstanceSet, generate_set, read_set
from dact.instances.arrays import FloatArray
from dact.pipeline import Found, Pipeline
from dact.problems import Batch
from dact.search import Snapshot, Stop, Watcher
from dact.training.instances import InstanceSource
from dact.training.networks import Networks
from dact.training.rollout import Task


@dataclass(frozen=True, kw_only=True)
class ValidationConfig:
    """What is measured, how often, and what counts as a collapse."""

    file: str = ""
    """An .npz set; empty draws one from `seed`, of the kind that is trained on."""
    count: int = 1000
    """Instances (the first ones of the file)."""
    seed: int = 97531
    """Neither that of the published test sets (1234) nor that of the shared validation sets (4321)."""
    steps: int = 1000
    patience: int = 250
    every_batches: int = 20
    """Validate after so many batches; 0 for never."""
    every_seconds: float = 0.0
    """And after so many seconds; 0 for never."""
    collapse: float = 0.05
    """A cost this share above the best is a collapse: training goes back to the best weights."""
    collapse_rate: float = 0.5
    """What a collapse multiplies the learning rates with."""

    def __post_init__(self) -> None:
        for name in ("count", "steps", "patience"):
            if getattr(self, name) < 1:
                raise ValueError(f"validation.{name} {getattr(self, name)} is below 1")
        for name in ("every_batches", "every_seconds"):
            if getattr(self, name) < 0:
                raise ValueError(f"validation.{name} {getattr(self, name)} is negative")
        if self.collapse <= 0:
            raise ValueError(f"validation.collapse {self.collapse} is not positive")
        if not 0 < self.collapse_rate <= 1:
            raise ValueError(f"validation.collapse_rate {self.collapse_rate} is not above 0 and at most 1")


@dataclass(frozen=True)
class Score:
    """Mean cost of the best solutions found, and mean gap in percent of those that have reference costs."""

    cost: float
    gap: float | None = None
    compared: int = 0
    """How many have."""


class Validation:
    """Measures networks in place: whatever their weights are when `measure` is called."""

    def __init__(self, networks: Networks, task: Task, source: InstanceSource, config: ValidationConfig) -> None:
        self.config = config
        self.engine = networks.engine(task.problem, task.search(config.patience))
        self.pipeline = Pipeline(problem=task.problem, searcher=self.engine, device=networks.device, seed=config.seed)
        batch, self.instances = validation_batch(source, config)
        self.batch = batch.to(networks.device)
        self.starts = self.pipeline.starts(self.batch, range(self.batch.rows))
        self.seconds: float | None = None
        """What `measure` takes here, without compiling, as far as it is known."""

    def measure(self, stop: Callable[[], bool] = lambda: False) -> Score | None:
        """Search from the start; the same draws each time. None if asked to stop on the way.

        Costs are recomputed in float64 and the tours checked, since weights are chosen by them.
        """

        def watch(seen: Snapshot) -> None:
            if seen.fraction < 1 and stop():
                raise KeyboardInterrupt

        if stop():
            return None
        self.engine.refresh()
        found = self._search(self.config.steps, watch)
        return None if found.run.interrupted else self._score(found.costs(self.instances))

    def estimate(self) -> None:
        """Find out by a few steps what `measure` takes."""
        self._search(min(self.config.steps, 2 * self.engine.graph_steps))

    def _search(self, steps: int, watch: Watcher | None = None) -> Found:
        found = self.pipeline.search(self.batch, self.starts, Stop(steps=steps), watch)
        self.seconds = found.run.seconds * self.config.steps / max(found.run.steps, 1)
        return found

    def _score(self, cost_B: FloatArray) -> Score:
        reference_B = None if self.instances is None else self.instances.reference_cost
        mean = float(cost_B.mean())
        if reference_B is None or np.isnan(reference_B).all():
            return Score(mean)
        compared = int((~np.isnan(reference_B)).sum())
        return Score(mean, float(100 * np.nanmean(cost_B / reference_B - 1)), compared)


def validation_batch(source: InstanceSource, config: ValidationConfig) -> tuple[Batch, InstanceSet | None]:
    """From the file, or drawn on the CPU from a seed of our own; uniform ones as the published sets are.

    Instances of other kinds are drawn as a batch alone and have no set.
    """
    if config.file:
        instances = _read(Path(config.file), source, config.count)
    elif source.config.as_usual:
        instances = generate_set(source.problem.name, source.size, config.count, config.seed)
    else:
        return source.sample(torch.Generator().manual_seed(config.seed), config.count), None
    return source.problem.collate_set(instances), instances


def _read(path: Path, source: InstanceSource, count: int) -> InstanceSet:
    """The first instances of a file, which have to be such as are trained on."""
    instances, problem = read_set(path), source.problem
    if instances.problem != problem.name:
        raise ValueError(f"{path} holds {instances.problem} instances, but {problem.name} is trained")
    if len(instances) < count:
        raise ValueError(f"{path} holds {len(instances)} instances, but validation.count is {count}")
    instances = instances.take(slice(count))
    if instances.customers != source.size:
        raise ValueError(f"{path} holds instances of size {instances.customers}, but size is {source.size}")
    return instances
