"""Source of training instances."""

from dataclasses import dataclass, replace

import torch
from torch import Generator

from dact.problems import UNIFORM, Batch, InstanceConfig, Problem


@dataclass(frozen=True, kw_only=True)
class InstanceSource:
    """Draws random batches of one size, or of several."""

    problem: Problem
    size: int
    rows: int
    config: InstanceConfig = UNIFORM
    sizes: tuple[int, ...] = ()
    """Sizes to train on, if there are several."""

    def each(self) -> "list[InstanceSource]":
        """A source for each size and each band of routes that is trained on."""
        sizes, bands = self.sizes or (self.size,), self.config.each_band()
        return [replace(self, size=size, sizes=(), config=band) for size in sizes for band in bands]

    def sample(self, generator: Generator, rows: int | None = None) -> Batch:
        """A new batch on the generator's device."""
        return self.problem.sample(self.size, rows or self.rows, generator, self.config)

    def length(self) -> int:
        """Positions in the longest tour, dummy depots included."""
        sources = replace(self, sizes=(self.size, *self.sizes)).each()
        return max(each.sample(torch.Generator(), rows=1).length for each in sources)
