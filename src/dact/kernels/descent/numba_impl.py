"""Rounds on a CPU, compiled by Numba: `rounds.cu` in Python, move for move and bit for bit.

Rows are independent and distributed over threads. Compiled code is kept in the user's cache folder.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators, allow-untyped-calls
# ruff: noqa: ANN001, ANN202
import hashlib
import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np
from numba import config

from dact.kernels.descent.job import KICKS, OFFERS, PLACES, Launch
from dact.kernels.descent.numba_kicks import MOST_STRINGS, kicked, total_cost
from dact.kernels.descent.numba_looks import STRETCHES, look, next_dirty, slack_of
from dact.kernels.descent.numba_moves import ZERO, make, overload, settle
from dact.kernels.descent.numba_row import (
    EMPTY,
    LEFT,
    LENGTH,
    ONE,
    PRICE,
    START,
    Row,
    bare,
    copy,
    draw,
    mark,
)  # fmt: skip
from dact.kernels.descent.numba_swaps import swapped
from dact.kernels.nvrtc import cache_folder

FILES = ("job.py", "moves.py", "numba_row.py", "numba_moves.py", "numba_looks.py", "numba_kicks.py", "numba_swaps.py",
         "numba_impl.py")  # fmt: skip
ROUNDS, MOVES, LOOKS, BETTERS, SCAN, JUDGED = range(6)
WITHIN, SEEN = 1, 2
"""Places in a row's `price`."""
WINDOW, SHARE, FALL, RISE = 20, 0.4, 0.85, 1.2
"""After so many rounds the price of overload falls if more than this share of tours were within the capacity, and
rises otherwise."""
LOWEST, HIGHEST = 1e-3, 1e6
"""Bounds of the price, as multiples of what a unit of load costs on average."""
FIRST = 1e299
"""A current cost above this means that no tour has been accepted yet."""
PARTS = 8
"""Parts of the rows for each thread: rows take different times, and a thread that is done takes the next part."""


def _cache() -> Path:
    """A cache folder for these sources: Numba notices only changes of the file that a function is in."""
    sources = b"".join((Path(__file__).parent / name).read_bytes() for name in FILES)
    return cache_folder() / f"numba-{hashlib.sha256(sources).hexdigest()[:16]}"


if not os.environ.get("NUMBA_CACHE_DIR"):
    vars(config)["CACHE_DIR"] = str(_cache())


def compiled_before() -> bool:
    """Is the cache for these sources non-empty?"""
    return any(Path(vars(config)["CACHE_DIR"]).rglob("*numba_impl*.nbi"))


@bare()
def _move_price(row, cost, first, within):
    """The price of overload begins after the first descent, and falls where tours are mostly within the capacity."""
    row.price[WITHIN] += within
    row.price[SEEN] += 1
    if row.price[PRICE] > 0 and row.price[SEEN] < WINDOW:
        return
    demand = 0
    for node in range(row.depots, row.nodes):
        demand += row.demand[node]
    unit = cost[1] / max(demand, 1)
    price = first * unit
    if row.price[PRICE] > 0:
        price = row.price[PRICE] * (FALL if row.price[WITHIN] > SHARE * WINDOW else RISE)
    row.price[PRICE] = min(max(price, LOWEST * unit), HIGHEST * unit)
    row.price[WITHIN] = row.price[SEEN] = 0
    cost[0] = cost[1] = total_cost(row)


@bare()
def _judge(row, current, best, cost, count, temperature, cooling):
    """Acceptance: a new best, a new current tour, or back to the current one. Was the tour within the capacity?"""
    within = row.price[PRICE] == 0 or overload(row) == 0
    if within and cost[0] < cost[2] - row.least:
        copy(row.tour, best, row.nodes)
        cost[2] = cost[0]
        count[BETTERS] += 1
    limit = cost[1]
    if temperature > 0 and count[ROUNDS] > 0:
        share = (draw(row, 1 << 30) + 1) * (1.0 / (1 << 30))
        limit -= cost[1] * temperature * math.exp(cooling * count[ROUNDS]) * math.log(share)
    if cost[0] < limit:
        copy(row.tour, current, row.nodes)
        cost[1] = cost[0]
    else:
        copy(current, row.tour, row.nodes)
        cost[0] = cost[1]
        settle(row, START, row.nodes)
    for route in range(row.depots):
        row.touched[route] = 0
    count[JUDGED] = 1
    return within


@bare(inline="always")
def _swap_star(row, cost, margin):
    """An exchange between two routes, if the tour is the first one or worth it; what it gains."""
    if not row.depots or margin == 0:
        return ZERO
    if cost[1] < FIRST and (cost[0] > cost[1] * (1 + margin) or abs(cost[0] - cost[1]) <= row.least):
        return ZERO
    return swapped(row)


@bare(inline="always")
def _run_row(row, current, best, cost, count, rounds, kick, temperature, cooling, margin, price):
    settle(row, START, row.nodes)
    slack = slack_of(row)
    while row.state[LEFT] > 0:
        row.state[LEFT] -= 1
        node = next_dirty(row, count[SCAN])
        if node < 0:
            if not count[JUDGED]:
                gained = _swap_star(row, cost, margin)
                if gained > 0:
                    cost[0] -= gained
                    count[MOVES] += 1
                    continue
                within = _judge(row, current, best, cost, count, temperature, cooling)
                if price and row.depots:
                    _move_price(row, cost, price, within)
            if count[ROUNDS] >= rounds:
                break
            cost[0] = kicked(row, kick[0], kick[1], kick[2])
            count[ROUNDS] += 1
            count[JUDGED] = 0
            continue
        row.dirty[node >> 5] &= ~(ONE << np.uint32(node & 31))
        gained, move = look(row, node, slack)
        count[LOOKS] += 1
        count[SCAN] = node
        if gained > 0:
            make(row, move[1], move[2], move[3], move[4], move[5], move[6])
            mark(row, node)
            cost[0] -= gained
            count[MOVES] += 1


@bare(nogil=True, cache=True, forceinline=False)
def _run_rows(
    first, last, depots, matrix, xy, dist, which, one_way, demand, capacity, near, least, source, codes, behind,
    before, work, current, best, cost, dirty, stream, count, centre, rounds, looks, kick, reach, temperature, cooling,
    margin, first_price, prices, touched, space, turn, leg, offer, after, ends, saved,
):  # fmt: skip
    """Advance rows first .. last - 1. One compiled function, so that all of it is kept in the cache."""
    nodes = work.shape[1]
    for index in range(first, last):
        instance = source[index]
        copy(work[index], space[0], nodes)
        space[6, LENGTH], space[6, EMPTY], space[6, LEFT] = nodes, -1, looks
        place, table = (0, which[instance]) if matrix else (instance, 0)
        row = Row(
            nodes, depots, np.int64(capacity[instance]), least[instance], reach, one_way[instance] != 0, matrix,
            xy[place], dist[table], demand[instance], near[instance], codes, behind, before, space[0], space[1],
            space[2], space[3], space[4], space[5], turn, dirty[index], space[6], space[7], stream[index : index + 1],
            centre[index], prices[index], touched[index], leg, offer, after, ends, saved,
        )  # fmt: skip
        _run_row(
            row, current[index], best[index], cost[index], count[index], rounds, kick, temperature, cooling,
            margin, first_price,
        )  # fmt: skip
        copy(space[0], work[index], nodes)


def launch_numba(launch: Launch) -> None:
    """Advance all rows."""
    terrain, rows, settings = launch.terrain, launch.rows, launch.settings
    none2, none3 = np.zeros((1, 1, 2), np.float32), np.zeros((1, 1, 1), np.float32)
    matrix = terrain.distance_MNN is not None
    arguments = (
        terrain.depots, matrix,
        none2 if terrain.xy_IN2 is None else terrain.xy_IN2.numpy(),
        none3 if terrain.distance_MNN is None else terrain.distance_MNN.numpy(),
        terrain.matrix_I.numpy(), terrain.one_way_I.numpy(), terrain.demand_IN.numpy(), terrain.capacity_I.numpy(),
        terrain.near_INK.numpy(), terrain.least_I.numpy(), rows.source_R.numpy(), launch.codes_V.numpy(), *launch.cuts,
        rows.work_RN.numpy(),
        rows.current_RN.numpy(), rows.best_RN.numpy(), rows.cost_R3.numpy(), rows.dirty_RW.numpy().view(np.uint32),
        rows.stream_R.numpy().view(np.uint64), rows.count_R6.numpy(), rows.centre_RC.numpy(),
        launch.rounds, launch.looks,
        np.array([KICKS.index(settings.kick), settings.size, settings.window]), np.float32(settings.reach),
        launch.temperature, launch.cooling, launch.margin, launch.overload,
        rows.price_R3.numpy(), rows.touched_RD.numpy(),
    )  # fmt: skip
    count, threads = len(rows.work_RN), launch.threads

    def run(part: tuple[int, int]) -> None:
        width = max(terrain.nodes + 1, terrain.depots + 1, MOST_STRINGS, LEFT + 1)
        turn, leg = np.empty(terrain.nodes + 1 if terrain.asymmetric else 1), np.empty(width, np.float32)
        offer, after = np.empty((width, OFFERS), np.float32), np.empty((width, PLACES), np.int64)
        ends, saved = np.empty((3, STRETCHES), np.int64), np.empty((2, STRETCHES), np.float32)
        _run_rows(*part, *arguments, np.empty((8, width), np.int64), turn, leg, offer, after, ends, saved)

    if threads == 1 or count == 1:
        run((0, count))
        return
    share = -(-count // (PARTS * threads))
    parts = [(first, min(first + share, count)) for first in range(0, count, share)]
    list(_pool(threads).map(run, parts))


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="dact-descent")
