"""How long one batch of the paper takes: a horizon of segments, with the warm-up reported beside it."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from dact.training.config import TrainConfig
from dact.training.instances import InstanceSource
from dact.training.learner import Learner
from dact.training.networks import fresh_networks, make_networks
from dact.training.rollout import Task


@dataclass(frozen=True, kw_only=True)
class BatchTiming:
    """Seconds. `batch` is the median of the `repeats`."""

    positions: int
    batch: float
    segment: float
    warm_up_step: float
    new_batch: float
    set_up: float
    """Compiling and capturing."""
    repeats: list[float] = field(default_factory=list)
    memory_gib: float = 0.0


def time_batch(config: TrainConfig, *, repeats: int = 3) -> BatchTiming:
    """Train `repeats` batches by a config, with fresh networks and without warm-up, and time each."""
    started = time.perf_counter()
    source = InstanceSource(
        problem=config.searched_problem(), size=config.size, rows=config.schedule.rows, config=config.instances
    )
    learner, segments = _learner(config, source), config.segments
    learner.segment()
    learner.read_metrics()
    set_up = time.perf_counter() - started
    new_batch, batch = [], []
    for _ in range(repeats):
        new_batch.append(_seconds(learner, learner.new_batch, 1))
        batch.append(_seconds(learner, learner.segment, segments))
    learner.warm_up(50)  # captured here
    middle = statistics.median(batch)
    memory = torch.cuda.max_memory_reserved() / 2**30 if learner.metrics_M.is_cuda else 0.0
    return BatchTiming(
        positions=source.length(),
        batch=middle,
        segment=middle / segments,
        warm_up_step=_seconds(learner, lambda: learner.warm_up(50), 1) / 50,
        new_batch=statistics.median(new_batch),
        set_up=set_up,
        repeats=batch,
        memory_gib=memory,
    )


def _learner(config: TrainConfig, source: InstanceSource) -> Learner:
    runtime = config.runtime.resolved()
    task = Task(problem=source.problem, operator=config.operator, tabu=config.tabu)
    policy, critic = fresh_networks(config.network.policy_config(task.problem.features, config.critic), config.seed)
    networks = make_networks(policy, critic, runtime, source.length())
    graph = runtime.graph == "true"
    return Learner(networks, task, source, config.ppo, seed=config.seed, graph=graph, curriculum=config.curriculum)


def _seconds(learner: Learner, work: Callable[[], object], times: int) -> float:
    started = time.perf_counter()
    for _ in range(times):
        work()
    # Reading a number waits for the device.
    learner.read_metrics()
    return time.perf_counter() - started
