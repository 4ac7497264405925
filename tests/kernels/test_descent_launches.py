"""How many looks a launch has, so that the host can stop a search soon enough."""

from types import SimpleNamespace

import pytest
import torch

from dact.kernels.descent import (
    FEWEST_LOOKS,
    LAUNCH_SECONDS,
    LOOKS,
    LOOKS_OF_FEW,
    MOST_LOOKS,
    looks_at_once,
    looks_next,
)


class Tours:
    """Tours on a GPU, as far as the length of launches depends on them."""

    is_cuda, device = True, "cuda"

    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def __len__(self) -> int:
        return self.shape[0]


def test_one_file_on_a_gpu_has_more_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that all run at the same time may have longer launches, unless their tours are very long."""
    monkeypatch.setattr("dact.kernels.descent.rows_in_flight", lambda device: 528)
    shapes = ((528, 1000), (529, 1000), (528, 5000))
    looks = [looks_at_once(SimpleNamespace(work_RN=Tours(*shape)), 1) for shape in shapes]  # type: ignore[arg-type]
    assert looks == [LOOKS_OF_FEW, LOOKS, LOOKS]


def test_launches_take_as_long_as_they_should() -> None:
    """After a short launch on a CPU the next one has up to twice the looks, after a long one fewer, but some."""
    none_R, wanted = torch.zeros(5, dtype=torch.bool), LAUNCH_SECONDS
    assert [looks_next(none_R, 100, seconds) for seconds in (0, wanted / 4, wanted, 4 * wanted)] == [200, 200, 100, 25]
    assert looks_next(none_R, FEWEST_LOOKS, 10) == FEWEST_LOOKS
    assert looks_next(none_R, MOST_LOOKS, 0) == MOST_LOOKS
    assert looks_next(torch.tensor([True, True, True, False, False]), 100, 0) == 100
