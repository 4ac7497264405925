"""What an operator is."""

from typing import Protocol

from torch import Tensor


class Operator(Protocol):
    """Takes anchored tours and a move per row, gives the anchored tours after the move.

    A move is a pair of *positions*, `move_B2 = (first, second)`; the pair (p, p) leaves the tour as it is.
    """

    def __call__(self, tour_BN: Tensor, move_B2: Tensor) -> Tensor:
        """The tours after the moves."""
        ...
