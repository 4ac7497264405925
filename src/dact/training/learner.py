"""Everything that lives on the device: networks, optimiser, instances, and the two things done with them.

`segment` is n rollout steps and the update on them, `warm_up` is one step of which nothing is learnt. On a GPU each is
one CUDA graph; on a CPU the same functions are called.
"""

from collections.abc import Callable

import torch
from torch import Generator, Tensor

from dact.search import start_state
from dact.training.buffers import Buffers, make_buffers, snapshot, write
from dact.training.graph import captured
from dact.training.instances import InstanceSource
from dact.training.networks import Networks
from dact.training.optimiser import Optimiser
from dact.training.ppo import METRICS, PpoConfig, update
from dact.training.rollout import Task, rollout, walk
from dact.training.team import ALONE, Team

# Streams of random numbers. Each graph has its own, so that no generator is registered with two.
STREAMS = ("instances", "rollout", "warm_up")


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
        self.networks, self.task, self.source, self.config = networks, task, source, config
        self.greedy, self.team = greedy, team
        self.optimiser = Optimiser(networks.policy, networks.critic, team.average if team.connected else None)
        device = next(networks.policy.parameters()).device
        self.generators = {
            name: stream(seed, place + len(STREAMS) * team.rank, device) for place, name in enumerate(STREAMS)
        }
        # The last entry counts segments.
        self.metrics_M = torch.zeros(len(METRICS) + 1, device=device)
        self.buffers = self._first_buffers()
        self.segment: Callable[[], None] = self._segment
        self.warm_up: Callable[[], None] = self._warm_up
        if graph:
            self._capture(shared=team.connected)

    def new_batch(self) -> None:
        """Fresh instances with their starts."""
        batch = self.source.sample(self.generators["instances"])
        if self.greedy:
            tour_BN = self.task.problem.greedy_start(batch)
        else:
            tour_BN = self.task.problem.random_start(batch, self.generators["instances"])
        self.buffers.load(batch, start_state(tour_BN, batch.cost(tour_BN)))

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
        for place, generator in enumerate(self.generators.values()):
            fresh = stream(seed, place + len(STREAMS) * self.team.rank, generator.device)
            generator.set_state(fresh.get_state())
        self.new_batch()

    def tensors(self) -> dict[str, Tensor]:
        """Everything that changes on the device, but for the generators."""
        return self.learnt() | self.buffers.tensors() | {"metrics_M": self.metrics_M}

    def _segment(self) -> None:
        state, segment = rollout(
            self.networks,
            self.task,
            self.buffers.batch,
            self.buffers.state,
            self.config.segment,
            self.generators["rollout"],
        )
        self.buffers.move_to(state)
        self.metrics_M[:-1] += update(self.networks, segment, self.optimiser, self.config)
        self.metrics_M[-1:] += 1

    def _warm_up(self) -> None:
        state = walk(self.networks, self.task, self.buffers.batch, self.buffers.state, self.generators["warm_up"])
        self.buffers.move_to(state)

    def _first_buffers(self) -> Buffers:
        """A batch of the right shapes, drawn from a stream that nothing else uses."""
        device = self.metrics_M.device
        batch = self.source.sample(stream(0, 0, device))
        tour_BN = self.task.problem.random_start(batch, stream(0, 0, device))
        return make_buffers(batch, start_state(tour_BN, batch.cost(tour_BN)))

    def _capture(self, shared: bool) -> None:
        before = snapshot(self.tensors())
        states = {name: generator.get_state() for name, generator in self.generators.items()}
        self.warm_up = captured(self._warm_up, [self.generators["warm_up"]], shared=shared)
        self.segment = captured(self._segment, [self.generators["rollout"]], shared=shared)
        write(self.tensors(), before)
        for name, state in states.items():
            self.generators[name].set_state(state)


def stream(seed: int, place: int, device: torch.device) -> Generator:
    """A generator of its own for each (seed, place)."""
    return torch.Generator(device=device).manual_seed(1000003 * seed + 7919 * place + 17)
