"""Data of a launch: instances, rows and their state, as flat arrays that all implementations share.

Shape letters: I instances, R rows, N nodes, K neighbours of a node, V kinds of moves, W words of 32 bits, C centres.
"""

import ctypes
from dataclasses import dataclass

import torch
from torch import Tensor

COUNTS = ("rounds", "moves", "looks", "betters", "scan", "judged")
"""Counters of each row: rounds, moves, looks, rounds with a new best; then the position of the descent's scan, and
whether the working tour has been accepted or rejected."""
LEAST_GAIN = 1e-6
"""A move must gain at least this share of the cost."""
KICKS = ("pairs", "nearby", "bridge", "ruin")
"""2-opt moves of pairs of nodes anywhere; moves of any kind near one node; the double bridge (TSP); strings of nodes
near one node taken out and put back where it is cheapest."""
PLACES, OFFERS = 3, 4
"""Exchanges between routes: see warp.cuh."""
POINTERS = (
    "xy", "dist", "matrix", "one_way", "demand", "capacity", "near", "least", "source", "codes", "work", "current",
    "best", "cost", "dirty", "stream", "count", "centre", "price", "touched", "space",
)  # fmt: skip
SIZES = ("rows", "nodes", "depots", "neighbours", "variants", "behind", "before", "words", "rounds", "looks", "centres")


@dataclass(frozen=True, kw_only=True)
class KickConfig:
    """The kick of a round, and the reach of its descent."""

    kick: str = "ruin"
    size: int = 5
    """Moves of a kick; for `ruin`, the largest number of strings."""
    window: int = 10
    """How far a kick reaches: neighbours of the centre, or the longest stretch."""
    reach: float = 1.0
    """Descents try neighbours nearer than this times the edge that a move cuts; 0 for all neighbours."""

    def __post_init__(self) -> None:
        if self.kick not in KICKS:
            raise ValueError(f"kick '{self.kick}' is not one of {', '.join(KICKS)}")
        for name in ("size", "window"):
            if not 1 <= getattr(self, name) <= 10_000:
                raise ValueError(f"kick {name} {getattr(self, name)} is not between 1 and 10000")
        if not self.reach >= 0:
            raise ValueError(f"reach {self.reach} is negative")


@dataclass(frozen=True, kw_only=True)
class Terrain:
    """Instances as descents use them."""

    xy_IN2: Tensor | None
    """float32; None where there are matrices."""
    distance_MNN: Tensor | None
    """float32, row to column; may be asymmetric."""
    matrix_I: Tensor
    """int32: which matrix."""
    one_way_I: Tensor
    """int32: 1 where lengths depend on the direction."""
    demand_IN: Tensor
    """int32."""
    capacity_I: Tensor
    """int32."""
    near_INK: Tensor
    """uint16: the nearest customers of each node, nearest first; K = 0 stands for all."""
    least_I: Tensor
    """float32: least gain of a move."""
    depots: int
    asymmetric: bool
    """Is any instance `one_way`, so that rows need memory for that?"""

    @property
    def nodes(self) -> int:
        """Positions in a tour."""
        return self.demand_IN.shape[1]


@dataclass(kw_only=True)
class Rows:
    """State of each row. A launch overwrites it."""

    source_R: Tensor
    """int32: the instance of each row."""
    work_RN: Tensor
    """uint16: the working tour."""
    current_RN: Tensor
    """uint16: the tour of the last accepted round."""
    best_RN: Tensor
    """uint16."""
    cost_R3: Tensor
    """float64: of the three, in the units of the terrain."""
    dirty_RW: Tensor
    """int32: a bit for each node that the descent has to look at."""
    stream_R: Tensor
    """int64: each row's own random numbers."""
    count_R6: Tensor
    """int32: see COUNTS."""
    price_R3: Tensor
    """float64: the price of a unit of load beyond the capacity, part of all costs but the best one; 0: there is none,
    and routes stay within the capacity. Then the rounds that ended within it, and all rounds, since it changed last."""
    touched_RD: Tensor
    """uint8: 1 for routes that have changed since exchanges between routes were tried."""
    centre_RC: Tensor
    """uint16: customers that kicks begin at, one of these C drawn each time; C = 0 stands for any customer."""

    def all_dirty(self, depots: int) -> None:
        """Let the next descent look at every customer."""
        nodes = self.work_RN.shape[1]
        self.dirty_RW.copy_(all_bits(nodes, depots, self.dirty_RW.device).expand_as(self.dirty_RW))
        self.count_R6[:, COUNTS.index("scan")] = 0

    def unjudged(self) -> Tensor:
        """(R,) bool: is the row in the middle of a descent?"""
        return self.count_R6[:, COUNTS.index("judged")] == 0

    def done(self, rounds: int) -> Tensor:
        """(R,) bool: has the row made its rounds, and is the last one judged?"""
        return (self.count_R6[:, 0] >= rounds) & (self.count_R6[:, 5] == 1)


@dataclass(frozen=True, kw_only=True)
class Launch:
    """One call: every row continues up to a total number of rounds, or a number of looks in this call."""

    terrain: Terrain
    rows: Rows
    codes_V: Tensor
    """int32: the kinds of moves that descents try, in the order of `dact.kernels.descent.codes`."""
    cuts: tuple[int, int]
    """How many of them cut only the edge behind u, and how many only one of its edges (`dact.kernels.descent.cuts`)."""
    settings: KickConfig
    rounds: int
    looks: int
    temperature: float = 0.0
    """A worse tour is accepted if it costs no more than this share of the cost, times a draw from the exponential
    distribution. 0: never."""
    cooling: float = 0.0
    """Change of the temperature's logarithm per round."""
    margin: float = 0.0
    """Exchanges between routes (SWAP*) are tried where a descent ends with a cost of at most this share above the
    current one; 0: never."""
    overload: float = 0.0
    """Price of a unit of load beyond the capacity at first, as a multiple of what a unit costs on average: routes may
    be overloaded on the way. 0: never; then rows must have no price."""
    threads: int = 1
    """Threads of a CPU."""


def all_bits(nodes: int, depots: int, device: torch.device) -> Tensor:
    """(W,) int32 with a bit for every customer."""
    words = -(-nodes // 32)
    node_W32 = torch.arange(32 * words, device=device).view(words, 32)
    bit_W32 = ((node_W32 >= depots) & (node_W32 < nodes)).long() << torch.arange(32, device=device)
    value_W = bit_W32.sum(1)
    return torch.where(value_W >= 2**31, value_W - 2**32, value_W).int()


def start_rows(terrain: Terrain, tour_RN: Tensor, source_R: Tensor, stream_R: Tensor) -> Rows:
    """Rows that begin with a descent from the given tours."""
    rows, nodes = tour_RN.shape
    if nodes >= 0xFFFF:
        raise ValueError(f"a tour of {nodes} positions is too long for local search: 65,534 are the most")
    tour = tour_RN.to(torch.uint16).contiguous()
    state = Rows(
        source_R=source_R.int().contiguous(),
        work_RN=tour,
        current_RN=tour.clone(),
        best_RN=tour.clone(),
        cost_R3=torch.full((rows, 3), 1e300, dtype=torch.float64, device=tour_RN.device),
        dirty_RW=torch.zeros(rows, -(-nodes // 32), dtype=torch.int32, device=tour_RN.device),
        stream_R=stream_R.clone(),
        count_R6=torch.zeros(rows, len(COUNTS), dtype=torch.int32, device=tour_RN.device),
        price_R3=torch.zeros(rows, 3, dtype=torch.float64, device=tour_RN.device),
        touched_RD=torch.ones(rows, terrain.depots, dtype=torch.uint8, device=tour_RN.device),
        centre_RC=torch.zeros(rows, 0, dtype=torch.uint16, device=tour_RN.device),
    )
    state.cost_R3[:, 0] = tour_cost(terrain, tour_RN, source_R)
    state.all_dirty(terrain.depots)
    return state


def tour_cost(terrain: Terrain, tour_RN: Tensor, source_R: Tensor) -> Tensor:
    """(R,) float64: sums of float32 lengths, as descents count them."""
    here_RN, there_RN = tour_RN.long(), tour_RN.long().roll(-1, dims=1)
    source_R1 = source_R.long().unsqueeze(1)
    if terrain.distance_MNN is not None:
        leg_RN = terrain.distance_MNN[terrain.matrix_I.long()[source_R1], here_RN, there_RN]
        return leg_RN.double().sum(1)
    assert terrain.xy_IN2 is not None
    step_RN2 = terrain.xy_IN2[source_R1, here_RN] - terrain.xy_IN2[source_R1, there_RN]
    return step_RN2.square().sum(2).sqrt().double().sum(1)


def working_bytes(terrain: Terrain, exchanges: bool = False) -> int:
    """Working memory of a row: the arrays that `lay_out` places, with or without those of exchanges between routes."""
    nodes, even = terrain.nodes, terrain.nodes + terrain.nodes % 2
    size = 8 * (nodes + 1) * terrain.asymmetric + 4 * nodes * (terrain.depots > 0) + 4 * -(-nodes // 32)
    size += 2 * (4 * even + terrain.depots + 1)
    if exchanges and terrain.depots:
        size += 4 * (OFFERS * nodes + terrain.depots) + 2 * PLACES * even
    return -(-size // 16) * 16


class CKick(ctypes.Structure):
    """Mirrors `Kick` in kicks.cuh."""

    _fields_ = tuple((name, ctypes.c_int) for name in ("kind", "size", "window"))


class CJob(ctypes.Structure):
    """Mirrors `Job` in rounds.cu."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in POINTERS),
        ("bytes", ctypes.c_longlong),
        ("temperature", ctypes.c_double),
        ("cooling", ctypes.c_double),
        ("margin", ctypes.c_double),
        ("overload", ctypes.c_double),
        *((name, ctypes.c_int) for name in SIZES),
        ("reach", ctypes.c_float),
        ("kick", CKick),
    )


def c_job(launch: Launch, space: Tensor | None) -> CJob:
    """The struct for the C code; it points into the launch's tensors, which must outlive it."""
    terrain, rows, settings = launch.terrain, launch.rows, launch.settings
    tensors = (
        terrain.xy_IN2, terrain.distance_MNN, terrain.matrix_I, terrain.one_way_I, terrain.demand_IN,
        terrain.capacity_I, terrain.near_INK, terrain.least_I, rows.source_R, launch.codes_V, rows.work_RN,
        rows.current_RN, rows.best_RN, rows.cost_R3, rows.dirty_RW, rows.stream_R, rows.count_R6, rows.centre_RC,
        rows.price_R3, rows.touched_RD, space,
    )  # fmt: skip
    for tensor in tensors:
        assert tensor is None or tensor.is_contiguous()
    sizes = (
        len(rows.work_RN), terrain.nodes, terrain.depots, terrain.near_INK.shape[2], len(launch.codes_V),
        *launch.cuts, rows.dirty_RW.shape[1], launch.rounds, launch.looks, rows.centre_RC.shape[1],
    )  # fmt: skip
    kick = CKick(KICKS.index(settings.kick), settings.size, settings.window)
    pointers = (None if tensor is None else tensor.data_ptr() for tensor in tensors)
    shares = (launch.temperature, launch.cooling, launch.margin, launch.overload)
    return CJob(*pointers, working_bytes(terrain, launch.margin > 0), *shares, *sizes, settings.reach, kick)
