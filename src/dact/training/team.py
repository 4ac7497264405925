"""Processes that train one policy together (torchrun): the same weights, each with instances of its own.

Gradients and metrics are averaged over all; the first process alone validates, writes and decides when to stop.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor

from dact import team
from dact.team import first_process, launched

__all__ = ["ALONE", "Team", "first_process", "join_team", "launched", "leave_team"]


@dataclass(frozen=True)
class Team(team.Team):
    """A team whose processes agree on numbers, gradients and weights."""

    def average(self, tensors: list[Tensor]) -> None:
        """Replace tensors by their mean over the team, in place and in one message."""
        if not self.connected:
            return
        flat = torch.cat([x.reshape(-1) for x in tensors])
        dist.all_reduce(flat)
        flat /= self.size
        start = 0
        for x in tensors:
            x.copy_(flat[start : start + x.numel()].view_as(x))
            start += x.numel()

    def agree(self, *values: float) -> tuple[float, ...]:
        """The first process's numbers, on every process."""
        if not self.connected:
            return values
        told = torch.tensor(values, dtype=torch.float64)
        dist.broadcast(told, src=0)
        return tuple(told.tolist())

    def share(self, tensors: Iterable[Tensor]) -> None:
        """The first process's tensors, on every process, in place."""
        if self.connected:
            for x in tensors:
                dist.broadcast(x, src=0)

    def rows(self, rows: int) -> int:
        """This process's part of a batch."""
        if rows % self.size:
            raise ValueError(f"schedule.rows {rows} is not a multiple of the {self.size} processes")
        return rows // self.size


ALONE = Team()


def join_team(device: str) -> Team:
    """The team that torchrun started this process in. On GPUs, each needs one of its own: NCCL shares none."""
    if launched() and device == "cuda":
        wanted, there = int(os.environ["LOCAL_WORLD_SIZE"]), torch.cuda.device_count()
        if wanted > there:
            raise ValueError(f"torchrun started {wanted} processes, but there are GPUs for {there}: one each is needed")
    return Team.join(device)


leave_team = Team.leave
