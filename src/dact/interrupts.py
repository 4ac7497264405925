"""Handling of Ctrl-C and SIGTERM that loses no result."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = 130
"""The exit code after either signal."""
TOGETHER = 0.5
"""Seconds within which several signals count as one: a terminal, a shell and torchrun may each send one."""

LOOK_EVERY = 0.05
"""Seconds between two looks for signals while something else works."""


class Interrupts:
    """Records signals until `obey` is called, so that no finished answer is lost.

    A later one ends the program at once, unless it is `patient`. Outside the main thread, where Python forbids
    handlers, does nothing.
    """

    def __init__(self, *, patient: bool = False) -> None:
        self.asked = False
        self.patient = patient
        self._asked_at = 0.0

    def __enter__(self) -> "Interrupts":
        main = threading.current_thread() is threading.main_thread()
        self._before = {number: signal.signal(number, self._remember) for number in SIGNALS if main}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def obey(self) -> None:
        """Raise KeyboardInterrupt if a signal has been recorded."""
        if self.asked:
            raise KeyboardInterrupt

    def watch(self, work: Callable[[], None]) -> None:
        """Do something that takes long without a look at signals; KeyboardInterrupt as soon as one comes.

        It is done in a thread of its own, which then is left alone until the program ends.
        """
        errors: list[BaseException] = []

        def do() -> None:
            try:
                work()
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=do, daemon=True)
        thread.start()
        while thread.is_alive():
            self.obey()
            thread.join(LOOK_EVERY)
        if errors:
            raise errors[0]

    @contextmanager
    def held_off(self) -> Iterator[None]:
        """Signals are ignored inside, so that answers being written are completed."""
        before, self.patient = self.patient, True
        try:
            yield
        finally:
            self.patient = before

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if self.asked and not self.patient and time.monotonic() - self._asked_at > TOGETHER:
            raise KeyboardInterrupt
        if not self.asked:
            self._asked_at = time.monotonic()
        self.asked = True


@contextmanager
def leaving_at_once() -> Iterator[None]:
    """The first signal raises KeyboardInterrupt inside, wherever the work is, and later ones are ignored."""
    main = threading.current_thread() is threading.main_thread()

    def leave(number: int, frame: FrameType | None) -> None:
        ignore_signals()
        raise KeyboardInterrupt

    before = {number: signal.signal(number, leave) for number in SIGNALS if main}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave_on_signals() -> None:
    """Until a command installs its own handlers, a signal ends the program with one line and exit code 130."""
    for number in SIGNALS:
        signal.signal(number, _leave)


def ignore_signals() -> None:
    """Ignore signals from now on: the work is done, and only Python's shutdown is left."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _leave(number: int, frame: FrameType | None) -> None:
    # Not by print: the signal may have come in the middle of one.
    os.write(2, b"interrupted: nothing had been searched\n")
    raise SystemExit(INTERRUPTED)
