"""Rows of all ages: each is replaced by a new instance when its own time is up."""

from dataclasses import dataclass

import torch
from torch import Tensor

from dact.training.buffers import Buffers, make_buffers


@dataclass(frozen=True, kw_only=True)
class Pool:
    """How long each row has left, and the instances that come next. On the device, for a captured graph to use."""

    ages: int
    """Steps that a row lives."""
    left_B: Tensor
    """Steps until a row is replaced."""
    fresh: Buffers
    """New instances at their starts, one for each row. No row takes the same twice if they are drawn anew at least
    every `ages` steps."""

    def tensors(self) -> dict[str, Tensor]:
        """All of them by name."""
        return {"pool.left_B": self.left_B} | {f"pool.fresh.{name}": x for name, x in self.fresh.tensors().items()}

    def spread(self, segment: int) -> None:
        """Spread the ends of the rows' lives evenly over `ages` steps, in whole segments.

        Rows begin together, at age 0; once each has been replaced, after `ages` steps, their ages are spread as evenly.
        """
        rows, segments = len(self.left_B), self.ages // segment
        self.left_B.copy_(segment * (1 + torch.arange(rows, device=self.left_B.device) * segments // rows))

    @torch.no_grad()
    def pass_time(self, buffers: Buffers, steps: int) -> None:
        """So many steps have been made: replace, in place, the rows whose time is up."""
        left_B = self.left_B - steps
        due_B = left_B <= 0
        self.left_B.copy_(left_B + self.ages * due_B)
        fresh = self.fresh.tensors()
        for name, x in buffers.tensors().items():
            x.copy_(torch.where(due_B.view(-1, *[1] * (x.dim() - 1)), fresh[name], x))


def make_pool(buffers: Buffers, ages: int, segment: int) -> Pool:
    """For the rows of these buffers; the instances that come next have to be drawn yet."""
    left_B, fresh = torch.zeros_like(buffers.state.stall_B), make_buffers(buffers.batch, buffers.state)
    pool = Pool(ages=ages, left_B=left_B, fresh=fresh)
    pool.spread(segment)
    return pool
