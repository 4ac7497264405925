"""Estimates of a run on a CPU before it starts: memory, and the time of a segment.

Running out of memory raises an error on a GPU, but kills the process on a CPU.
"""

import time
from dataclasses import replace

import torch

from dact.memory import refuse_beyond_memory
from dact.search.engines.plain import PAIR_BYTES
from dact.threads import one_thread_per_operation, workers
from dact.training.chunks import KEPT_BYTES, PAIRS, activation_bytes
from dact.training.config import TrainConfig
from dact.training.keeping import MOST_LOST
from dact.training.learner import Lane, Learner
from dact.training.ppo import evaluate_segment

BASE_BYTES = 1_000_000_000
"""Memory of PyTorch, its threads, the networks, and Adam's state."""
POSITION_BYTES = 200
"""Memory per position of each row: instances, tours, and features of a step."""
SMALL = 1_000_000
"""Pairs of positions in all epochs of an update below which the time of a segment is not measured."""
PROBED = 4
"""Chunks per worker in the measurement of the time."""
MARGIN = 0.5
"""The advised number of rows, as a share of the largest that meets the limit."""


def refuse_beyond_this_machine(config: TrainConfig, rows: int, length: int) -> None:
    """ValueError that names the setting, if rows of tours up to this length do not fit into the memory."""
    for name, count, steps in (
        ("schedule.rows", rows, config.ppo.segment),
        ("validation.count", config.validation.count, 0),
    ):
        refuse_beyond_memory(
            needed_bytes(count, length, steps),
            f"training with {name} {count} and tours of {length} positions",
            f"choose fewer (--set {name}=N), or smaller instances",
        )


def needed_bytes(rows: int, length: int, steps: int) -> int:
    """Memory of a step of all rows and of an update on `steps` steps."""
    step = rows * (PAIR_BYTES * length**2 + POSITION_BYTES * length)
    record = 2 * steps * rows * (length**2 + POSITION_BYTES * length)
    return BASE_BYTES + step + record + int(min(KEPT_BYTES, steps * rows * activation_bytes(length)))


def refuse_long_segments(learner: Learner, *, begun: bool) -> None:
    """ValueError if a segment takes longer than MOST_LOST: checkpoints are written between segments only.

    The advice for a run that has `begun` does not change its rows.
    """
    seconds = max(segment_seconds(learner, lane) for lane in learner.lanes)
    if seconds <= MOST_LOST:
        return
    rows = learner.buffers.batch.rows * learner.team.size
    few = int(MARGIN * rows * MOST_LOST / seconds)
    advice = f"train fewer rows (--set rows={few})" if few else "train smaller instances, or shorter segments"
    raise ValueError(
        f"a segment of {rows} rows takes about {seconds:.0f} s on this CPU, and a kill would lose it all, more than "
        f"{MOST_LOST:.0f} s: {'go on with the run on a faster machine' if begun else f'{advice}, or on a GPU'}"
    )


def segment_seconds(learner: Learner, lane: Lane) -> float:
    """Estimated duration of a segment, measured with a few rows; 0 if it is clearly short."""
    batch, config = lane.buffers.batch, learner.config
    pairs = config.segment * batch.length**2
    if pairs * batch.rows * config.share * config.update_epochs < SMALL:
        return 0.0
    few = max(1, min(batch.rows, PROBED * workers() * PAIRS // pairs) // learner.copies) * learner.copies
    part, start = learner.begun(replace(lane.source, rows=few), torch.Generator())
    parameters = [*learner.networks.policy.parameters(), *learner.networks.critic.parameters()]
    with one_thread_per_operation():
        for _ in range(2):
            # The first pass loads code and allocates memory, and is not counted.
            began = time.perf_counter()
            _, segment = learner.rollout(lane.engine, part, start)
            walked = time.perf_counter()
            found = evaluate_segment(learner.networks, segment)
            torch.autograd.grad(torch.stack(list(found)).sum(), parameters, materialize_grads=True)
            learnt = time.perf_counter()
    walk, epoch = walked - began, learnt - walked
    return batch.rows / few * (walk + config.update_epochs * epoch)
