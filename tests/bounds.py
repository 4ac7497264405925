"""Bounds on what a call may take, for tests of files that ask for too much."""

import signal
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

MEGABYTE = 2**20


class TookTooLong(BaseException):
    """Nothing that reads a file catches this."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise TookTooLong


@contextmanager
def within_seconds(seconds: float) -> Iterator[None]:
    """End what hangs: seconds of this process's own time, far more than the work needs."""
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def within_megabytes(megabytes: float) -> Iterator[None]:
    """Fail if Python and NumPy ever held, or asked for, more than this beyond what they had."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < megabytes * MEGABYTE, f"{peak / MEGABYTE:.0f} MB were taken"
