"""Everything that lives on the device: networks, optimiser, instances, and the two things done with them.

`segment` is n rollout steps and the update on them, `warm_up` makes steps of which nothing is learnt. On a GPU a
segment is one CUDA graph; on a CPU the same function is called. All rows of a batch have one size; where there are
several sizes to train on, each has a lane with buffers and a graph of its own, and they share networks and optimiser.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Generator, Tensor

from dact.search import Engine, start_state
from dact.training.buffers import Buffers, make_buffers, snapshot, write
from dact.training.graph import captured
from dact.training.instances import InstanceSource
from dact.training.networks import Networks
from dact.training.optimiser import Optimiser
from dact.training.ppo import METRICS, PpoConfig, update
from dact.training.rollout import Task, rollout
from dact.training.team import ALONE, Team

# Streams of random numbers. Each graph has its own, so that no generator is registered with two.
ROLLOUT = "rollout"
STREAMS = ("instances", ROLLOUT, "warm_up")
MOST_PLACES = 10_000
"""Streams of a size; more than any team needs."""
LOSS_SCALE = 2.0**14
"""In half precision. A row's share of a mean over thousands of rows would be lost without it."""


@dataclass
class Lane:
    """What belongs to instances of one size."""

    source: InstanceSource
    buffers: Buffers
    engine: Engine
    generator: Generator
    """Of the rollout: one for each graph."""
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
        greedy: bool = False,
        team: Team = ALONE,
    ) -> None:
        self.networks, self.task, self.config = networks, task, config
        self.seed, self.greedy, self.team = seed, greedy, team
        average = team.average if team.connected else None
        self.optimiser = Optimiser(
            networks.policy,
            networks.critic,
            average,
            scale=LOSS_SCALE if networks.half else 1.0,
            smoothing=config.smoothing,
        )
        device = next(networks.policy.parameters()).device
        self.generators = {name: self._stream(seed, name, device) for name in STREAMS}
        # The last entry counts segments.
        self.metrics_M = torch.zeros(len(METRICS) + 1, device=device)
        self.lanes = [self._make_lane(place, each) for place, each in enumerate(source.each())]
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
        batch = self.lane.source.sample(self.generators["instances"])
        if self.greedy:
            tour_BN = self.task.problem.greedy_start(batch)
        else:
            tour_BN = self.task.problem.random_start(batch, self.generators["instances"])
        self.buffers.load(batch, start_state(tour_BN, batch.cost(tour_BN)))

    def warm_up(self, steps: int) -> None:
        """Walk on with the policy as it is now."""
        self.engine.refresh()
        batch, state = self.buffers.batch, self.buffers.state
        self.buffers.move_to(self.engine.advance(batch, state, steps, self.generators["warm_up"]))

    def back_to_best(self) -> None:
        """Go on from the best solutions found so far."""
        state = self.buffers.state
        self.buffers.move_to(start_state(state.incumbent_BN.clone(), state.incumbent_cost_B.clone()))

    def from_here(self) -> None:
        """Go on from the current solutions, which count as the best so far."""
        state = self.buffers.state
        self.buffers.move_to(start_state(state.tour_BN.clone(), state.cost_B.clone()))

    def read_metrics(self) -> dict[str, float]:
        """Means over the segments since the last reading, and over the team. Waits for the device."""
        self.team.average([self.metrics_M])
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
        for name, generator in self.generators.items():
            generator.set_state(self._stream(seed, name, generator.device).get_state())
        self.new_batch()

    def tensors(self) -> dict[str, Tensor]:
        """Everything that changes on the device, but for the generators."""
        everything = self.learnt() | {"metrics_M": self.metrics_M}
        for lane in self.lanes:
            mark = f"{lane.source.size}." if len(self.lanes) > 1 else ""
            everything |= {mark + name: x for name, x in lane.buffers.tensors().items()}
        return everything

    def _segment(self, lane: Lane) -> None:
        batch, state = lane.buffers.batch, lane.buffers.state
        steps, share = self.config.segment, self.config.share
        state, segment = rollout(lane.engine, self.task, batch, state, steps, lane.generator, share)
        lane.buffers.move_to(state)
        self.metrics_M[:-1] += update(self.networks, segment, self.optimiser, self.config)
        self.metrics_M[-1:] += 1

    def _make_lane(self, place: int, source: InstanceSource) -> Lane:
        name = ROLLOUT if place == 0 else f"{ROLLOUT} {source.size}"
        buffers = self._first_buffers(source)
        # Made before any capture, which may not see the table being filled.
        self.networks.policy.places(buffers.batch.length, self.metrics_M.device)
        if name not in self.generators:
            self.generators[name] = self._stream(self.seed, name, self.metrics_M.device)
        engine = self.networks.engine(self.task.problem, self.task.search())
        lane = Lane(source=source, buffers=buffers, engine=engine, generator=self.generators[name])
        lane.segment = lambda: self._segment(lane)
        return lane

    def _first_buffers(self, source: InstanceSource) -> Buffers:
        """A batch of the right shapes, drawn from a stream that nothing else uses."""
        device = self.metrics_M.device
        batch = source.sample(stream(0, 0, device))
        tour_BN = self.task.problem.random_start(batch, stream(0, 0, device))
        return make_buffers(batch, start_state(tour_BN, batch.cost(tour_BN)))

    def _stream(self, seed: int, name: str, device: torch.device) -> Generator:
        """The stream of a name, another one in each process."""
        known, _, size = name.partition(" ")
        place = STREAMS.index(known) + len(STREAMS) * self.team.rank
        return stream(seed, place + (MOST_PLACES * int(size) if size else 0), device)

    def _capture(self, shared: bool) -> None:
        before = snapshot(self.tensors())
        states = {name: generator.get_state() for name, generator in self.generators.items()}
        for lane in self.lanes:
            lane.segment = captured(lane.segment, [lane.generator], shared=shared)
        write(self.tensors(), before)
        for name, state in states.items():
            self.generators[name].set_state(state)


def stream(seed: int, place: int, device: torch.device) -> Generator:
    """A generator of its own for each (seed, place)."""
    return torch.Generator(device=device).manual_seed(1000003 * seed + 7919 * place + 17)
