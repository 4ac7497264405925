"""Tensors at fixed addresses, as a captured CUDA graph needs them: written with copy_, never replaced."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dact.problems import Batch
from dact.search import SearchState


@dataclass(frozen=True, kw_only=True)
class Buffers:
    """A batch of instances and the state of their search."""

    batch: Batch
    state: SearchState

    def tensors(self) -> dict[str, Tensor]:
        """All of them by name."""
        return {f"batch.{name}": x for name, x in fields(self.batch).items()} | {
            f"state.{name}": x for name, x in fields(self.state).items()
        }

    def load(self, batch: Batch, state: SearchState) -> None:
        """Copy in other instances of the same shapes, and their state."""
        if batch.depots != self.batch.depots:
            raise ValueError(f"a batch with {batch.depots} depots does not fit buffers with {self.batch.depots}")
        write(fields(self.batch), fields(batch))
        self.move_to(state)

    def move_to(self, state: SearchState) -> None:
        """Copy in another state of the same instances."""
        write(fields(self.state), fields(state))


def make_buffers(batch: Batch, state: SearchState) -> Buffers:
    """Copies of a batch and a state; no two tensors share memory."""
    return Buffers(
        batch=replace(batch, **{name: x.clone() for name, x in fields(batch).items()}),  # type: ignore[arg-type]
        state=SearchState(**{name: x.clone() for name, x in fields(state).items()}),
    )


def fields(record: object) -> dict[str, Tensor]:
    """The tensors of a dataclass by name."""
    return {name: x for name, x in vars(record).items() if isinstance(x, Tensor)}


@torch.no_grad()
def write(into: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    """Copy each value into the tensor of its name."""
    if into.keys() != values.keys():
        raise ValueError(f"tensors do not fit: {', '.join(sorted(into.keys() ^ values.keys()))}")
    for name, x in into.items():
        if x.shape != values[name].shape:
            raise ValueError(f"{name} has shape {tuple(values[name].shape)}, but {tuple(x.shape)} is needed")
        x.copy_(values[name])


def snapshot(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Copies on the same device, for restoring later."""
    return {name: x.detach().clone() for name, x in tensors.items()}
