"""Moves that lead back to a recent tour are drawn again: the reference.

Shape letters: B rows, N positions, L recent tours.
"""

from typing import NamedTuple

from torch import Tensor

from dact.kernels.fingerprint import fingerprints
from dact.kernels.row_draws import DRAWS, many_draws
from dact.operators import Operator

TRIES = 8
"""Draws of a step at most. If all of them lead back, the last one is made."""


class Tabu(NamedTuple):
    """The tours that moves should not lead back to."""

    tour_BN: Tensor
    """What is moved."""
    recent_BL: Tensor
    """Fingerprints of recent tours."""
    stream_B: Tensor
    """Spare draws are derived from it; it does not advance."""
    operator: Operator
    depots: int

    def back(self, move_B2: Tensor) -> Tensor:
        """(B,) bool: does the move lead back?"""
        after_B = fingerprints(self.operator(self.tour_BN, move_B2), self.depots)
        return (self.recent_BL == after_B.unsqueeze(1)).any(1)

    def spare_draws(self) -> Tensor:
        """(TRIES - 1, 2, B) float64 in [0, 1)."""
        return many_draws(self.stream_B, DRAWS * (TRIES - 1)).t().view(TRIES - 1, DRAWS, -1)
