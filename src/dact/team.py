"""The processes that torchrun starts together, and their collectives."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Self, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

Value = TypeVar("Value")
TIMEOUT = timedelta(days=30)
"""How long a process waits for the others; PyTorch's default is half an hour."""


@dataclass(frozen=True)
class Team:
    """A process group; for a single process, collectives return at once."""

    rank: int = 0
    size: int = 1
    connected: bool = False
    """Is there a process group? torchrun makes one for a single process as well."""

    @classmethod
    def join(cls, device: str, *, own_gpu: bool = False) -> Self:
        """Join the group that torchrun started this process in, if any, and select this process's GPU.

        `own_gpu` refuses more processes than GPUs: NCCL cannot share one. Otherwise they share.
        """
        if not launched():
            return cls()
        if device == "cuda":
            wanted, there = int(os.environ["LOCAL_WORLD_SIZE"]), torch.cuda.device_count()
            if own_gpu and wanted > there:
                raise ValueError(
                    f"torchrun started {wanted} processes, but there are GPUs for {there}: one each is needed"
                )
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % there)
        if not dist.is_initialized():
            # Objects go between the hosts by gloo; gradients stay on their GPU.
            dist.init_process_group("cpu:gloo,cuda:nccl" if device == "cuda" else "gloo", timeout=TIMEOUT)
        return cls(rank=dist.get_rank(), size=dist.get_world_size(), connected=True)

    def leave(self) -> None:
        """Close the connections."""
        if self.connected and dist.is_initialized():
            dist.destroy_process_group()

    @property
    def leads(self) -> bool:
        """Is this the process that writes and decides?"""
        return self.rank == 0

    def all_gather(self, value: Value) -> list[Value]:
        """The value of each process, by rank, on every process."""
        if not self.connected:
            return [value]
        values: list[Value] = [value] * self.size
        dist.all_gather_object(values, value)
        return values

    def broadcast(self, value: Value) -> Value:
        """The first process's value, on every process. Also a barrier."""
        return self.all_gather(value)[0]

    def broadcast_tensors(self, tensors: Iterable[Tensor]) -> None:
        """Replace tensors by the first process's, in place."""
        if self.connected:
            for x in tensors:
                dist.broadcast(x, src=0)

    def all_reduce_mean(self, tensors: list[Tensor]) -> None:
        """Replace tensors by their means over the processes, in place and in one message."""
        if not self.connected:
            return
        flat = torch.cat([x.reshape(-1) for x in tensors])
        dist.all_reduce(flat)
        flat /= self.size
        start = 0
        for x in tensors:
            x.copy_(flat[start : start + x.numel()].view_as(x))
            start += x.numel()

    def part_of(self, count: int, name: str) -> int:
        """How many of `count` rows are this process's."""
        if count % self.size:
            raise ValueError(f"{name} {count} is not a multiple of the {self.size} processes")
        return count // self.size


ALONE = Team()


def launched() -> bool:
    """Has torchrun started this process?"""
    return "TORCHELASTIC_RUN_ID" in os.environ


def first_process() -> bool:
    """Is this the process of a team, or the only one, that may write and print?"""
    return not launched() or os.environ.get("RANK", "0") == "0"
