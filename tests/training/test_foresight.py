"""What a run on a CPU will take."""

import pytest
import torch

from dact.training import chunks, foresight
from dact.training.foresight import needed_bytes, refuse_long_segments, segment_seconds


@pytest.fixture
def gigabytes(monkeypatch):
    """Sets the memory that is free."""
    return lambda count: monkeypatch.setattr("dact.memory.available_memory", lambda: int(count * 1e9))


@pytest.mark.parametrize(
    ("setting", "changes"),
    [
        ("schedule.rows 90000", {"schedule": {"rows": 90000}}),
        ("validation.count 90000", {"validation": {"count": 90000}}),
    ],
)
def test_memory_is_told_first(tmp_path, tiny, train, gigabytes, setting, changes):
    """A run that does not fit is refused by the setting's name before anything is built or written."""
    gigabytes(4)
    with pytest.raises(ValueError, match=rf"training with {setting} and .* GB of memory, but 4.0 GB are free: .*--set"):
        train(tmp_path / "run", tiny(size=20, **changes))
    assert not (tmp_path / "run").exists()


def test_the_papers_recipes_fit_a_small_machine():
    """An update on thousands of rows takes gigabytes for its step and its record, not for its activations."""
    assert 2e9 < needed_bytes(512, 120, 5) < 4e9
    assert needed_bytes(64, 10, 4) < 1.2e9


def test_long_segments_are_refused(make_learner, monkeypatch):
    """A segment that takes minutes here is refused with the rows that would do; a run that goes on keeps its rows."""
    monkeypatch.setattr(foresight, "segment_seconds", lambda *_: 240.0)
    with pytest.raises(ValueError, match=r"8 rows takes about 240 s .* 60 s: train fewer rows \(--set rows=1\)"):
        refuse_long_segments(make_learner(), begun=False)
    with pytest.raises(ValueError, match="60 s: go on with the run on a faster machine"):
        refuse_long_segments(make_learner(), begun=True)
    monkeypatch.setattr(foresight, "segment_seconds", lambda *_: 59.0)
    refuse_long_segments(make_learner(), begun=False)


def test_the_time_is_told_by_a_few_rows(make_learner, problem_name, monkeypatch):
    """Rows of their own are walked and learnt from; the learner is as it was."""
    learner = make_learner(problem_name, rows=64)
    before = {name: x.clone() for name, x in learner.tensors().items()}
    draws = learner.generator.get_state()
    assert segment_seconds(learner, learner.lane) == 0.0
    monkeypatch.setattr(foresight, "SMALL", 0)
    monkeypatch.setattr(foresight, "PAIRS", 4 * 4 * 6**2)
    assert segment_seconds(learner, learner.lane) > 0.0
    for name, x in learner.tensors().items():
        assert torch.equal(x, before[name]), name
    assert torch.equal(learner.generator.get_state(), draws)
    assert chunks.PAIRS > foresight.PAIRS
