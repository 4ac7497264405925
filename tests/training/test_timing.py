"""Timing a batch."""

from dact.training.networks import RuntimeConfig
from dact.training.timing import time_batch


def test_time_batch(problem_name):
    """A batch takes as long as its segments, and everything takes some time."""
    timing = time_batch(problem_name, 6, 4, 8, 4, runtime=RuntimeConfig(device="cpu"), repeats=2)
    assert len(timing.repeats) == 2
    assert timing.batch == sum(timing.repeats) / 2 == 2 * timing.segment
    assert min(timing.warm_up_step, timing.new_batch, timing.set_up) > 0
