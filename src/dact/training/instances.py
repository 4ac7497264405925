"""Where training instances come from."""

from dataclasses import dataclass

import torch
from torch import Generator

from dact.problems import Batch, Problem


@dataclass(frozen=True, kw_only=True)
class InstanceSource:
    """Draws batches of one shape."""

    problem: Problem
    size: int
    rows: int

    def sample(self, generator: Generator) -> Batch:
        """A new batch on the generator's device."""
        return self.problem.sample(self.size, self.rows, generator)

    def length(self) -> int:
        """Positions in a tour, dummy depots included."""
        return self.problem.sample(self.size, 1, torch.Generator()).length
