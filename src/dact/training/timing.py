"""How long one batch of the paper takes: a horizon of segments, with the warm-up reported beside it."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from dact.policy import PolicyConfig
from dact.problems import PROBLEMS
from dact.training.instances import InstanceSource
from dact.training.learner import Learner
from dact.training.networks import RuntimeConfig, fresh_networks, make_networks
from dact.training.ppo import PpoConfig
from dact.training.rollout import Task


@dataclass(frozen=True, kw_only=True)
class BatchTiming:
    """Seconds. `batch` is the median of the `repeats`."""

    batch: float
    segment: float
    warm_up_step: float
    new_batch: float
    set_up: float
    """Compiling and capturing."""
    repeats: list[float] = field(default_factory=list)
    memory_gib: float = 0.0


def time_batch(
    problem: str,
    size: int,
    rows: int = 600,
    horizon: int = 200,
    segment: int = 4,
    *,
    runtime: RuntimeConfig | None = None,
    repeats: int = 3,
) -> BatchTiming:
    """Train `repeats` batches with fresh networks and time each, from random starts."""
    started = time.perf_counter()
    learner = _learner(problem, size, rows, segment, (runtime or RuntimeConfig()).resolved())
    learner.segment()
    learner.read_metrics()
    set_up = time.perf_counter() - started
    new_batch, batch = [], []
    for _ in range(repeats):
        new_batch.append(_seconds(learner, learner.new_batch, 1))
        batch.append(_seconds(learner, learner.segment, horizon // segment))
    learner.warm_up(50)  # captured here
    middle = statistics.median(batch)
    memory = torch.cuda.max_memory_reserved() / 2**30 if learner.metrics_M.is_cuda else 0.0
    return BatchTiming(
        batch=middle,
        segment=middle / (horizon // segment),
        warm_up_step=_seconds(learner, lambda: learner.warm_up(50), 1) / 50,
        new_batch=statistics.median(new_batch),
        set_up=set_up,
        repeats=batch,
        memory_gib=memory,
    )


def _learner(problem: str, size: int, rows: int, segment: int, runtime: RuntimeConfig) -> Learner:
    task = Task(problem=PROBLEMS[problem], operator="two_opt")
    source = InstanceSource(problem=task.problem, size=size, rows=rows)
    policy, critic = fresh_networks(PolicyConfig(features=task.problem.features), seed=1)
    networks = make_networks(policy, critic, runtime, source.length())
    return Learner(networks, task, source, PpoConfig(segment=segment), seed=1, graph=runtime.graph == "true")


def _seconds(learner: Learner, work: Callable[[], None], times: int) -> float:
    started = time.perf_counter()
    for _ in range(times):
        work()
    # Reading a number waits for the device.
    learner.read_metrics()
    return time.perf_counter() - started
