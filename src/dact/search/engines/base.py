"""What an engine is, and the settings every engine understands."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

from torch import Tensor

from dact.operators import OPERATORS, Operator
from dact.problems import Batch
from dact.search.searcher import AUTO, Searcher
from dact.search.state import SearchState

MOST_TABU = 1024
"""Recent tours of a row; each is compared at every step."""


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How moves are made."""

    operator: str = "two_opt"
    """AUTO stands for the operator that the weights were trained with, until the pipeline knows them."""
    patience: int = 250
    """Steps without a better solution after which a row goes back to its incumbent (T_r)."""
    tabu: int = 0
    """A move that leads back to one of the last so many tours is drawn again, up to seven times. The current tour is
    one of them, so that it takes 2 to keep a step from being undone. 0: as in the paper, where only the last pair is
    closed."""
    greedy: bool = False
    """Take the most probable move instead of drawing one."""
    steady: bool = False
    """Use the large-batch kernels at any number of rows, so that results are bit-identical."""

    def __post_init__(self) -> None:
        if self.operator not in (AUTO, *OPERATORS):
            raise ValueError(f"operator '{self.operator}' is not one of {', '.join((AUTO, *OPERATORS))}")
        if not 1 <= self.patience < 2**31:
            raise ValueError(f"patience {self.patience} is {'below 1' if self.patience < 1 else 'not below 2^31'}")
        if not 0 <= self.tabu <= MOST_TABU:
            raise ValueError(f"tabu {self.tabu} is not between 0 and {MOST_TABU}")
        if self.tabu and self.greedy:
            raise ValueError(f"tabu {self.tabu} goes with moves that are drawn, not with greedy ones")

    @property
    def apply(self) -> Operator:
        """The operator itself."""
        return OPERATORS[self.operator]


class Step(NamedTuple):
    """What one step did."""

    state: SearchState
    move_B2: Tensor
    log_prob_B: Tensor
    """Of the moves, as the engine drew them."""


class Engine(Searcher, Protocol):
    """Searches with a policy. Training asks for more than the loop does."""

    def step(self, batch: Batch, state: SearchState) -> Step:
        """One step, with its moves and their log-probabilities: with `tabu` those of the draws that were made, whatever
        was drawn before them.

        Kernels are launched one by one, so a caller may capture them in its own graph.
        """
        ...

    def refresh(self) -> None:
        """Load the policy's current weights: it may have been trained since the engine was made."""
        ...
