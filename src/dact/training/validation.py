"""How good the policy is now: the search from greedy starts on instances that never change."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from dact.instances import InstanceSet, generate_set, read_set
from dact.instances.arrays import FloatArray
from dact.kernels.row_draws import streams
from dact.problems import Batch
from dact.search import start_state
from dact.training.instances import InstanceSource
from dact.training.networks import Networks
from dact.training.rollout import Task

LOOK_EVERY = 16
"""Steps of a validation between two questions whether to stop."""


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
        device = next(networks.policy.parameters()).device
        batch, self.reference_B = validation_batch(source, config)
        self.batch = batch.to(device)
        tour_BN = task.problem.greedy_start(self.batch)
        self.start = start_state(tour_BN, self.batch.cost(tour_BN), streams(config.seed, range(len(tour_BN)), device))
        self.engine = networks.engine(task.problem, task.search(config.patience))

    def measure(self, stop: Callable[[], bool] = lambda: False) -> Score | None:
        """Search from the start; the same draws each time. None if asked to stop on the way."""
        self.engine.refresh()
        state = self.start
        for begin in range(0, self.config.steps, LOOK_EVERY):
            if stop():
                return None
            steps = min(LOOK_EVERY, self.config.steps - begin)
            state = self.engine.advance(self.batch, state, steps)
        return self._score(state.incumbent_cost_B)

    def start_score(self) -> Score:
        """The greedy starts themselves."""
        return self._score(self.start.cost_B)

    def _score(self, cost_B: Tensor) -> Score:
        cost = cost_B.double().cpu().numpy()
        if self.reference_B is None or np.isnan(self.reference_B).all():
            return Score(float(cost.mean()))
        compared = int((~np.isnan(self.reference_B)).sum())
        return Score(float(cost.mean()), float(100 * np.nanmean(cost / self.reference_B - 1)), compared)


def validation_batch(source: InstanceSource, config: ValidationConfig) -> tuple[Batch, FloatArray | None]:
    """Instances and their reference costs: from the file, or drawn from a seed of our own on the CPU.

    Uniform ones are drawn as the published sets are.
    """
    problem = source.problem
    if config.file:
        instances = _read(Path(config.file), source, config.count)
    elif source.config.as_usual:
        instances = generate_set(problem.name, source.size, config.count, config.seed)
    else:
        return source.sample(torch.Generator().manual_seed(config.seed), config.count), None
    return problem.collate_set(instances), instances.reference_cost


def _read(path: Path, source: InstanceSource, count: int) -> InstanceSet:
    """The first instances of a file, which have to be such as are trained on."""
    instances, problem = read_set(path), source.problem
    if instances.problem != problem.name:
        raise ValueError(f"{path} holds {instances.problem} instances, but {problem.name} is trained")
    if len(instances) < count:
        raise ValueError(f"{path} holds {len(instances)} instances, but validation.count is {count}")
    instances = instances.take(slice(count))
    size = problem.collate_set(instances.take(slice(1))).customers
    if size != source.size:
        raise ValueError(f"{path} holds instances of size {size}, but size is {source.size}")
    return instances
