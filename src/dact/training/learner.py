"""Everything that lives on the device: networks, optimiser, instances, and the two things done with them.

`segment` is n rollout steps and the update on them, `warm_up` makes steps of which nothing is learnt. On a GPU a
segment is one CUDA graph; on a CPU the same function is called. All rows of a batch have one size; where there are
several sizes to train on, each has a lane with buffers and a graph of its own, and they share networks and optimiser.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from dact.kernels.row_draws import new_streams
from dact.problems import Batch
from dact.search import NEVER, Engine, SearchState, captured, start_state
from dact.team import ALONE, Team
from dact.training.buffers import Buffers, make_buffers, snapshot, write
from dact.training.curriculum import CurriculumConfig
from dact.training.instances import InstanceSource
from dact.training.networks import Networks
from dact.training.optimiser import Optimiser
from dact.training.pool import Pool, make_pool
from dact.training.ppo import METRICS, PpoConfig, update
from dact.training.rollout import Task, rollout

LOSS_SCALE = 2.0**14
"""In half precision. A row's share of a mean over thousands of rows would be lost without it."""
LOOK_EVERY = 4
"""Steps of a warm-up on a CPU between two questions whether to stop."""
PAPERS = CurriculumConfig()


@dataclass
class Lane:
    """What belongs to instances of one size."""

    source: InstanceSource
    buffers: Buffers
    engine: Engine
    pool: Pool | None = None
    """Where rows are of all ages."""
    segment: Callable[[], None] = lambda: None


class Learner:
    """Trains networks on batches of instances. Nothing here reads a number back, but for `read_metrics`."""

    def __init__(
        self,
        networks: Networks,
        task: Task,
        source: InstanceSource,
        config: PpoConfig,
        *,
        seed: int,
        graph: bool,
        curriculum: CurriculumConfig = PAPERS,
        team: Team = ALONE,
    ) -> None:
        self.networks, self.task, self.config = networks, task, config
        self.seed, self.curriculum, self.team = seed, curriculum, team
        average = team.all_reduce_mean if team.connected else None
        self.optimiser = Optimiser(
            networks.policy,
            networks.critic,
            average,
            scale=LOSS_SCALE if networks.narrow else 1.0,
            smoothing=config.smoothing,
        )
        device = next(networks.policy.parameters()).device
        # Of new instances and their streams, by which they then walk.
        self.generator = stream(seed, team.rank, device)
        # The last entry counts segments.
        self.metrics_M = torch.zeros(len(METRICS) + 1, device=device)
        self.lanes = [self._make_lane(each) for each in source.each()]
        self.lane = self.lanes[0]
        if graph:
            self._capture(shared=team.connected)

    @property
    def buffers(self) -> Buffers:
        """Of the current lane."""
        return self.lane.buffers

    @property
    def engine(self) -> Engine:
        """Of the current lane."""
        return self.lane.engine

    def choose(self, batch: int) -> None:
        """Go to the lane of a batch by its number: each lane once in turn, in an order that the seed decides."""
        turn, place = divmod(batch, len(self.lanes))
        order = torch.randperm(len(self.lanes), generator=stream(self.seed, turn, torch.device("cpu")))
        self.lane = self.lanes[int(order[place])]

    def segment(self) -> None:
        """Some steps and the update on them."""
        self.lane.segment()

    def new_batch(self) -> None:
        """Fresh instances with their starts."""
        self._renew(self.lane)

    def refill(self, steps: int = 0, stop: Callable[[], bool] = lambda: False) -> bool:
        """Other fresh instances for the rows whose time comes, after some steps; on a CPU, False if asked to stop."""
        assert self.lane.pool is not None
        fresh = self.lane.pool.fresh
        fresh.load(*self._begun(self.lane.source, self.generator))
        return self._walk(fresh, steps, stop)

    def warm_up(self, steps: int, stop: Callable[[], bool] = lambda: False) -> bool:
        """Walk on with the policy as it is now; on a CPU, False if asked to stop on the way."""
        return self._walk(self.buffers, steps, stop)

    def back_to_best(self) -> None:
        """Go on from the best solutions found so far."""
        state = self.buffers.state
        self.buffers.move_to(start_state(state.incumbent_BN, state.incumbent_cost_B, state.stream_B))

    def from_here(self) -> None:
        """Go on from the current solutions, which count as the best so far."""
        state = self.buffers.state
        self.buffers.move_to(start_state(state.tour_BN, state.cost_B, state.stream_B))

    def read_metrics(self) -> dict[str, float]:
        """Means over the segments since the last reading, and over the team. Waits for the device."""
        self.team.all_reduce_mean([self.metrics_M])
        sums = self.metrics_M.tolist()
        self.metrics_M.zero_()
        return dict(zip(METRICS, (value / max(sums[-1], 1) for value in sums[:-1]), strict=True))

    def learnt(self) -> dict[str, Tensor]:
        """What training changes: weights and the optimiser's memory."""
        parts = {
            "actor": self.networks.policy.state_dict(),
            "critic": self.networks.critic.state_dict(),
            "optimiser": self.optimiser.tensors(),
        }
        return {f"{part}.{name}": x.detach() for part, named in parts.items() for name, x in named.items()}

    def reseed(self, seed: int) -> None:
        """New random numbers and new instances, where those of a run could not be kept."""
        self.generator.set_state(stream(seed, self.team.rank, self.generator.device).get_state())
        for lane in self.lanes if self.curriculum.ages else [self.lane]:
            self._renew(lane)

    def own(self) -> dict[str, Tensor]:
        """What differs from process to process: instances, tours and sums."""
        everything = {"metrics_M": self.metrics_M}
        for lane in self.lanes:
            mark = f"{lane.source.size}." if len(self.lanes) > 1 else ""
            parts = lane.buffers.tensors() | (lane.pool.tensors() if lane.pool is not None else {})
            everything |= {mark + name: x for name, x in parts.items()}
        return everything

    def tensors(self) -> dict[str, Tensor]:
        """Everything that changes on the device, but for the generator."""
        return self.learnt() | self.own()

    def _walk(self, buffers: Buffers, steps: int, stop: Callable[[], bool]) -> bool:
        """Some steps of which nothing is learnt; False if asked to stop on the way."""
        self.engine.refresh()
        batch, state = buffers.batch, buffers.state
        # A GPU makes all of them before one could look up.
        stride = steps if self.metrics_M.is_cuda else LOOK_EVERY
        for done in range(0, steps, max(stride, 1)):
            if stop():
                return False
            state = self.engine.advance(batch, state, min(stride, steps - done))
        buffers.move_to(state)
        return True

    def _segment(self, lane: Lane) -> None:
        batch, state = lane.buffers.batch, lane.buffers.state
        steps, share = self.config.segment, self.config.share
        state, segment = rollout(lane.engine, self.task, batch, state, steps, share)
        lane.buffers.move_to(state)
        self.metrics_M[:-1] += update(self.networks, segment, self.optimiser, self.config)
        self.metrics_M[-1:] += 1
        if lane.pool is not None:
            lane.pool.pass_time(lane.buffers, steps)

    def _make_lane(self, source: InstanceSource) -> Lane:
        # Of the right shapes; the first horizon brings others.
        buffers = make_buffers(*self._begun(source, stream(0, 0, self.generator.device)))
        # Made before any capture, which may not see the table being filled.
        self.networks.policy.places(buffers.batch.length, self.metrics_M.device)
        engine = self.networks.engine(self.task.problem, self.task.search(self.curriculum.restart or NEVER))
        ages = self.curriculum.ages
        pool = make_pool(buffers, ages, self.config.segment) if ages else None
        lane = Lane(source=source, buffers=buffers, engine=engine, pool=pool)
        lane.segment = lambda: self._segment(lane)
        return lane

    def _renew(self, lane: Lane) -> None:
        """All rows of a lane are new."""
        lane.buffers.load(*self._begun(lane.source, self.generator))
        if lane.pool is not None:
            lane.pool.fresh.load(*self._begun(lane.source, self.generator))
            lane.pool.spread(self.config.segment)

    def _begun(self, source: InstanceSource, generator: Generator) -> tuple[Batch, SearchState]:
        """New instances at their starts."""
        batch, problem = source.sample(generator), self.task.problem
        stream_B = new_streams(batch.rows, generator)
        greedy = self.curriculum.tours == "greedy"
        tour_BN = problem.greedy_start(batch) if greedy else problem.random_start(batch, stream_B)
        return batch, start_state(tour_BN, batch.cost(tour_BN), stream_B)

    def _capture(self, shared: bool) -> None:
        before = snapshot(self.tensors())
        for lane in self.lanes:
            lane.segment = captured(lane.segment, shared=shared)
        write(self.tensors(), before)


def stream(seed: int, place: int, device: torch.device) -> Generator:
    """A generator of its own for each (seed, place)."""
    return torch.Generator(device=device).manual_seed(1000003 * seed + 7919 * place + 17)
