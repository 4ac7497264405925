"""The graphed engine: the plain engine's steps as CUDA graphs, in a chosen precision."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor

from dact.policy import Policy
from dact.problems import Batch, Problem
from dact.search.engines.base import SearchConfig, Step
from dact.search.engines.plain import PlainEngine
from dact.search.engines.precision import Precision, find_precision
from dact.search.engines.replay import Replay, Replays
from dact.search.searcher import StepByStep
from dact.search.state import SearchState, remembering


class _Look:
    """The policy in a precision; logits are float32 in any case."""

    def __init__(self, policy: Policy, precision: Precision) -> None:
        self.policy = policy
        self.dtype = precision.dtype if precision.half else None

    def __call__(self, features_BNF: Tensor) -> Tensor:
        """(B, N, N) logits."""
        # Cached casts of the weights would not outlive the capture of a graph.
        kind = features_BNF.device.type
        with torch.autocast(kind, dtype=self.dtype, enabled=self.dtype is not None, cache_enabled=False):
            logits_BNN: Tensor = self.policy(features_BNF)
            return logits_BNN.float()


@contextmanager
def _matrix_products(precision: str) -> Iterator[None]:
    """How float32 matrix products are rounded inside."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest" if precision == "float32" else "high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@dataclass
class GraphedEngine(StepByStep):
    """Gives the plain engine's answers for the same seed, up to the rounding of its precision."""

    problem: Problem
    policy: Policy
    config: SearchConfig
    precision: str = "float32"
    """`float32`, `tf32`, or the networks under autocast to `float16` or `bfloat16`."""
    graph_steps: int = 8
    """Steps per graph; remaining steps are made one by one."""
    name: str = field(default="graphed", init=False)
    _replays: Replays = field(default_factory=Replays, init=False, repr=False)

    def __post_init__(self) -> None:
        precision = find_precision(self.precision)
        if self.graph_steps < 1:
            raise ValueError(f"graph_steps {self.graph_steps} is below 1")
        self._plain = PlainEngine(self.problem, _Look(self.policy, precision), self.config)

    def row_bytes(self, length: int) -> int:
        """That of the plain steps."""
        return self._plain.row_bytes(length)

    @torch.inference_mode()
    def prepare(self, batch: Batch, state: SearchState) -> None:
        """Compile kernels and capture graphs for a batch of this shape."""
        with _matrix_products(self.precision):
            self._replay(batch, remembering(state, self.config.tabu, batch.depots)).prepare()

    @torch.inference_mode()
    def advance(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        """The state after `steps` more steps."""
        with _matrix_products(self.precision):
            state = remembering(state, self.config.tabu, batch.depots)
            return self._replay(batch, state).run(batch, state, steps)

    def step(self, batch: Batch, state: SearchState) -> Step:
        """One step, with its moves and their log-probabilities."""
        with _matrix_products(self.precision):
            return self._plain.step(batch, state)

    def refresh(self) -> None:
        """Nothing to do: graphs read the policy's own weights."""

    def _replay(self, batch: Batch, state: SearchState) -> Replay:
        return self._replays.ready(self._plain.advance, batch, state, self.graph_steps)
