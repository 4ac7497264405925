"""Processes that train one policy together (torchrun): the same weights, each with instances of its own.

Gradients and metrics are averaged over all; the first process alone validates, writes and decides when to stop.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class Team:
    """Who takes part. A team of one needs nobody else, and its methods do nothing."""

    rank: int = 0
    size: int = 1
    connected: bool = False
    """Is there a process group? Also a team of one may have one."""

    @property
    def leads(self) -> bool:
        """Is this the process that writes and decides?"""
        return self.rank == 0

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


def launched() -> bool:
    """Has torchrun started this process?"""
    return "TORCHELASTIC_RUN_ID" in os.environ


def first_process() -> bool:
    """Is this the process of a team, or the only one, that may write and print?"""
    return not launched() or os.environ.get("RANK", "0") == "0"


def join_team(device: str) -> Team:
    """The team that torchrun started this process in, or one of its own. Takes the GPU that belongs to it."""
    if not launched():
        return ALONE
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    if not dist.is_initialized():
        # Decisions are numbers on the host, which gloo carries; gradients stay on their GPU.
        dist.init_process_group("cpu:gloo,cuda:nccl" if device == "cuda" else "gloo")
    return Team(rank=dist.get_rank(), size=dist.get_world_size(), connected=True)


def leave_team(team: Team) -> None:
    """Close the connections."""
    if team.connected and dist.is_initialized():
        dist.destroy_process_group()
