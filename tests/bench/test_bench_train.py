"""Timing training."""

from dataclasses import replace

import pytest

from dact.bench import QUICK_CASES, TRAIN_CASES, TrainCase, measure_training, paper_case
from dact.training import PpoConfig, RuntimeConfig


def test_shapes_and_authors_numbers():
    """The cases are the paper's batches, with the seconds that the authors' code took."""
    shapes = [
        (each.problem, each.size, each.schedule.rows, each.schedule.horizon, each.ppo.segment, case.authors_s)
        for case in TRAIN_CASES
        for each in (case.config,)
    ]
    assert shapes == [
        ("tsp", 20, 600, 200, 4, 20.0),
        ("tsp", 50, 600, 200, 4, None),
        ("tsp", 100, 600, 200, 4, 46.6),
        ("cvrp", 100, 512, 250, 5, 100.0),
    ]
    assert all(case.config.ppo == PpoConfig(segment=case.config.ppo.segment) for case in TRAIN_CASES + QUICK_CASES)


def test_row():
    """A row compares with the authors where they are known, and says what it was measured on."""
    config = replace(paper_case("tsp", 5, rows=4, horizon=2, segment=2).config, runtime=RuntimeConfig(device="cpu"))
    config = replace(config, ppo=replace(config.ppo, update_epochs=1, share=0.5))
    known, unknown = measure_training(tuple(TrainCase(config=config, authors_s=s) for s in (20.0, None)))
    assert known.times_faster == pytest.approx(20 / known.batch_s, rel=0.1)
    assert unknown.times_faster is None
    assert known.device
    assert known.precision == "float32"
    assert (known.positions, known.rows, known.update_epochs, known.share) == (5, 4, 1, 0.5)


def test_positions_count_depots():
    """Fewer depots make a batch cheaper, so a row tells how many positions its tours have."""
    paper = replace(paper_case("cvrp", 10, rows=4, horizon=2, segment=2).config, runtime=RuntimeConfig(device="cpu"))
    fewer = replace(paper, instances=replace(paper.instances, most_routes=6))
    timings = measure_training(tuple(TrainCase(config=config) for config in (paper, fewer)))
    assert [each.positions for each in timings] == [20, 16]
