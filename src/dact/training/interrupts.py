"""Ctrl-C and SIGTERM ask a run to stop between two segments; a second Ctrl-C stops it where it is."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

WATCHED = (signal.SIGINT, signal.SIGTERM)


@dataclass
class Signals:
    """Has anybody asked?"""

    requested: bool = False


@contextmanager
def stop_on_signals() -> Iterator[Signals]:
    """Note signals instead of dying of them. Outside the main thread, where Python forbids it, does nothing."""
    signals = Signals()
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return

    def note(number: int, frame: FrameType | None) -> None:
        if signals.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        signals.requested = True

    before = {number: signal.signal(number, note) for number in WATCHED}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
