"""Searches of the page, each in its own thread."""

import math
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dact.instances import InputError, Instance, Routes, Start, better_directions
from dact.instances.errors import brief
from dact.instances.measures import route_length, route_load
from dact.pipeline import SolveConfig
from dact.plotting.frames import Frame, Reel
from dact.plotting.routes import map_points
from dact.plotting.styles import by_angle
from dact.problems import PROBLEMS
from dact.search import Snapshot, Trace
from dact.solver import Plan, Result

MAX_RUNS = 4
"""Searches at once: a browser opens six connections, and each search holds one."""
KEPT = 16
"""Searches whose answers can still be downloaded."""
FRAME_SECONDS = 0.05
"""Between two frames, however fast the search is."""
LEAVING_SECONDS = 2.0
"""How long the server waits for its searches when it ends."""


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The best solution so far, with what the page shows of it."""

    instance: Instance
    routes: Routes
    loads: tuple[float, ...]
    lengths: tuple[float, ...]
    steps: int = 0
    trace: Trace = ()

    @property
    def cost(self) -> float:
        """By the instance's own rule."""
        return float(sum(self.lengths))

    @property
    def gap(self) -> float | None:
        """Percent above the best known value; None without one."""
        return self.instance.gap(self.cost)


def show(instance: Instance, routes: Sequence[Sequence[int]], steps: int) -> Shown:
    """Routes around the depot in the order of their directions, with their loads and lengths."""
    turned = better_directions(instance, tuple(map(tuple, routes)))
    ordered = by_angle(map_points(instance), turned) if instance.facts.depot else [list(route) for route in turned]
    return Shown(
        instance=instance,
        routes=tuple(map(tuple, ordered)),
        loads=tuple(route_load(instance, route) for route in ordered),
        lengths=tuple(route_length(instance, route) for route in ordered),
        steps=steps,
    )


class Run:
    """One search: begun at once, watched by frames, paused, continued and stopped from other threads."""

    def __init__(self, instance: Instance, config: SolveConfig, start: Start | None = None) -> None:
        self.id = secrets.token_urlsafe(16)
        self.instance = instance
        self.best: Shown | None = None
        self.reel = Reel[Frame]()
        self.over = False
        self._plan = Plan([instance], config, start)
        self._frame: dict[str, Any] = {"status": "preparing"}
        self._version = self._best_version = 0
        self._shown_at = 0.0
        self._best_seen = math.inf
        self._stopped = False
        self._going = threading.Event()
        self._going.set()
        self._thread = threading.Thread(target=self._work, name=f"dact-run-{self.id[:6]}", daemon=True)

    def start(self) -> None:
        """Start the search."""
        self._thread.start()

    def pause(self) -> None:
        """Pause at the next look; the time limit does not count the pause."""
        self._going.clear()

    def go_on(self) -> None:
        """Continue after a pause."""
        self._going.set()

    def stop(self) -> None:
        """End at the next look; what was found stays."""
        self._stopped = True
        self._going.set()

    def wait(self, seconds: float) -> None:
        """Wait until the search is over, at most this long."""
        if self._thread.ident is not None:
            self._thread.join(seconds)

    def frame(self, seen: tuple[int, int]) -> tuple[dict[str, Any] | None, tuple[int, int]]:
        """What is new since the versions that were seen, and the versions it has; None if nothing is."""
        version, best_version, frame, best = self._version, self._best_version, self._frame, self.best
        if version == seen[0]:
            return None, seen
        if best is not None and best_version != seen[1]:
            frame = {**frame, "best": _told(best)}
        return frame, (version, best_version)

    def _work(self) -> None:
        try:
            results = [result for _, result in self._plan.results(self._watch)]
        except (ValueError, MemoryError, OSError) as error:
            self._end({"status": "failed", "message": brief(error)})
            return
        except Exception as error:
            # Any error must reach the page.
            self._end({"status": "failed", "message": f"error of DACT, please report it: {brief(error)}"})
            return
        for result in results:
            self._better(result.routes, result.steps, result.seconds)
            self._end(_ended(result))
        for reason in self._plan.unreached.values():
            self._end({"status": "failed", "message": reason})

    def _watch(self, seen: Snapshot) -> None:
        now = time.perf_counter()
        if now - self._shown_at >= FRAME_SECONDS or not self._going.is_set():
            self._shown_at = now
            self._look(seen, "running" if self._going.is_set() else "paused")
        if not self._going.is_set():
            self._going.wait()
            seen.stop.leave_out(time.perf_counter() - now)
        if self._stopped:
            raise KeyboardInterrupt

    def _look(self, seen: Snapshot, status: str) -> None:
        """Keep the best tour of all rows and the current one of the first."""
        state, problem = seen.state, PROBLEMS[self.instance.problem]
        if seen.cost < self._best_seen:
            self._best_seen = seen.cost
            row = int(state.incumbent_cost_B.argmin())
            routes = problem.routes(seen.batch, state.incumbent_BN[row].tolist())
            self._better(routes, seen.steps, seen.seconds)
        self._publish(
            {
                "status": status,
                "seconds": round(seen.seconds, 3),
                "steps": seen.steps,
                "fraction": round(seen.fraction, 4),
                "current": problem.routes(seen.batch, state.tour_BN[0].tolist()),
                "current_cost": float(state.cost_B[0]),
            }
        )

    def _better(self, routes: Routes, steps: int, seconds: float) -> None:
        found = show(self.instance, routes, steps)
        # The search compares in float32 and may call better what is equal.
        if self.best is None or found.cost < self.best.cost:
            self.best = found
            self._best_version += 1
            self.reel.add(Frame(routes=found.routes, cost=found.cost, seconds=seconds))

    def _publish(self, frame: dict[str, Any]) -> None:
        self._frame = frame
        self._version += 1

    def _end(self, frame: dict[str, Any]) -> None:
        # In this order: who sees that it is over has the last frame.
        self._publish(frame)
        self.over = True


class Runs:
    """All runs of a server: few at a time, and the answers of the last ones."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        self._lock = threading.Lock()

    def begin(self, instance: Instance, config: SolveConfig, start: Start | None = None) -> Run:
        """Start a run, unless too many are running."""
        run = Run(instance, config, start)
        with self._lock:
            if sum(not each.over for each in self._runs.values()) >= MAX_RUNS:
                raise TooManyError(f"{MAX_RUNS} searches are running, the most at a time: stop one or close its tab")
            for old in [each.id for each in self._runs.values() if each.over][: max(0, len(self._runs) + 1 - KEPT)]:
                del self._runs[old]
            self._runs[run.id] = run
        run.start()
        return run

    def __getitem__(self, run_id: str) -> Run:
        """A run by its id."""
        if run_id not in self._runs:
            raise UnknownRunError("there is no such run any more: start it again")
        return self._runs[run_id]

    def close(self) -> None:
        """Stop all of them, and wait a moment for them to end."""
        for run in list(self._runs.values()):
            run.stop()
        deadline = time.monotonic() + LEAVING_SECONDS
        for run in list(self._runs.values()):
            run.wait(max(0.0, deadline - time.monotonic()))


class TooManyError(InputError):
    """More runs than the server takes."""


class UnknownRunError(InputError):
    """An unknown run, or one whose answer is no longer kept."""


def _told(best: Shown) -> dict[str, Any]:
    return {
        "cost": best.cost,
        "gap": best.gap,
        "routes": best.routes,
        "loads": best.loads,
        "lengths": np.round(best.lengths, 6).tolist(),
    }


def _ended(result: Result) -> dict[str, Any]:
    return {
        "status": "stopped" if result.interrupted else "done",
        "seconds": round(result.seconds, 3),
        "steps": result.steps,
        "fraction": 1.0,
        "start_cost": result.start_cost,
        "message": f"error of DACT, please report it: {result.fault}" if result.fault else "",
    }
