"""Rows shared out over workers."""

import threading

import pytest
import torch
from torch import Tensor

from dact.threads import map_rows, one_thread_per_operation


@pytest.mark.parametrize("most", [1, 3, 10])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_blocks_give_what_the_whole_gives(most: int, threads: int) -> None:
    """However the rows are cut and by whomever they are worked on, they come back in order."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    x = torch.arange(14.0).view(7, 2)
    seen: list[tuple[int, int]] = []

    def double(part: Tensor) -> Tensor:
        seen.append((len(part), torch.get_num_threads()))
        assert not torch.is_grad_enabled() or threading.current_thread() is threading.main_thread()
        return 2 * part

    with one_thread_per_operation():
        assert torch.equal(map_rows(double, x, most), 2 * x)
    assert torch.get_num_threads() == threads
    torch.set_num_threads(before)
    assert all(rows <= most and used == 1 for rows, used in seen)


def test_outside_nothing_is_shared_out() -> None:
    """Without the context there is one worker: the caller."""
    names = []

    def name(part: Tensor) -> Tensor:
        names.append(threading.current_thread().name)
        return part

    map_rows(name, torch.zeros(6, 1), 2)
    assert set(names) == {threading.current_thread().name}


def test_an_error_in_a_worker_reaches_the_caller() -> None:
    """Nothing is swallowed, and the number of threads is put back."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)

    def fail(part: Tensor) -> Tensor:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"), one_thread_per_operation():
        map_rows(fail, torch.zeros(6, 1), 2)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


def test_overlapping_searches_put_the_threads_back() -> None:
    """Whichever of two users leaves first, the number of threads is the old one when both are gone."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    first, second = one_thread_per_operation(), one_thread_per_operation()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert torch.get_num_threads() == 1
    second.__exit__(None, None, None)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)
