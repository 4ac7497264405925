"""Ctrl-C that loses nothing."""

import signal
from types import FrameType, TracebackType


class Interrupts:
    """Remembers the first Ctrl-C until the search asks, so that it never falls between two answers.

    The second one ends the program at once.
    """

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> "Interrupts":
        self._before = signal.signal(signal.SIGINT, self._remember)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def obey(self) -> None:
        """Raise the Ctrl-C that was remembered."""
        if self.asked:
            raise KeyboardInterrupt

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.obey()
        self.asked = True
