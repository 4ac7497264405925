"""What the search loop needs of a search method."""

from typing import Protocol

from dact.problems import Batch
from dact.search.state import SearchState


class Searcher(Protocol):
    """Advances states of one batch, by steps of the policy or by rounds of another method.

    The loop (clock, trace, interrupts) and the pipeline know no more of a method than this.
    """

    @property
    def name(self) -> str:
        """For tables of results."""
        ...

    @property
    def graph_steps(self) -> int:
        """Steps it makes at a stroke: a multiple of them is advanced fastest."""
        ...

    def row_bytes(self, length: int) -> int:
        """About how much memory a row of this tour length takes."""
        ...

    def prepare(self, batch: Batch, state: SearchState) -> None:
        """Do what takes time before the first step of a batch of this shape. No time limit counts it."""
        ...

    def advance(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        """The state after `steps` more steps."""
        ...
