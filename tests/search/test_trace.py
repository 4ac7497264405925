"""Records of how costs fell."""

import numpy as np

from dact.search.trace import Record, TracePoint


def test_points_only_where_a_cost_fell() -> None:
    """A look adds a point to the traces of the instances that improved since the last one, and to no others."""
    record = Record(np.array([5.0, 7.0]), 0.5)
    record.look(8, 1.0, np.array([5.0, 6.0]))
    record.look(16, 2.0, np.array([4.0, 6.5]))
    first, second = record.traces()
    assert first == (TracePoint(0, 0.5, 5.0), TracePoint(16, 2.0, 4.0))
    assert second == (TracePoint(0, 0.5, 7.0), TracePoint(8, 1.0, 6.0))
    assert record.cost_I.tolist() == [4.0, 6.0]


def test_looks_that_find_nothing_take_no_memory() -> None:
    """However often a search looks up."""
    record = Record(np.array([5.0]), 0.0)
    for step in range(1, 100):
        record.look(step, 1.0, np.array([5.0]))
    assert len(record._looks) == 1
