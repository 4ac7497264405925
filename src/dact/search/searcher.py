"""What the search loop needs of a search method."""

from typing import Protocol

from torch import Tensor

from dact.problems import Batch
from dact.search.state import SearchState
from dact.search.stop import Stop


class Searcher(Protocol):
    """Advances states of one batch, by steps of the policy or by rounds of another method.

    The loop (clock, trace, interrupts) and the pipeline know no more of a method than this.
    """

    @property
    def name(self) -> str:
        """For reports."""
        ...

    @property
    def graph_steps(self) -> int:
        """Steps it makes at a stroke: a multiple of them is advanced fastest."""
        ...

    def row_bytes(self, length: int) -> int:
        """About how much device memory a row of this tour length takes."""
        ...

    def copies(self, batch: Batch, count: int) -> Batch:
        """Every row so many times in turn, as the method wants to see them."""
        ...

    def limit(self, stop: Stop) -> None:
        """Called before a search: this is when it will end."""
        ...

    def prepare(self, batch: Batch, state: SearchState) -> None:
        """Do what takes time before the first step of a batch of this shape. No time limit counts it."""
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

    def finish_seconds(self, batch: Batch) -> float:
        """About what `finish` takes."""
        ...

    def finish(self, batch: Batch, tour_BN: Tensor, deadline: float) -> tuple[Tensor, bool]:
        """The best tours found, perhaps bettered until a moment by `time.perf_counter`; are they local optima?"""
        ...


class StepByStep:
    """The parts of `Searcher` that say little for a method whose steps are all alike."""

    def copies(self, batch: Batch, count: int) -> Batch:
        """Under the symmetries of the square."""
        return batch.augmented(count)

    def limit(self, stop: Stop) -> None:
        """When the search ends does not matter."""

    def steps_made(self, state: SearchState, asked: int) -> int:
        """All."""
        return asked

    def exact(self, batch: Batch) -> Tensor | None:
        """There is nothing but the search."""
        return None

    def finish_seconds(self, batch: Batch) -> float:
        """Nothing is done."""
        return 0.0

    def finish(self, batch: Batch, tour_BN: Tensor, deadline: float) -> tuple[Tensor, bool]:
        """The tours as they were found, of which nothing is known."""
        return tour_BN, False
