"""Settings of the hybrid search, and what they are where nothing is asked for."""

from dataclasses import dataclass

import torch

from dact.kernels import descent
from dact.search.searcher import AUTO
from dact.threads import workers

SWAP_MARGIN = 3.0
"""Exchanges between routes are tried where a descent ends this many mean lengths of a leg above the current tour, or
below: tours that are worse are hardly ever accepted."""
OVERLOAD = 5.0
"""First price of a unit of load beyond the capacity; it soon moves to where 40 % of tours are within the capacity."""
TEMPERATURE, COOLING = 1.0, 0.1
"""How much worse an accepted tour may be at first, in mean lengths of a leg; what is left of that at the end."""
MANY = 16
"""With more walks than this, frequent takeovers leave the walks diverse enough."""


@dataclass(frozen=True, kw_only=True)
class HybridConfig:
    """Settings of the hybrid search. The defaults stand for values chosen for the problem, its size and the device."""

    walks: int = 0
    """Parallel searches of one instance, each with its own random numbers."""
    kick: str = AUTO
    """One of KICKS."""
    kick_size: int = 0
    """Moves of a kick, or the largest number of strings that `ruin` removes."""
    kick_window: int = 0
    """How far a kick reaches."""
    neighbours: int = 0
    """Nearest customers that moves of a node are tried with."""
    reach: float = -1.0
    """Of these, the ones nearer than this times the edge that a move cuts; 0: all of them."""
    neighbourhoods: str = AUTO
    """Kinds of moves of a descent, some of NEIGHBOURHOODS and swap_star joined by +, such as two_opt+or_opt."""
    temperature: float = -1.0
    """How much worse an accepted tour may be at first, in mean lengths of a leg; 0 accepts better ones only."""
    cooling: float = 0.0
    """Final over initial temperature."""
    overload: float = -1.0
    """First price of a unit of load beyond the capacity, as a multiple of what a unit costs on average: routes may be
    overloaded on the way, the answer's never are. 0: never."""
    takeover: int = 0
    """Rounds between takeovers: the worse half of an instance's walks continues from the tours of the better half."""

    def __post_init__(self) -> None:
        if self.kick not in (AUTO, *descent.KICKS):
            raise ValueError(f"kick '{self.kick}' is not one of {', '.join((AUTO, *descent.KICKS))}")
        for name, most in (("walks", 10**6), ("kick_size", 1000), ("kick_window", 1000), ("neighbours", 1000)):
            if not 0 <= getattr(self, name) <= most:
                raise ValueError(f"{name} {getattr(self, name)} is not between 0 and {most}")
        if not 0 <= self.takeover < 2**31:
            raise ValueError(f"takeover {self.takeover} is not between 0 and 2^31 - 1")
        for name in ("temperature", "reach", "overload"):
            if not (getattr(self, name) == -1 or 0 <= getattr(self, name) < 1000):
                raise ValueError(f"{name} {getattr(self, name)} is not between 0 and 1000")
        if not 0 <= self.cooling <= 1:
            raise ValueError(f"cooling {self.cooling} is not between 0 and 1")
        for name in self.neighbourhoods.split("+"):
            known = (*descent.NEIGHBOURHOODS, descent.SWAP_STAR)
            if self.neighbourhoods != AUTO and name not in known:
                raise ValueError(f"neighbourhoods '{self.neighbourhoods}': '{name}' is not one of {', '.join(known)}")


@dataclass(frozen=True, kw_only=True)
class Settled:
    """Settings with all defaults resolved, for instances of one size."""

    kick: descent.KickConfig
    neighbours: int
    neighbourhoods: tuple[str, ...]
    temperature: float
    """At first, as a share of the cost."""
    cooling: float
    """Final over initial temperature."""
    takeover: int
    margin: float
    """Where exchanges between routes are tried: see `Launch.margin`."""
    overload: float
    """See `Launch.overload`."""


def settled(config: HybridConfig, length: int, depots: int, walks: int) -> Settled:
    """The settings in use. docs/log.md has the measurements behind the defaults."""
    kick = config.kick
    if kick == AUTO:
        kick = "ruin" if depots else "bridge"
    if kick == "bridge" and depots:
        raise ValueError("kick 'bridge' is for tours without depots: choose pairs, nearby or ruin")
    size, window = {"ruin": (5, 10), "bridge": (5, 30), "pairs": (4, 1), "nearby": (8, 10)}[kick]
    window = min(window, max(1, (length - 1) // 3))
    moves = _moves(config, depots)
    mean_legs = TEMPERATURE if config.temperature < 0 else config.temperature
    return Settled(
        kick=descent.KickConfig(
            kick=kick,
            size=config.kick_size or size,
            window=config.kick_window or window,
            reach=1.0 if config.reach < 0 else config.reach,
        ),
        neighbours=config.neighbours or (16 if depots else 10),
        neighbourhoods=tuple(name for name in moves if name != descent.SWAP_STAR),
        temperature=mean_legs / length,
        cooling=config.cooling or COOLING,
        margin=SWAP_MARGIN / length if descent.SWAP_STAR in moves else 0.0,
        overload=(OVERLOAD if config.overload < 0 else config.overload) if depots else 0.0,
        takeover=config.takeover or (20 if walks > MANY else 100),
    )


def _moves(config: HybridConfig, depots: int) -> tuple[str, ...]:
    """The kinds of moves: swap_star is for routes."""
    if config.neighbourhoods == AUTO:
        return (*descent.USUAL, descent.SWAP_STAR) if depots else ("two_opt", "or_opt")
    moves = tuple(config.neighbourhoods.split("+"))
    others = tuple(name for name in moves if name != descent.SWAP_STAR)
    if not others:
        raise ValueError("neighbourhood 'swap_star' needs another one beside it, such as or_opt+swap_star")
    if not descent.codes(others, routes=depots > 0):
        raise ValueError(f"neighbourhoods '{config.neighbourhoods}' have no moves for tours without depots")
    return moves if depots else others


def usual_walks(device: torch.device) -> int:
    """Walks of one instance that fill the device."""
    if device.type == "cuda":
        return descent.rows_in_flight(device)
    return workers()
