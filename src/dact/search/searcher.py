"""The interface of search methods."""

from collections.abc import Callable
from typing import Protocol

from torch import Tensor

from dact.problems import Batch
from dact.search.state import SearchState
from dact.search.stop import Stop

AUTO = "auto"
"""The value of a setting that is chosen for the instance, the weights or the device."""


class Searcher(Protocol):
    """Advances states of one batch, by steps of the policy or by rounds of another method.

    The loop (clock, trace, interrupts) and the pipeline use nothing else of a method.
    """

    @property
    def name(self) -> str:
        """For reports."""
        ...

    @property
    def graph_steps(self) -> int:
        """Steps per launch: multiples of it are fastest."""
        ...

    def row_bytes(self, length: int) -> int:
        """About how much device memory a row of this tour length takes."""
        ...

    def copies(self, batch: Batch, count: int) -> Batch:
        """Repeat every row `count` times, in the form that the method uses (such as augmentations)."""
        ...

    def limit(self, stop: Stop) -> None:
        """Called before a search with its limits."""
        ...

    def prepare(self, batch: Batch, state: SearchState) -> None:
        """Compile and allocate for a batch of this shape. Not counted in a time limit."""
        ...

    def advance(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        """The state after `steps` more steps."""
        ...

    def steps_made(self, state: SearchState, asked: int) -> int:
        """Steps that every row has made, of those it has been asked for in all: a time limit may have cut them."""
        ...

    def exact(self, batch: Batch) -> Tensor | None:
        """Optimal tours, where the method knows them without a search."""
        ...

    def network_seconds(self) -> float | None:
        """Seconds that a network has taken in all searches so far; None if they are not counted."""
        ...

    def finish_seconds(self, batch: Batch) -> float:
        """Estimated duration of `finish`."""
        ...

    def finish(self, batch: Batch, tour_BN: Tensor, over: Callable[[], bool]) -> tuple[Tensor, bool]:
        """Improve the best tours until `over` returns True. Returns them, and whether they are local optima."""
        ...


class StepByStep:
    """Default parts of `Searcher` for methods whose steps do not depend on the limits."""

    def copies(self, batch: Batch, count: int) -> Batch:
        """Under the symmetries of the square."""
        return batch.augmented(count)

    def limit(self, stop: Stop) -> None:
        """Limits are not used."""

    def steps_made(self, state: SearchState, asked: int) -> int:
        """All."""
        return asked

    def exact(self, batch: Batch) -> Tensor | None:
        """There is nothing but the search."""
        return None

    def network_seconds(self) -> float | None:
        """Not counted."""
        return None

    def finish_seconds(self, batch: Batch) -> float:
        """Zero: `finish` does nothing."""
        return 0.0

    def finish(self, batch: Batch, tour_BN: Tensor, over: Callable[[], bool]) -> tuple[Tensor, bool]:
        """The tours unchanged, not known to be local optima."""
        return tour_BN, False
