"""Steps on buffers at fixed addresses, replayed as CUDA graphs on a GPU.

On a CPU the same calls run one by one, which is how their logic is tested without a GPU.
"""

from collections.abc import Callable
from dataclasses import InitVar, dataclass, fields, replace
from typing import Any, TypeVar
from weakref import WeakMethod

import torch
from torch import Tensor

from dact.problems import Batch
from dact.search.engines.capture import capturing, rehearse
from dact.search.state import SearchState

Part = TypeVar("Part", Batch, SearchState)
Advance = Callable[[Batch, SearchState, int], SearchState]
WARM_UPS = 2
"""Steps before a capture: kernels are compiled, libraries make their workspaces, tables are filled."""


@dataclass
class Replay:
    """Fixed copies of a batch and a state, and graphs that advance the state by one or by several steps."""

    advance: InitVar[Advance]
    """A method of the engine that holds this object, or of what that engine holds."""
    batch: Batch
    state: SearchState
    steps: int
    """Steps of the longer graph."""

    def __post_init__(self, advance: Advance) -> None:
        # A weak reference, so that graphs are freed with their engine and not by the garbage collector.
        self.method = WeakMethod(advance)
        self.batch = _clone(self.batch)
        self.state = _clone(self.state)
        self.graphs: dict[int, torch.cuda.CUDAGraph] = {}

    def fits(self, batch: Batch, state: SearchState) -> bool:
        """Can this batch and state be copied into the buffers?"""
        return _shapes(batch) == _shapes(self.batch) and _shapes(state) == _shapes(self.state)

    def run(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        """The state after `steps` more steps."""
        _copy(batch, self.batch)
        _copy(state, self.state)
        for _ in range(steps // self.steps):
            self._replay(self.steps)
        for _ in range(steps % self.steps):
            self._replay(1)
        return _clone(self.state)

    def prepare(self) -> None:
        """Compile and capture what `run` will need."""
        if self.batch.device.type == "cuda":
            for steps in {self.steps, 1} - self.graphs.keys():
                self.graphs[steps] = self._captured(steps)

    def _replay(self, steps: int) -> None:
        if self.batch.device.type != "cuda":
            self._advance(steps)
            return
        self.prepare()
        self.graphs[steps].replay()

    def _advance(self, steps: int) -> None:
        advance = self.method()
        assert advance is not None
        _copy(advance(self.batch, self.state, steps), self.state)

    def _captured(self, steps: int) -> torch.cuda.CUDAGraph:
        """Capture a graph; the state is restored after the warm-up steps."""
        before = _clone(self.state)
        room = rehearse(lambda: self._advance(1), WARM_UPS)
        _copy(before, self.state)
        graph, others = torch.cuda.CUDAGraph(), list(self.graphs.values())
        # Graphs keep nothing but the state, so they can share memory.
        with capturing(graph, 0 if others else room, pool=others[0].pool() if others else None):
            self._advance(steps)
        return graph


class Replays:
    """The replay for the last batch shape."""

    def __init__(self) -> None:
        self.last: Replay | None = None

    def ready(self, advance: Advance, batch: Batch, state: SearchState, steps: int) -> Replay:
        """The replay whose buffers fit the batch and the state; a new one for a new shape."""
        if self.last is None or not self.last.fits(batch, state):
            self.last = None  # its memory is free before the next takes some
            self.last = Replay(advance, batch, state, steps)
        return self.last


def _clone(source: Part) -> Part:
    """The same object with tensors of its own."""
    tensors: dict[str, Any] = {name: x.clone() for name, x in vars(source).items() if isinstance(x, Tensor)}
    return replace(source, **tensors)


def _copy(source: Batch | SearchState, target: Batch | SearchState) -> None:
    """The tensors of one into those of the other."""
    for field in fields(source):
        value = getattr(source, field.name)
        if isinstance(value, Tensor):
            getattr(target, field.name).copy_(value)


def _shapes(source: Batch | SearchState) -> tuple[object, ...]:
    """Shapes, dtypes and devices of the tensors, and the rest as it is."""
    values = (getattr(source, field.name) for field in fields(source))
    return tuple((x.shape, x.dtype, x.device) if isinstance(x, Tensor) else x for x in values)
