"""Validation: search from greedy starts on a fixed set of instances."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from dact.instances import InstanceSet, generate_set, read_set
from dact.instances.arrays import FloatArray
from dact.pipeline import Found, Pipeline, Starts
from dact.problems import Batch
from dact.search import Engine, Snapshot, Stop, Watcher
from dact.training.instances import InstanceSource
from dact.training.networks import Networks
from dact.training.rollout import Task


@dataclass(frozen=True, kw_only=True)
class ValidationConfig:
    """Validation set, frequency, and what counts as a collapse."""

    file: str = ""
    """An .npz set; if empty, instances of the training distribution are drawn from `seed`."""
    count: int = 1000
    """Number of instances (the first of the file)."""
    seed: int = 97531
    """Different from the seeds of the published test sets (1234) and of the validation sets (4321)."""
    steps: int = 1000
    patience: int = 250
    every_batches: int = 20
    """Batches between validations; 0: never."""
    every_seconds: float = 0.0
    """Seconds between validations; 0: never."""
    collapse: float = 0.05
    """A cost above the best by this share is a collapse: training is rolled back to the best weights."""
    collapse_rate: float = 0.5
    """Factor on the learning rates after a collapse."""

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
    """Mean cost, and mean gap in percent over the instances that have reference costs."""

    cost: float
    gap: float | None = None
    compared: int = 0
    """Number of instances with reference costs."""


class Part(NamedTuple):
    """Instances that are searched together."""

    engine: Engine
    """Its own, with the graphs of its shape."""
    pipeline: Pipeline
    batch: Batch
    starts: Starts
    instances: InstanceSet | None

    def search(self, steps: int, watch: Watcher | None) -> Found:
        """From the same starts each time."""
        return self.pipeline.search(self.batch, self.starts, Stop(steps=steps), watch)


class Validation:
    """Validates networks with the weights they have when `measure` is called."""

    def __init__(self, networks: Networks, task: Task, source: InstanceSource, config: ValidationConfig) -> None:
        self.config = config
        self.parts = [_part(networks, task, config, *each) for each in validation_batches(source, config)]
        self.seconds: float | None = None
        """Duration of `measure` without compilation, if known."""

    def measure(self, stop: Callable[[], bool] = lambda: False) -> Score | None:
        """Search with the same random numbers each time. None if interrupted. Costs are recomputed in float64 and
        tours are checked, since weights are chosen by the score.
        """

        def watch(seen: Snapshot) -> None:
            if seen.fraction < 1 and stop():
                raise KeyboardInterrupt

        if stop():
            return None
        for part in self.parts:
            part.engine.refresh()
        found = self._search(self.config.steps, watch)
        if found[-1].run.interrupted:
            return None
        costs = [each.costs(part.instances) for each, part in zip(found, self.parts, strict=True)]
        return _score(np.concatenate(costs), self.parts[0].instances)

    def estimate(self) -> None:
        """Estimate the duration of `measure` from a few steps."""
        self._search(min(self.config.steps, 2 * self.parts[0].engine.graph_steps))

    def _search(self, steps: int, watch: Watcher | None = None) -> list[Found]:
        """All parts in turn; an interruption ends it."""
        found, seconds = [], 0.0
        for part in self.parts:
            found.append(part.search(steps, watch))
            if found[-1].run.interrupted:
                return found
            seconds += found[-1].run.seconds * self.config.steps / max(found[-1].run.steps, 1)
        self.seconds = seconds
        return found


def _part(
    networks: Networks, task: Task, config: ValidationConfig, batch: Batch, instances: InstanceSet | None
) -> Part:
    engine = networks.engine(task.problem, task.search(config.patience))
    pipeline = Pipeline(problem=task.problem, searcher=engine, device=networks.device, seed=config.seed)
    batch = batch.to(networks.device)
    return Part(engine, pipeline, batch, pipeline.starts(batch, range(batch.rows)), instances)


def _score(cost_B: FloatArray, instances: InstanceSet | None) -> Score:
    reference_B = None if instances is None else instances.reference_cost
    mean = float(cost_B.mean())
    if reference_B is None or np.isnan(reference_B).all():
        return Score(mean)
    compared = int((~np.isnan(reference_B)).sum())
    return Score(mean, float(100 * np.nanmean(cost_B / reference_B - 1)), compared)


def validation_batches(source: InstanceSource, config: ValidationConfig) -> list[tuple[Batch, InstanceSet | None]]:
    """The validation instances: from the file, or drawn on the CPU from the seed, uniform ones as in the published
    sets. Instances of other distributions have a batch but no set, those of several bands a batch for each.
    """
    if config.file:
        instances = _read(Path(config.file), source, config.count)
    elif source.config.as_usual:
        instances = generate_set(source.problem.name, source.size, config.count, config.seed)
    else:
        generator, bands = torch.Generator().manual_seed(config.seed), replace(source, sizes=()).each()
        if config.count < len(bands):
            raise ValueError(f"validation.count {config.count} is below the {len(bands)} of instances.bands")
        ends = [config.count * place // len(bands) for place in range(len(bands) + 1)]
        counts = [high - low for low, high in pairwise(ends)]
        return [(each.sample(generator, count), None) for each, count in zip(bands, counts, strict=True)]
    return [(source.problem.collate_set(instances), instances)]


def _read(path: Path, source: InstanceSource, count: int) -> InstanceSet:
    """The first instances of a file; they must fit the problem and size of the training."""
    instances, problem = read_set(path), source.problem
    if instances.problem != problem.name:
        raise ValueError(f"{path} holds {instances.problem} instances, but {problem.name} is trained")
    if len(instances) < count:
        raise ValueError(f"{path} holds {len(instances)} instances, but validation.count is {count}")
    instances = instances.take(slice(count))
    if instances.customers != source.size:
        raise ValueError(f"{path} holds instances of size {instances.customers}, but size is {source.size}")
    return instances
