"""What a problem is, and the batch of instances it works on.

Shape letters: B rows, N tour length (dummy depots included), F features.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import torch
from torch import Generator, Tensor

from dact import symmetries
from dact.instances import Instance, InstanceSet
from dact.kernels.records import Instances
from dact.operators import Operator
from dact.problems.distributions import UNIFORM, InstanceConfig


@dataclass(frozen=True, kw_only=True)
class Batch(Instances):
    """Instances of one problem and one tour length, on one device, one row each."""

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.coordinates_BN2.shape[0]

    @property
    def length(self) -> int:
        """Positions in a tour."""
        return self.coordinates_BN2.shape[1]

    @property
    def customers(self) -> int:
        """Nodes that are not depots."""
        return self.length - self.depots

    @property
    def device(self) -> torch.device:
        """The device of the tensors."""
        return self.coordinates_BN2.device

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        moved: dict[str, Any] = {name: x.to(device) for name, x in vars(self).items() if isinstance(x, Tensor)}
        return replace(self, **moved)

    def take(self, row_R: Tensor) -> "Batch":
        """The named rows, in that order."""
        return replace(
            self,
            coordinates_BN2=self.coordinates_BN2[row_R],
            scale_B=self.scale_B[row_R],
            demand_BN=self.demand_BN[row_R],
            capacity_B=self.capacity_B[row_R],
            matrix_B=None if self.matrix_B is None else self.matrix_B[row_R],
        )

    def augmented(self, copies: int) -> "Batch":
        """Every row `copies` times in turn, under the first symmetries of the square."""
        row_R = torch.arange(self.rows, device=self.device).repeat_interleave(copies)
        turned = symmetries.augment(self.coordinates_BN2, copies)
        return replace(self.take(row_R), coordinates_BN2=turned)


class Problem(Protocol):
    """Everything the rest of the code needs to know about a routing problem. All tours are anchored."""

    @property
    def name(self) -> str:
        """Name, as in PROBLEMS, weights and files."""
        ...

    @property
    def features(self) -> int:
        """Number of features per node."""
        ...

    @property
    def view(self) -> str | None:
        """The one of `dact.kernels.tour_view.VIEWS` that computes its features and allowed 2-opt moves; None if there
        is none."""
        ...

    @property
    def idle(self) -> bool:
        """Are 2-opt moves that change no route (`dact.kernels.pick_move.idle_moves`) allowed?"""
        ...

    def collate(self, instances: Sequence[Instance], routes_needed: int = 0) -> Batch:
        """One row per instance; all must give the same tour length. Room for `routes_needed` routes."""
        ...

    def collate_set(self, instances: InstanceSet) -> Batch:
        """One row per instance of a set."""
        ...

    def tour_length(self, instance: Instance, routes_needed: int = 0) -> int:
        """Positions in a tour of this instance; instances that agree on it can share a batch."""
        ...

    def sample(self, size: int, count: int, generator: Generator, config: InstanceConfig = UNIFORM) -> Batch:
        """Random instances for training, drawn on the generator's device."""
        ...

    def random_start(self, batch: Batch, stream_B: Tensor) -> Tensor:
        """Random feasible tours, each by its row's own stream of random numbers."""
        ...

    def greedy_start(self, batch: Batch) -> Tensor:
        """Nearest-neighbour tours."""
        ...

    def given_start(self, batch: Batch, routes: Sequence[Sequence[Sequence[int]]]) -> Tensor:
        """Tours that follow the given routes (instance indices), a list of routes per row."""
        ...

    def node_features(self, batch: Batch, tour_BN: Tensor) -> Tensor:
        """(B, N, F), in tour order."""
        ...

    def allowed_moves(self, batch: Batch, tour_BN: Tensor, operator: Operator) -> Tensor | None:
        """(B, N, N) bool over position pairs: True where the move keeps the tour feasible; None if all do."""
        ...

    def with_idle_moves(self, idle: bool) -> "Problem":
        """The same problem with 2-opt moves that change no route allowed or not."""
        ...

    def with_depots(self, depots: int) -> "Problem":
        """The same problem with this number of depots in a tour, where there are depots and so many are enough; 0: the
        usual number. Policies are best with the number that they were trained with."""
        ...

    def routes(self, batch: Batch, tour_N: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """A tour as routes of instance indices, without the depot and without empty routes."""
        ...
