"""Local search: descents to local optima, and rounds of kick and descent, on many rows in parallel.

A descent looks at one node after another, makes the best move towards one of its neighbours, and looks again only at
nodes whose neighbours in the tour have changed. `moves.py` lists the kinds of moves. A round kicks the tour,
descends, and accepts the result or returns to the current tour. Rows do not wait for one another.

Three implementations: plain PyTorch (`reference.py`), one best move at a time, which defines local optima; CUDA C
(`rounds.cu`), a warp per row; Numba (`numba_impl.py`), a core per row. The last two make the same moves.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from dact.kernels.descent.job import COUNTS, KICKS, KickConfig, Launch, Rows, Terrain, start_rows, tour_cost
from dact.kernels.descent.moves import NEIGHBOURHOODS, SWAP_STAR, USUAL, codes, cuts
from dact.kernels.descent.terrain import make_terrain

LOOKS = 1_200
"""Looks per row and launch: some tens of milliseconds on a GPU. A CPU begins with so many for all rows of a thread."""
LOOKS_OF_FEW, FEW_NODES = 3_600, 1_100
"""The same where all rows run at the same time, on tours of so many nodes at most: 22 milliseconds at 1,000 nodes."""
WARPS = 4
"""Rows of one instance for each multiprocessor of a GPU. More fit, but are slower."""
LAUNCH_SECONDS = 0.015
"""About how long a launch on a CPU takes: the number of looks follows from it."""
FEWEST_LOOKS, MOST_LOOKS = 8, 1 << 20
"""Bounds of that number."""
FULL_LOOKS = 16
"""Looks per row and launch where every look tries all nodes."""


def launch(work: Launch) -> None:
    """Advance all rows: on a GPU by CUDA C, on a CPU by Numba."""
    if work.rows.work_RN.is_cuda:
        from dact.kernels.descent.cuda_impl import launch_cuda

        launch_cuda(work)
    else:
        from dact.kernels.descent.numba_impl import launch_numba

        launch_numba(work)


def rows_in_flight(device: torch.device) -> int:
    """Rows of one instance that fill a GPU."""
    return WARPS * int(torch.cuda.get_device_properties(device).multi_processor_count)


def looks_at_once(rows: Rows, threads: int) -> int:
    """Looks per row of a launch, after which the host can stop the search: fewer where a CPU's threads have many rows.

    Where launches end makes no difference to the tours.
    """
    if rows.work_RN.is_cuda:
        few = len(rows.work_RN) <= rows_in_flight(rows.work_RN.device) and rows.work_RN.shape[1] <= FEW_NODES
        return LOOKS_OF_FEW if few else LOOKS
    return max(FEWEST_LOOKS, LOOKS * threads // len(rows.work_RN))


def looks_next(done_R: Tensor, looks: int, seconds: float) -> int:
    """Looks per row of the next launch, after one that took so long: at most twice as many. Where most rows are done,
    a launch is short for that reason."""
    if done_R.is_cuda or 2 * int(done_R.sum()) > len(done_R):
        return looks
    return min(max(FEWEST_LOOKS, int(looks * min(2.0, LAUNCH_SECONDS / max(seconds, 1e-6)))), MOST_LOOKS)


def descend_fully(
    terrain: Terrain,
    rows: Rows,
    kinds: tuple[int, ...],
    over: Callable[[], bool] = lambda: False,
    threads: int = 1,
) -> bool:
    """Descend from every row's best tour to a local optimum over all pairs of nodes; True if that was reached before
    `over` said that it is time to end; then best tours are as far as descents came. `terrain` should have no neighbour
    lists, so that all nodes are tried.
    """
    settings, codes_V = KickConfig(reach=0.0), torch.tensor(kinds, dtype=torch.int32, device=rows.work_RN.device)
    rows.work_RN.copy_(rows.best_RN)
    rows.cost_R3[:, 0] = rows.cost_R3[:, 2]
    moves_R = rows.count_R6[:, COUNTS.index("moves")]
    made, optimal = int(moves_R.sum()), False
    while not optimal:
        rows.all_dirty(terrain.depots)
        rows.count_R6[:, COUNTS.index("judged")] = 0
        target = int(rows.count_R6[:, 0].min())
        while bool((rows.dirty_RW != 0).any()) or not bool(rows.done(target).all()):
            if over():
                _keep(rows)
                return False
            launch(
                Launch(
                    terrain=terrain,
                    rows=rows,
                    codes_V=codes_V,
                    cuts=cuts(kinds),
                    settings=settings,
                    rounds=target,
                    looks=FULL_LOOKS,
                    threads=threads,
                )
            )
        # A pass without a move has tried every candidate.
        before, made = made, int(moves_R.sum())
        optimal = before == made
    return True


def _keep(rows: Rows) -> None:
    """Take tours in the middle of a descent for the best ones, where they are better."""
    better_R1 = (rows.cost_R3[:, 0] < rows.cost_R3[:, 2]).unsqueeze(1)
    # PyTorch cannot choose among uint16 everywhere; the bits are the same as int16.
    best_RN, work_RN = (x.view(torch.int16) for x in (rows.best_RN, rows.work_RN))
    best_RN.copy_(torch.where(better_R1, work_RN, best_RN))
    rows.cost_R3[:, 2] = torch.minimum(rows.cost_R3[:, 0], rows.cost_R3[:, 2])


def compile_form(terrain: Terrain, *, exchanges: bool, overload: bool) -> None:
    """Compile what launches over this terrain need, the last descent too, or load it from the cache."""
    if terrain.demand_IN.is_cuda:
        from dact.kernels.descent.cuda_impl import load_kernel

        with torch.cuda.device(terrain.demand_IN.device):
            load_kernel(terrain, exchanges=exchanges, overload=overload)
            load_kernel(terrain, exchanges=False, overload=False)
    else:
        compile_for_cpu()


def needs_compiling(device: torch.device) -> bool:
    """Will `compile_form` take long? On a GPU it takes a few seconds at most."""
    if device.type == "cuda":
        return False
    from dact.kernels.descent.numba_impl import compiled_before

    return not compiled_before()


@cache
def compile_for_cpu() -> None:
    """One launch over a tiny tour compiles for all: array types are always the same."""
    square_IN2 = torch.tensor([[[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]]])
    nothing_IN, one_I = torch.zeros(1, 4, dtype=torch.int32), torch.ones(1)
    tiny = make_terrain(square_IN2, nothing_IN, nothing_IN[:, 0], 0, neighbours=1, start_cost_I=one_I)
    rows = start_rows(tiny, torch.arange(4).unsqueeze(0), nothing_IN[:, 0], nothing_IN[:, 0].long())
    kinds = codes(routes=False)
    launch(
        Launch(
            terrain=tiny,
            rows=rows,
            codes_V=torch.tensor(kinds, dtype=torch.int32),
            cuts=cuts(kinds),
            settings=KickConfig(),
            rounds=0,
            looks=0,
        )
    )


__all__ = [
    "KICKS",
    "LOOKS",
    "NEIGHBOURHOODS",
    "SWAP_STAR",
    "USUAL",
    "KickConfig",
    "Launch",
    "Rows",
    "Terrain",
    "codes",
    "compile_for_cpu",
    "compile_form",
    "cuts",
    "descend_fully",
    "launch",
    "looks_at_once",
    "looks_next",
    "make_terrain",
    "needs_compiling",
    "rows_in_flight",
    "start_rows",
    "tour_cost",
]
