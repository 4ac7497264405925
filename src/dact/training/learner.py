"""Training state on the device: networks, optimiser and instances, with the two operations on them.

`segment` makes n rollout steps and an update; `warm_up` makes steps without an update. On a GPU a
segment is one CUDA graph; on a CPU the same function is called. All rows of a batch have one size, and routes
of one band. Each size and band that is trained on has a lane with its own buffers and graph; lanes share the networks
and the optimiser.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from dact.kernels.row_draws import new_streams
from dact.problems import Batch
from dact.search import NEVER, Engine, SearchState, captured, remembering, start_state
from dact.team import ALONE, Team
from dact.training.buffers import Buffers, make_buffers, snapshot, write
from dact.training.curriculum import CurriculumConfig
from dact.training.entropy import EntropyBonus
from dact.training.groups import copied, group_rollout
from dact.training.instances import InstanceSource
from dact.training.networks import Networks
from dact.training.optimiser import Optimiser
from dact.training.pool import Pool, make_pool
from dact.training.ppo import BONUS, METRICS, PpoConfig, update
from dact.training.rollout import Segment, Task, rollout

LOSS_SCALE = 2.0**14
"""Loss scale in half precision: a row's share of a mean over thousands of rows would underflow."""
LOOK_EVERY = 4
"""Warm-up steps on a CPU between two checks whether to stop."""
PAPERS = CurriculumConfig()


@dataclass
class Lane:
    """Buffers and graph for instances of one size and one band of routes."""

    source: InstanceSource
    buffers: Buffers
    engine: Engine
    pool: Pool | None = None
    """Replacement instances, if rows of all ages are trained."""
    segment: Callable[[], None] = lambda: None


class Learner:
    """Trains networks on batches of instances. Only `read_metrics` waits for the device."""

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
        self.bonus = EntropyBonus(config.entropy_share, device, average) if config.entropy_share > 0 else None
        # Draws new instances and the seeds of their streams.
        self.generator = stream(seed, team.rank, device)
        # The last entry counts segments.
        self.metrics_M = torch.zeros(len(METRICS) + 1, device=device)
        self.lanes = [self._make_lane(each) for each in source.each()]
        self.lane = self.lanes[0]
        if graph:
            self._capture(shared=team.connected)

    @property
    def copies(self) -> int:
        """Number of copies of each instance, as consecutive rows."""
        return self.config.group or 1

    @property
    def buffers(self) -> Buffers:
        """Those of the current lane."""
        return self.lane.buffers

    @property
    def engine(self) -> Engine:
        """Those of the current lane."""
        return self.lane.engine

    def choose(self, batch: int) -> None:
        """Select the lane of a batch by its number: every lane in turn, in an order that depends on the seed."""
        turn, place = divmod(batch, len(self.lanes))
        order = torch.randperm(len(self.lanes), generator=stream(self.seed, turn, torch.device("cpu")))
        self.lane = self.lanes[int(order[place])]

    @property
    def stride(self) -> int:
        """Warm-up steps between two checks whether to stop. A GPU finishes all before a check could stop it."""
        return NEVER if self.metrics_M.is_cuda else LOOK_EVERY

    def segment(self) -> None:
        """n rollout steps and the update on them."""
        self.lane.segment()

    def new_batch(self) -> None:
        """Draw new instances with their starts."""
        self._renew(self.lane)

    def refill(self) -> None:
        """Draw the instances that replace old rows."""
        self._fresh().load(*self.begun(self.lane.source, self.generator))

    def warm_up(self, steps: int) -> None:
        """Make steps with the current policy."""
        self._walk(self.buffers, steps)

    def warm_up_fresh(self, steps: int) -> None:
        """Make steps on the instances that replace old rows."""
        self._walk(self._fresh(), steps)

    def back_to_best(self) -> None:
        """Make the best solutions so far the current ones."""
        state = self.buffers.state
        start = self._start(self.buffers.batch, state.incumbent_BN, state.incumbent_cost_B, state.stream_B)
        self.buffers.move_to(start)

    def from_here(self) -> None:
        """Forget the best solutions: the current ones count as the best so far."""
        state = self.buffers.state
        self.buffers.move_to(self._start(self.buffers.batch, state.tour_BN, state.cost_B, state.stream_B))

    def read_metrics(self) -> dict[str, float]:
        """Means over the segments since the last call and over the team, and the bonus for entropy as it is now. Waits
        for the device."""
        self.team.all_reduce_mean([self.metrics_M])
        sums = self.metrics_M.tolist()
        self.metrics_M.zero_()
        means = dict(zip(METRICS, (value / max(sums[-1], 1) for value in sums[:-1]), strict=True))
        return means | {BONUS: self.config.entropy_bonus if self.bonus is None else self.bonus.value.item()}

    def learnt(self) -> dict[str, Tensor]:
        """Tensors that training changes: weights, optimiser state, and what the bonus for entropy follows."""
        parts = {
            "actor": self.networks.policy.state_dict(),
            "critic": self.networks.critic.state_dict(),
            "optimiser": self.optimiser.tensors(),
            "bonus": {} if self.bonus is None else self.bonus.tensors(),
        }
        return {f"{part}.{name}": x.detach() for part, named in parts.items() for name, x in named.items()}

    def reseed(self, seed: int) -> None:
        """Restart the random numbers and draw new instances, for runs that cannot keep theirs."""
        self.generator.set_state(stream(seed, self.team.rank, self.generator.device).get_state())
        for lane in self.lanes if self.curriculum.ages else [self.lane]:
            self._renew(lane)

    def own(self) -> dict[str, Tensor]:
        """Tensors that differ between processes: instances, tours and sums."""
        everything = {"metrics_M": self.metrics_M}
        sizes = Counter(lane.source.size for lane in self.lanes)
        for place, lane in enumerate(self.lanes):
            mark = f"{lane.source.size}." if len(self.lanes) > 1 else ""
            mark += f"{place}." if sizes[lane.source.size] > 1 else ""
            parts = lane.buffers.tensors() | (lane.pool.tensors() if lane.pool is not None else {})
            everything |= {mark + name: x for name, x in parts.items()}
        return everything

    def tensors(self) -> dict[str, Tensor]:
        """All tensors that change, except the generator's state."""
        return self.learnt() | self.own()

    def _walk(self, buffers: Buffers, steps: int) -> None:
        """Make steps without an update."""
        self.engine.refresh()
        buffers.move_to(self.engine.advance(buffers.batch, buffers.state, steps))

    def _fresh(self) -> Buffers:
        assert self.lane.pool is not None
        return self.lane.pool.fresh

    def _segment(self, lane: Lane) -> None:
        state, segment = self.rollout(lane.engine, lane.buffers.batch, lane.buffers.state)
        lane.buffers.move_to(state)
        self.metrics_M[:-1] += update(self.networks, segment, self.optimiser, self.config, self.bonus)
        self.metrics_M[-1:] += 1
        if lane.pool is not None:
            lane.pool.pass_time(lane.buffers, self.config.segment)

    def rollout(self, engine: Engine, batch: Batch, state: SearchState) -> tuple[SearchState, Segment]:
        """The steps of a segment: the state after them, and their record for the update."""
        if self.config.group:
            return group_rollout(engine, self.task, batch, state, self.config)
        return rollout(engine, self.task, batch, state, self.config.segment, self.config.share)

    def _make_lane(self, source: InstanceSource) -> Lane:
        # Only for their shapes; the first horizon draws others.
        buffers = make_buffers(*self.begun(source, stream(0, 0, self.generator.device)))
        # The table must be filled before any capture.
        self.networks.policy.places(buffers.batch.length, self.metrics_M.device)
        engine = self.networks.engine(self.task.problem, self.task.search(self.curriculum.restart or NEVER))
        ages = self.curriculum.ages
        pool = make_pool(buffers, ages, self.config.segment, self.copies) if ages else None
        lane = Lane(source=source, buffers=buffers, engine=engine, pool=pool)
        lane.segment = lambda: self._segment(lane)
        return lane

    def _renew(self, lane: Lane) -> None:
        """Replace all rows of a lane."""
        lane.buffers.load(*self.begun(lane.source, self.generator))
        if lane.pool is not None:
            lane.pool.fresh.load(*self.begun(lane.source, self.generator))
            lane.pool.spread(self.config.segment)

    def begun(self, source: InstanceSource, generator: Generator) -> tuple[Batch, SearchState]:
        """New instances at their starts; the copies of an instance begin alike."""
        batch, problem = source.sample(generator, source.rows // self.copies), self.task.problem
        stream_B = new_streams(source.rows, generator)
        greedy = self.curriculum.tours == "greedy"
        first_B = stream_B[:: self.copies]
        tour_BN = problem.greedy_start(batch) if greedy else problem.random_start(batch, first_B)
        if self.copies > 1:
            batch, tour_BN = copied(batch, self.copies), tour_BN.repeat_interleave(self.copies, 0)
        return batch, self._start(batch, tour_BN, batch.cost(tour_BN), stream_B)

    def _start(self, batch: Batch, tour_BN: Tensor, cost_B: Tensor, stream_B: Tensor) -> SearchState:
        """The state of a search that begins with these tours and keeps as many recent ones as the task says."""
        return remembering(start_state(tour_BN, cost_B, stream_B), self.task.tabu, batch.depots)

    def _capture(self, shared: bool) -> None:
        before = snapshot(self.tensors())
        for lane in self.lanes:
            lane.segment = captured(lane.segment, shared=shared)
        write(self.tensors(), before)


def stream(seed: int, place: int, device: torch.device) -> Generator:
    """An independent generator for each (seed, place)."""
    return torch.Generator(device=device).manual_seed(1000003 * seed + 7919 * place + 17)
