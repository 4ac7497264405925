"""Rows of all ages: each row is replaced by a new instance after a fixed number of steps."""

from dataclasses import dataclass

import torch
from torch import Tensor

from dact.training.buffers import Buffers, make_buffers


@dataclass(frozen=True, kw_only=True)
class Pool:
    """Remaining steps of each row and the next instances, on the device for use in a CUDA graph."""

    ages: int
    """Steps after which a row is replaced."""
    left_B: Tensor
    """Steps until a row is replaced."""
    fresh: Buffers
    """New instances at their starts, one per row. Draw them anew at least every `ages` steps, so that no row gets the
    same twice."""
    copies: int = 1
    """Consecutive rows with the same instance, which are replaced together."""

    def tensors(self) -> dict[str, Tensor]:
        """All of them by name."""
        return {"pool.left_B": self.left_B} | {f"pool.fresh.{name}": x for name, x in self.fresh.tensors().items()}

    def spread(self, segment: int) -> None:
        """Spread the replacements evenly over `ages` steps, in whole segments. All rows start at age 0; after `ages`
        steps their ages are spread evenly as well.
        """
        rows, segments = len(self.left_B), self.ages // segment
        group_B = torch.arange(rows, device=self.left_B.device) // self.copies
        self.left_B.copy_(segment * (1 + group_B * segments // (rows // self.copies)))

    @torch.no_grad()
    def pass_time(self, buffers: Buffers, steps: int) -> None:
        """Count steps and replace, in place, the rows that have reached their age."""
        left_B = self.left_B - steps
        due_B = left_B <= 0
        self.left_B.copy_(left_B + self.ages * due_B)
        fresh = self.fresh.tensors()
        for name, x in buffers.tensors().items():
            x.copy_(torch.where(due_B.view(-1, *[1] * (x.dim() - 1)), fresh[name], x))


def make_pool(buffers: Buffers, ages: int, segment: int, copies: int = 1) -> Pool:
    """A pool for the rows of these buffers; its next instances still have to be drawn."""
    left_B, fresh = torch.zeros_like(buffers.state.stall_B), make_buffers(buffers.batch, buffers.state)
    pool = Pool(ages=ages, left_B=left_B, fresh=fresh, copies=copies)
    pool.spread(segment)
    return pool
