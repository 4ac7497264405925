"""Processes that torchrun starts together: who they are, and words between them."""

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Self, TypeVar

import torch
import torch.distributed as dist

Words = TypeVar("Words")
PATIENCE = timedelta(days=30)
"""Who has finished waits for the others as long as they need. PyTorch would give up after half an hour."""


@dataclass(frozen=True)
class Team:
    """Who takes part. A team of one needs nobody else, and its methods do nothing."""

    rank: int = 0
    size: int = 1
    connected: bool = False
    """Is there a process group? Also a team of one may have one."""

    @classmethod
    def join(cls, device: str) -> Self:
        """The team that torchrun started this process in, or one of its own. Takes the GPU that belongs to it."""
        if not launched():
            return cls()
        if device == "cuda":
            # Where there are fewer GPUs than processes, they are shared.
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        if not dist.is_initialized():
            # Words and decisions are on the host, where gloo carries them; gradients stay on their GPU.
            dist.init_process_group("cpu:gloo,cuda:nccl" if device == "cuda" else "gloo", timeout=PATIENCE)
        return cls(rank=dist.get_rank(), size=dist.get_world_size(), connected=True)

    def leave(self) -> None:
        """Close the connections."""
        if self.connected and dist.is_initialized():
            dist.destroy_process_group()

    @property
    def leads(self) -> bool:
        """Is this the process that writes and decides?"""
        return self.rank == 0

    def gathered(self, words: Words) -> list[Words]:
        """What each process says, by rank, on every process; nobody goes on before all have spoken."""
        if not self.connected:
            return [words]
        everybody: list[Words] = [words] * self.size
        dist.all_gather_object(everybody, words)
        return everybody

    def told(self, words: Words) -> Words:
        """What the first process says, on every process."""
        return self.gathered(words)[0]


def launched() -> bool:
    """Has torchrun started this process?"""
    return "TORCHELASTIC_RUN_ID" in os.environ


def first_process() -> bool:
    """Is this the process of a team, or the only one, that may write and print?"""
    return not launched() or os.environ.get("RANK", "0") == "0"
