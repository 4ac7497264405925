"""The hybrid search: rounds of a kick, a descent to a local optimum, and a rule for what is accepted.

Shape letters: I instances, R rows (instances times walks), N tour length.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from dact.kernels import descent
from dact.problems import Batch
from dact.problems.capacity import feasible
from dact.search.exact import best_of_all
from dact.search.hybrid_settings import HybridConfig, Settled, settled
from dact.search.searcher import StepByStep
from dact.search.state import SearchState
from dact.search.stop import Stop
from dact.threads import workers

PAIR_SECONDS = 1e-6
"""Approximate CPU time of trying all moves of one pair of nodes, until no pair is left that gains."""
CURRENT, BEST = 1, 2


@dataclass(frozen=True, kw_only=True)
class HybridState(SearchState):
    """A search state with the rows of the local search."""

    terrain: descent.Terrain
    rows: descent.Rows
    settings: Settled
    target: int = 0
    """Rounds that every row has made."""


@dataclass
class HybridSearcher(StepByStep):
    """Makes rounds; `walks` consecutive rows of a batch belong to one instance."""

    config: HybridConfig
    walks: int
    graph_steps: int = 16
    """Rounds between two looks of the host: a launch has some cost of its own."""
    name: str = "hybrid"

    def __post_init__(self) -> None:
        self._stop: Stop | None = None
        self._looks = 0
        """Of the next launch, per row; 0: the first one."""

    def limit(self, stop: Stop) -> None:
        """Set the limits of the search: the temperature falls until then."""
        self._stop = stop

    def copies(self, batch: Batch, count: int) -> Batch:
        """Identical copies: the local search is not affected by symmetries."""
        return batch.take(torch.arange(batch.rows, device=batch.device).repeat_interleave(count))

    def row_bytes(self, length: int) -> int:
        """About how much device memory a row takes."""
        return 64 * length

    def prepare(self, batch: Batch, state: SearchState) -> None:
        """Compile the kernels, or load them from the cache."""
        # Kernels are compiled for matrices by whether any of them depends on the direction.
        few = 1 if batch.distance_INN is None else batch.rows
        first_I = torch.arange(0, few, self.walks, device=batch.device)
        settings = settled(self.config, batch.length, batch.depots, self.walks)
        descent.compile_form(
            terrain_of(batch.take(first_I), state.tour_BN[first_I], 0),
            exchanges=settings.margin > 0,
            overload=settings.overload > 0,
        )

    @torch.inference_mode()
    def advance(self, batch: Batch, state: SearchState, steps: int) -> SearchState:
        """The state after `steps` more rounds of every row, or fewer where the time limit ends them."""
        begun = state if isinstance(state, HybridState) else self.begin(batch, state)
        first, target, end = begun.target, begun.target, begun.target + steps
        while target < end and (target == first or not self._late()):
            # Takeovers are at fixed rounds, so that the answer does not depend on when the host reads results.
            every = begun.settings.takeover if self.walks > 1 else end
            target = min(end, (target // every + 1) * every)
            self._run(begun, target)
            if target % every == 0:
                _take_over(begun.rows, self.walks)
        made = _rounds_made(begun.rows) if self._late() else end
        return _told(batch, replace(begun, target=min(made, end)))

    def steps_made(self, state: SearchState, asked: int) -> int:
        """Rounds that all rows have finished."""
        return state.target if isinstance(state, HybridState) else asked

    def exact(self, batch: Batch) -> Tensor | None:
        """Optimal tours of instances with a few nodes."""
        return best_of_all(batch)

    def finish_seconds(self, batch: Batch) -> float:
        """A pass over all pairs of nodes, and some more where it finds a move; a GPU takes less."""
        return 1.2 * PAIR_SECONDS * batch.rows * batch.length**2 / (1 if batch.rows == 1 else workers())

    def finish(self, batch: Batch, tour_BN: Tensor, over: Callable[[], bool]) -> tuple[Tensor, bool]:
        """Descend to local optima over all pairs of nodes, or as far as there is time."""
        source_B = torch.arange(batch.rows, device=batch.device)
        terrain = terrain_of(batch, tour_BN, 0)
        rows = descent.start_rows(terrain, tour_BN, source_B, torch.zeros_like(source_B))
        rows.cost_R3[:, 1:] = rows.cost_R3[:, :1]
        everything = descent.codes(tuple(descent.NEIGHBOURHOODS), routes=batch.depots > 0)
        optimal = descent.descend_fully(terrain, rows, everything, over, workers())
        return _anchored(rows.best_RN), optimal

    def network_seconds(self) -> float | None:
        """Nothing: kicks are random."""
        return 0.0

    def begin(self, batch: Batch, state: SearchState) -> HybridState:
        """Rows that begin with a descent from the state's tours."""
        device, instances = batch.device, batch.rows // self.walks
        first_I = self.walks * torch.arange(instances, device=device)
        settings = settled(self.config, batch.length, batch.depots, self.walks)
        terrain = terrain_of(batch.take(first_I), state.tour_BN[first_I], settings.neighbours)
        source_R = torch.arange(batch.rows, device=device) // self.walks
        rows = descent.start_rows(terrain, state.tour_BN, source_R, state.stream_B)
        self._looks = 0
        return HybridState(**vars(state), terrain=terrain, rows=rows, settings=settings)

    def descend(self, state: HybridState) -> None:
        """Take all rows of a state that has just begun to local optima, without a kick."""
        self._run(state, 0)

    def _run(self, state: HybridState, target: int) -> None:
        """Launch until every row has made its rounds, or the time is up."""
        kinds = descent.codes(state.settings.neighbourhoods, routes=state.terrain.depots > 0)
        codes_V = torch.tensor(kinds, dtype=torch.int32, device=state.rows.work_RN.device)
        looks = self._looks or descent.looks_at_once(state.rows, workers())
        while True:
            began, (temperature, cooling) = time.perf_counter(), self._temperature(state.settings)
            descent.launch(
                descent.Launch(
                    terrain=state.terrain,
                    rows=state.rows,
                    codes_V=codes_V,
                    cuts=descent.cuts(kinds),
                    settings=state.settings.kick,
                    rounds=target,
                    looks=looks,
                    temperature=temperature,
                    cooling=cooling,
                    margin=state.settings.margin,
                    overload=state.settings.overload,
                    threads=workers(),
                )
            )
            seconds, done_R = time.perf_counter() - began, state.rows.done(target)
            if bool(done_R.all()) or self._late():
                return
            looks = self._looks = descent.looks_next(done_R, looks, seconds)

    def _temperature(self, settings: Settled) -> tuple[float, float]:
        """Temperature and cooling: by rounds if their number is limited, so that the answer does not depend on the
        clock."""
        if self._stop is None or settings.temperature == 0:
            return 0.0, 0.0
        fall = math.log(settings.cooling)
        if self._stop.steps is not None and self._stop.seconds is None:
            return settings.temperature, fall / max(1, self._stop.steps)
        return settings.temperature * math.exp(fall * self._stop.fraction(0)), 0.0

    def _late(self) -> bool:
        return self._stop is not None and self._stop.late()


def terrain_of(batch: Batch, tour_BN: Tensor, neighbours: int) -> descent.Terrain:
    """The batch as a Terrain with this many neighbours per node; 0: all nodes."""
    units_B = batch.scale_B if batch.distance_INN is None else torch.ones_like(batch.scale_B)
    return descent.make_terrain(
        batch.coordinates_BN2,
        batch.demand_BN,
        batch.capacity_B,
        batch.depots,
        neighbours=neighbours,
        start_cost_I=batch.cost(tour_BN) / units_B,
        distance_MNN=batch.distance_INN,
        matrix_I=batch.matrix_B,
    )


def _take_over(rows: descent.Rows, walks: int) -> None:
    """Of each instance, the worse half of the walks continues from the tours of the better half."""
    if walks < 2:
        return
    order_IW = rows.cost_R3[:, CURRENT].view(-1, walks).argsort(dim=1, stable=True)
    first_I1 = walks * torch.arange(len(order_IW), device=order_IW.device).unsqueeze(1)
    half = walks // 2
    good = (first_I1 + order_IW[:, :half]).flatten()
    bad = (first_I1 + order_IW[:, walks - half :].flip(1)).flatten()
    for tensor in (rows.work_RN, rows.current_RN):
        # PyTorch cannot index uint16 everywhere; the bits are the same as int16.
        view = tensor.view(torch.int16)
        view[bad] = view[good]
    rows.cost_R3[bad, :BEST] = rows.cost_R3[good, :BEST]
    rows.price_R3[bad] = rows.price_R3[good]


def _rounds_made(rows: descent.Rows) -> int:
    """By every row; a round whose descent has not ended does not count."""
    return int((rows.count_R6[:, 0] - rows.unjudged().int()).amin().clamp(min=0))


def _told(batch: Batch, state: HybridState) -> HybridState:
    """The state for the search loop: costs in the instances' units, tours anchored at node 0."""
    best_RN, current_RN = _anchored(state.rows.best_RN), _anchored(state.rows.current_RN)
    # A descent interrupted by the time limit has a complete tour, perhaps the best.
    ahead_R = state.rows.unjudged() & (state.rows.cost_R3[:, 0] < state.rows.cost_R3[:, BEST])
    work_RN = _anchored(state.rows.work_RN)
    if state.settings.overload:
        ahead_R &= feasible(batch, work_RN)
        current_RN = torch.where(feasible(batch, current_RN).unsqueeze(1), current_RN, best_RN)
    best_RN = torch.where(ahead_R.unsqueeze(1), work_RN, best_RN)
    best_R, current_R = batch.cost(best_RN), batch.cost(current_RN)
    better_R = best_R < state.incumbent_cost_B
    return replace(
        state,
        tour_BN=current_RN,
        cost_B=current_R,
        incumbent_BN=torch.where(better_R.unsqueeze(1), best_RN, state.incumbent_BN),
        incumbent_cost_B=torch.where(better_R, best_R, state.incumbent_cost_B),
    )


def _anchored(tour_RN: Tensor) -> Tensor:
    """As int64, rotated so that node 0 comes first."""
    tour_RN = tour_RN.view(torch.int16).long().bitwise_and(0xFFFF)
    start_R1 = (tour_RN == 0).to(torch.int8).argmax(1, keepdim=True)
    place_N = torch.arange(tour_RN.shape[1], device=tour_RN.device)
    return tour_RN.gather(1, (place_N + start_R1) % tour_RN.shape[1])
