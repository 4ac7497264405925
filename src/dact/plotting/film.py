"""Records a search for a moving picture."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dact.instances import Instance, Routes, better_directions, check
from dact.plotting.animation import save_frames
from dact.plotting.frames import Frame, Reel

if TYPE_CHECKING:
    from dact.problems import Batch
    from dact.search import Snapshot


class FilmedResult(Protocol):
    """The part of a result that a film ends with."""

    @property
    def instance(self) -> Instance:
        """The instance that was solved."""
        ...

    @property
    def start_routes(self) -> Routes:
        """The start of the search."""
        ...

    @property
    def routes(self) -> Routes:
        """The best solution."""
        ...

    @property
    def seconds(self) -> float:
        """Duration of the search."""
        ...


@dataclass(frozen=True)
class _Seen:
    batch: Batch
    tour_N: list[int]
    seconds: float


class Film:
    """Keeps the best tours of one search as they are found.

    film = dact.Film()
    result = dact.solve(instance, watch=film)
    film.save(result, "search.gif")
    """

    def __init__(self) -> None:
        self._reel = Reel[_Seen]()
        self._best = inf

    def __call__(self, seen: Snapshot) -> None:
        """Look at the search, which must be that of one instance."""
        if len(seen.cost_I) != 1:
            raise ValueError(f"a film shows one instance, but {len(seen.cost_I)} are searched side by side")
        if seen.cost < self._best:
            self._best = seen.cost
            row = int(seen.state.incumbent_cost_B.argmin())
            self._reel.add(_Seen(seen.batch, seen.state.incumbent_BN[row].tolist(), seen.seconds))

    def frames(self, result: FilmedResult) -> list[Frame]:
        """The start, each better solution that was seen, and the answer."""
        from dact.problems import PROBLEMS

        problem = PROBLEMS[result.instance.problem]
        between = [(problem.routes(seen.batch, seen.tour_N), seen.seconds) for seen in self._reel.frames()]
        every = [(result.start_routes or result.routes, 0.0), *between, (result.routes, result.seconds)]
        frames = [_frame(result.instance, *each) for each in every]
        # The search compares in float32 and may call better what is equal.
        return [
            one for one, before in zip(frames, [None, *frames], strict=False) if not before or one.cost < before.cost
        ]

    def save(self, result: FilmedResult, path: str | Path) -> None:
        """Write a moving picture; the extension names the format: .gif, .html, or .mp4 where there is ffmpeg."""
        save_frames(result.instance, self.frames(result), Path(path))


def _frame(instance: Instance, routes: Routes, seconds: float) -> Frame:
    turned = better_directions(instance, routes)
    return Frame(routes=turned, cost=check(instance, turned).cost, seconds=seconds)
