"""Solutions on the way to the best one, as moving pictures show them."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from dact.instances import Routes

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True)
class Frame:
    """A solution, and when it was found."""

    routes: Routes
    cost: float
    seconds: float


class Reel(Generic[Item]):
    """Frames as they come; beyond `most`, every second one of the older is dropped, and the last is always kept."""

    def __init__(self, most: int = 100) -> None:
        self.most = most
        self._frames: list[Item] = []

    def add(self, frame: Item) -> None:
        """The next frame."""
        # A new list: another thread may be reading the old one.
        kept = self._frames[::2] if len(self._frames) >= self.most else self._frames
        self._frames = [*kept, frame]

    def frames(self) -> list[Item]:
        """The frames that are kept."""
        return self._frames
