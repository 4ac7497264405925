"""What an engine is, and the settings every engine understands."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from torch import Tensor

from dact.operators import OPERATORS
from dact.problems import Batch
from dact.search.state import SearchState


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How moves are made."""

    operator: str = "two_opt"
    patience: int = 250
    """Steps without a better solution after which a row goes back to its incumbent (T_r)."""
    greedy: bool = False
    """Take the most probable move instead of drawing one."""
    steady: bool = False
    """Few rows are computed as many would be, to the last bit, and not in their own fastest way."""

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            raise ValueError(f"operator '{self.operator}' is not one of {', '.join(OPERATORS)}")
        if self.patience < 1:
            raise ValueError(f"patience {self.patience} is below 1")


class Step(NamedTuple):
    """What one step did."""

    state: SearchState
    move_B2: Tensor
    log_prob_B: Tensor
    """Of the moves, as the engine drew them."""


class Engine(Protocol):
    """Advances states of one batch."""

    @property
    def graph_steps(self) -> int:
        """Steps it makes at a stroke: a multiple of them is advanced fastest."""
        ...

    def prepare(self, batch: Batch, state: SearchState) -> None:
        """Do what takes time before the first step of a batch of this shape."""
        ...

    def advance(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        """The state after `steps` more steps."""
        ...

    def step(self, batch: Batch, state: SearchState) -> Step:
        """One step, told in full. Kernels are launched one by one, so a caller may capture them in its own graph."""
        ...

    def refresh(self) -> None:
        """Take over what the policy has learnt since the engine was made or last refreshed."""
        ...
