"""Where training instances come from."""

from dataclasses import dataclass

import torch
from torch import Generator

from dact.problems import UNIFORM, Batch, InstanceConfig, Problem


@dataclass(frozen=True, kw_only=True)
class InstanceSource:
    """Draws batches of one shape."""

    problem: Problem
    size: int
    rows: int
    config: InstanceConfig = UNIFORM

    def sample(self, generator: Generator, rows: int | None = None) -> Batch:
        """A new batch on the generator's device."""
        return self.problem.sample(self.size, rows or self.rows, generator, self.config)

    def length(self) -> int:
        """Positions in a tour, dummy depots included."""
        return self.sample(torch.Generator(), rows=1).length
