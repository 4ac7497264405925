"""Timing training."""

import pytest

from dact.bench import QUICK_CASES, TRAIN_CASES, TrainCase, measure_training
from dact.training import RuntimeConfig


def test_shapes_and_authors_numbers():
    """The cases are the paper's batches, with the seconds that the authors' code took."""
    shapes = [(each.problem, each.size, each.rows, each.horizon, each.segment, each.authors_s) for each in TRAIN_CASES]
    assert shapes == [
        ("tsp", 20, 600, 200, 4, 20.0),
        ("tsp", 50, 600, 200, 4, None),
        ("tsp", 100, 600, 200, 4, 46.6),
        ("cvrp", 100, 512, 250, 5, 100.0),
    ]
    assert all(case.horizon % case.segment == 0 for case in TRAIN_CASES + QUICK_CASES)


def test_row():
    """A row compares with the authors where they are known, and says what it was measured on."""
    cases = tuple(TrainCase(problem="tsp", size=5, rows=2, horizon=2, segment=2, authors_s=s) for s in (20.0, None))
    known, unknown = measure_training(cases, RuntimeConfig(device="cpu"))
    assert known.times_faster == pytest.approx(20 / known.batch_s, rel=0.1)
    assert unknown.times_faster is None
    assert known.device
    assert known.precision == "float32"
