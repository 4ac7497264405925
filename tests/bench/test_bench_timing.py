"""Timing a batch."""

from dataclasses import replace

from dact.bench import paper_case
from dact.bench.timing import time_batch


def test_time_batch(problem_name: str):
    """A batch takes as long as its segments, and everything takes some time."""
    config = paper_case(problem_name, 6, rows=4, horizon=4, segment=2).config
    config = replace(config, curriculum=replace(config.curriculum, tours="greedy"), ppo=replace(config.ppo, share=0.5))
    timing = time_batch(config, repeats=2)
    assert len(timing.repeats) == 2
    assert timing.batch == sum(timing.repeats) / 2 == 2 * timing.segment
    assert min(timing.warm_up_step, timing.new_batch, timing.set_up) > 0
