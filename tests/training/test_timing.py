"""Timing a batch."""

from dact.training.timing import time_batch


def test_time_batch(problem_name, tiny):
    """A batch takes as long as its segments, and everything takes some time."""
    config = tiny(problem=problem_name, schedule={"horizon": 4}, curriculum={"tours": "greedy"}, ppo={"share": 0.5})
    timing = time_batch(config, repeats=2)
    assert len(timing.repeats) == 2
    assert timing.batch == sum(timing.repeats) / 2 == 2 * timing.segment
    assert min(timing.warm_up_step, timing.new_batch, timing.set_up) > 0
