"""Processes that solve instances with a peer, one for each core, so that a crash takes nobody else with it."""

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any

import numpy as np

from dact.instances import Instance
from dact.instances.errors import brief
from dact.peers.adapters import Peer, Stops

START_SECONDS = 120.0
"""For a process to import its package and to solve a tiny instance."""
PATIENCE = 10.0, 60.0
"""A peer that has not stopped after this factor of its time and so many seconds more never will."""
LOOK_EVERY = 0.2
WARM_NODES, WARM_SECONDS = 8, 0.05


class PeerError(RuntimeError):
    """A peer failed; the message says how."""


@dataclass(frozen=True)
class Task:
    """An instance for so many seconds. Copies above 0 have their customers in another order, and so other answers."""

    place: int
    instance: Instance
    seconds: float
    copy: int = 0


@dataclass(frozen=True)
class Solved:
    """What a peer made of a task."""

    place: int
    routes: Stops
    cpu_seconds: float
    """Of its process: less than the time that passed where others used the core."""


class Crew:
    """Starts a process for each list of tasks at most, and ends all of them when left."""

    def __init__(self, peer: Peer, size: int, sample: Instance) -> None:
        self.peer = peer
        context = get_context("spawn")
        self._members: list[tuple[BaseProcess, Connection]] = []
        for _ in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, peer, _tiny(sample)), daemon=True)
            process.start()
            theirs.close()
            self._members.append((process, ours))

    def __enter__(self) -> "Crew":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process, connection in self._members:
            connection.close()
            process.kill()
            process.join()

    def solve(
        self, shares: Sequence[Sequence[Task]], asked: float, progress: Callable[[float], None]
    ) -> tuple[list[Solved], float]:
        """The answers to each process's share of the tasks, and the seconds from the first start to the last answer.

        Starting processes and handing out the tasks are not in these seconds. `progress` gets the fraction that is
        done, and may raise.
        """
        members = list(zip(self._members, shares, strict=False))
        for (process, connection), share in members:
            try:
                connection.send(list(share))
            except OSError:
                _received(connection, process)
        self._collect(len(members), START_SECONDS, lambda count: progress(0.0))
        total, began = sum(map(len, shares)), time.perf_counter()
        for (_, connection), _ in members:
            connection.send(None)
        factor, more = PATIENCE
        solved = self._collect(total, factor * asked + more, lambda count: progress(count / total))
        return solved, time.perf_counter() - began

    def _collect(self, count: int, seconds: float, progress: Callable[[int], None]) -> list[Any]:
        """So many messages of any processes."""
        deadline = time.perf_counter() + seconds
        messages: list[Any] = []
        processes = {connection: process for process, connection in self._members}
        while len(messages) < count:
            for connection in wait(list(processes), LOOK_EVERY):
                assert isinstance(connection, Connection)
                messages.append(_received(connection, processes[connection]))
            progress(len(messages))
            if time.perf_counter() > deadline:
                raise PeerError(f"did not stop within {seconds:,.0f} s")
        return messages


def _received(connection: Connection, process: BaseProcess) -> object:
    """The next message. One that tells of an error, and the end of the process, are raised."""
    try:
        message = connection.recv()
    except (EOFError, OSError):
        process.join(1)
        raise PeerError(f"crashed (its process ended with exit code {process.exitcode})") from None
    if isinstance(message, str) and message:
        raise PeerError(message)
    return message


def _work(connection: Connection, peer: Peer, sample: Instance) -> None:
    """What a process does: warm up, then take tasks, say so, wait for the start, and solve them one after another."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    task = None
    try:
        _warm_up(peer, sample)
        while True:
            tasks = connection.recv()
            connection.send("")
            connection.recv()
            for task in tasks:
                connection.send(_solved(peer, task))
    except (EOFError, BrokenPipeError):
        return
    except Exception as error:
        connection.send(f"failed{f' on {task.instance.name}' if task else ''}: {brief(error)}")


def _warm_up(peer: Peer, sample: Instance) -> None:
    """Import and call once. Only a package that cannot be imported is a failure so early."""
    try:
        peer.solve(sample, WARM_SECONDS)
    except ImportError:
        raise
    except Exception:
        return


def _solved(peer: Peer, task: Task) -> Solved:
    began = time.process_time()
    order = _order(task)
    routes = peer.solve(_reordered(task.instance, order) if task.copy else task.instance, task.seconds)
    # A node that does not exist stays one, so that the checker finds it: -1 is not the last.
    named = [[int(order[node]) if 0 <= node < len(order) else int(node) for node in route] for route in routes]
    return Solved(task.place, named, time.process_time() - began)


def _order(task: Task) -> np.ndarray:
    """Which node comes where; a depot stays the first."""
    first, size = task.instance.facts.first, task.instance.size
    rest = np.arange(first, size)
    if task.copy:
        np.random.default_rng(task.copy).shuffle(rest)
    return np.concatenate((np.arange(first), rest))


def _reordered(instance: Instance, order: np.ndarray) -> Instance:
    """The same instance, its nodes in this order (or only these nodes), with distances as a matrix."""
    loaded = instance.facts.capacity
    return Instance.from_matrix(
        instance.distances()[np.ix_(order, order)],
        demand=instance.demand[order] if loaded else None,
        capacity=instance.capacity if loaded else None,
        coordinates=instance.points()[order],
        vehicles=instance.vehicles,
        name=instance.name,
    )


def _tiny(instance: Instance) -> Instance:
    """The first nodes of an instance, for a first call."""
    return _reordered(instance, np.arange(min(WARM_NODES, instance.size)))
