"""Handling of Ctrl-C that loses no result."""

import signal
import threading
from types import FrameType, TracebackType


class Interrupts:
    """Records signals (Ctrl-C by default) until `obey` is called, so that no finished answer is lost.

    A second Ctrl-C ends the program at once, unless it is `patient`. Outside the main thread, where Python forbids
    handlers, does nothing.
    """

    def __init__(self, *watched: signal.Signals, patient: bool = False) -> None:
        self.asked = False
        self.patient = patient
        self._watched = watched or (signal.SIGINT,)

    def __enter__(self) -> "Interrupts":
        main = threading.current_thread() is threading.main_thread()
        self._before = {number: signal.signal(number, self._remember) for number in self._watched if main}
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

    def _remember(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGINT and not self.patient:
            self.obey()
        self.asked = True
