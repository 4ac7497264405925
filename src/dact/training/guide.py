"""Training on solved instances: a reward for neighbours that are as in a good solution.

The reward for a better incumbent is rare late in a search, and says nothing of the moves before it. Here instances are
solved by the hybrid search before training begins. Beside the paper's reward, a move is paid for every neighbour that
it gives a customer as in that solution, and pays for every one that it takes away. The policy never sees the solutions.

Shape letters: P solved instances, B rows, Z states, N tour length.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Generator, Tensor

from dact.kernels.row_draws import new_streams
from dact.problems import Batch, InstanceConfig
from dact.search import Stop, search_batch
from dact.search.hybrid import HybridSearcher
from dact.search.hybrid_settings import HybridConfig
from dact.symmetries import MOST, SYMMETRIES
from dact.training.instances import InstanceSource

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class GuideConfig:
    """Settings of the reward for neighbours as in a solution. The paper has none."""

    weight: float = 0.0
    """Reward for a leg of the solution, in mean legs of it; 0: no instances are solved."""
    instances: int = 20_000
    """Instances of each size and band of routes that are solved before training. Batches draw from them, under random
    symmetries."""
    rounds: int = 500
    """Rounds of the hybrid search for each."""

    def __post_init__(self) -> None:
        if not 0 <= self.weight < 1000:
            raise ValueError(f"guide.weight {self.weight} is not between 0 and 1000")
        for name in ("instances", "rounds"):
            if not 1 <= getattr(self, name) <= 10**7:
                raise ValueError(f"guide.{name} {getattr(self, name)} is not between 1 and 10,000,000")


@dataclass(frozen=True, kw_only=True)
class SolvedBatch(Batch):
    """Instances with the neighbours that nodes have in a good solution."""

    near_BN2: Tensor
    """Labels of the nodes before and after each node: see `labels`."""
    worth_B: Tensor
    """Reward for a leg of the solution, in the units of costs."""

    def take(self, row_R: Tensor) -> "SolvedBatch":
        """The named rows, in that order."""
        taken = super().take(row_R)
        assert isinstance(taken, SolvedBatch)
        return replace(taken, near_BN2=self.near_BN2[row_R], worth_B=self.worth_B[row_R])

    def rewards(self, tour_ZBN: Tensor) -> Tensor:
        """(Z - 1, B): what each step is paid."""
        legs_ZB = torch.stack([legs_alike(tour_BN, self.near_BN2, self.depots) for tour_BN in tour_ZBN])
        return self.worth_B * (legs_ZB[1:] - legs_ZB[:-1])

    def drawn(self, generator: Generator, rows: int) -> "SolvedBatch":
        """Random rows, each under a random symmetry of the square."""
        row_B, turn_B = (
            torch.randint(most, (rows,), generator=generator, device=self.device) for most in (self.rows, MOST)
        )
        batch, matrix_B22 = self.take(row_B), SYMMETRIES.to(self.device)[turn_B]
        turned_BN2 = torch.einsum("bxy,bny->bnx", matrix_B22, batch.coordinates_BN2 - 0.5) + 0.5
        return replace(batch, coordinates_BN2=turned_BN2)


@dataclass(frozen=True, kw_only=True)
class GuidedSource(InstanceSource):
    """Draws from solved instances."""

    solved: Mapping[tuple[int, InstanceConfig], SolvedBatch]
    """By size and kind."""

    def sample(self, generator: Generator, rows: int | None = None) -> Batch:
        """Random rows on the generator's device."""
        return self.solved[self.size, self.config].drawn(generator, rows or self.rows)


def guided(source: InstanceSource, config: GuideConfig, generator: Generator) -> InstanceSource:
    """A source of instances that are solved here, on the generator's device; the same one if nothing is paid."""
    if config.weight == 0:
        return source
    log.info("solving %s instances for the guide, %s rounds each", f"{config.instances:,}", f"{config.rounds:,}")
    solved = {(each.size, each.config): _solved(each, config, generator) for each in source.each()}
    return GuidedSource(**vars(source), solved=solved)


def labels(tour_BN: Tensor, depots: int) -> Tensor:
    """Nodes numbered from 1; all depots are 0."""
    return (tour_BN - depots + 1).clamp(min=0)


def neighbours(tour_BN: Tensor, depots: int) -> Tensor:
    """(B, N, 2): the labels before and after each node."""
    return torch.zeros_like(tour_BN.unsqueeze(2).expand(-1, -1, 2)).scatter(
        1, tour_BN.unsqueeze(2).expand(-1, -1, 2), _beside(labels(tour_BN, depots))
    )


def legs_alike(tour_BN: Tensor, near_BN2: Tensor, depots: int) -> Tensor:
    """(B,) half the number of neighbours of customers that are as in the solution, in either direction: a leg between
    customers counts 1, one to a depot a half."""
    label_BN = labels(tour_BN, depots)
    beside_BN2 = _beside(label_BN)
    wanted_BN2 = near_BN2.gather(1, tour_BN.unsqueeze(2).expand(-1, -1, 2))
    ways = [(beside_BN2 == each_BN2).sum(2) for each_BN2 in (wanted_BN2, wanted_BN2.flip(2))]
    return 0.5 * (torch.maximum(*ways) * (label_BN > 0)).sum(1).float()


def _beside(label_BN: Tensor) -> Tensor:
    return torch.stack((label_BN.roll(1, dims=1), label_BN.roll(-1, dims=1)), 2)


def _solved(source: InstanceSource, config: GuideConfig, generator: Generator) -> SolvedBatch:
    batch = source.sample(generator, config.instances)
    start_BN = source.problem.greedy_start(batch)
    stream_B = new_streams(batch.rows, generator)
    searcher, stop = HybridSearcher(config=HybridConfig(), walks=1), Stop(steps=config.rounds)
    state = search_batch(searcher, batch, start_BN, stream_B, augment=1, stop=stop).state
    return SolvedBatch(
        **vars(batch),
        near_BN2=neighbours(state.incumbent_BN, batch.depots),
        worth_B=config.weight * state.incumbent_cost_B / batch.customers,
    )
