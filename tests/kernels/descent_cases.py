"""What tests of descents share: odd instances, and the forms that make rounds."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest
import torch
from torch import Tensor

from begun import is_permutation
from dact.kernels.descent.cuda_impl import launch_cuda, options, source
from dact.kernels.descent.job import KickConfig, Launch, Rows, Terrain, c_job, start_rows, tour_cost, working_bytes
from dact.kernels.descent.moves import NEIGHBOURHOODS, codes, cuts
from dact.kernels.descent.numba_impl import launch_numba
from dact.kernels.descent.terrain import make_terrain
from dact.kernels.row_draws import streams
from dact.problems import PROBLEMS, Batch
from dact.problems.capacity import feasible

Form = Callable[[Launch], None]
Record = TypeVar("Record", Terrain, Rows)
ROWS = 3
MARGIN = 1024
"""Bytes around the working memory that nobody may write to."""


def _library(folder: Path, before: str = "", definitions: tuple[str, ...] = ()) -> ctypes.CDLL:
    """The CUDA source as plain C++, behind some other source."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ to compile the CUDA source as plain C++")
    library = folder / f"rounds{''.join(definitions)}.so"
    usual = ("-x", "c++", "-std=c++17", "-O1", "-ffp-contract=off", "-U_FORTIFY_SOURCE", "-shared", "-fPIC")
    whole = f"{before}\n{source()}".encode()
    subprocess.run(["g++", *usual, *definitions, "-o", str(library), "-"], input=whole, check=True)
    return ctypes.CDLL(str(library))


def compiled_form(folder: Path) -> Form:
    """The CUDA source as plain C++ with one lane, which decides everything when it runs."""
    library = _library(folder)
    return lambda launch: _run_guarded(library, launch)


def warp_form(folder: Path) -> Form:
    """The same with 32 lanes that take turns, in another order each time, compiled for each kind of launch as on a
    GPU. Lanes have to meet in the same places."""
    before = (Path(__file__).parent / "warp_of_fibers.h").read_text()
    orders = count()
    library_for = cache(lambda definitions: _library(folder, before, definitions))

    def run(launch: Launch) -> None:
        has = {"exchanges": launch.margin > 0, "overload": launch.overload > 0}
        library = library_for(options(launch.terrain, **has))
        order, diverged = (ctypes.c_int.in_dll(library, name) for name in ("lane_order", "diverged"))
        order.value, diverged.value = next(orders) % 3, 0
        _run_guarded(library, launch)
        assert not diverged.value

    return run


def _run_guarded(library: ctypes.CDLL, launch: Launch) -> None:
    """Writing beside the rows' working memory is an error."""
    size = len(launch.rows.work_RN) * working_bytes(launch.terrain, launch.margin > 0)
    space = torch.full((MARGIN + size + MARGIN,), 0xA5, dtype=torch.uint8)
    library.rounds(ctypes.byref(c_job(launch, space[MARGIN:])))
    assert (space[:MARGIN] == 0xA5).all()
    assert (space[-MARGIN:] == 0xA5).all()


def numba_form(folder: Path) -> Form:
    """A CPU's form."""
    return launch_numba


def cuda_form(folder: Path) -> Form:
    """A GPU's form, on copies there that are brought back."""

    def run(launch: Launch) -> None:
        terrain, rows = (_moved(record, "cuda") for record in (launch.terrain, launch.rows))
        launch_cuda(replace(launch, terrain=terrain, rows=rows, codes_V=launch.codes_V.cuda()))
        for name, value in vars(_moved(rows, "cpu")).items():
            getattr(launch.rows, name).copy_(value)

    return run


def _moved(record: Record, device: str) -> Record:
    tensors = {name: x.to(device) for name, x in vars(record).items() if isinstance(x, Tensor)}
    return replace(record, **tensors)


FORMS: dict[str, Callable[[Path], Form]] = {"compiled": compiled_form, "numba": numba_form, "warp": warp_form}
if torch.cuda.is_available():
    FORMS["cuda"] = cuda_form
"""What makes each form, given a folder for what it compiles."""


def every_code(terrain: Terrain) -> tuple[int, ...]:
    """All kinds of moves."""
    return codes(tuple(NEIGHBOURHOODS), routes=terrain.depots > 0)


def terrain_of(batch: Batch, tour_BN: Tensor, neighbours: int = 0) -> Terrain:
    """Every row an instance of its own."""
    return make_terrain(
        batch.coordinates_BN2, batch.demand_BN, batch.capacity_B, batch.depots, neighbours=neighbours,
        start_cost_I=batch.cost(tour_BN), distance_MNN=batch.distance_INN, matrix_I=batch.matrix_B,
    )  # fmt: skip


def begin(terrain: Terrain, tour_RN: Tensor, source_R: Tensor | None = None, seed: int = 5) -> Rows:
    """Rows about to descend; the instance of each is that of its number unless named."""
    source_R = torch.arange(len(tour_RN)) if source_R is None else source_R
    return start_rows(terrain, tour_RN, source_R, streams(seed, source_R.tolist(), "cpu"))


def finish(form: Form, launch: Launch) -> None:
    """Launches until all rows are done."""
    for _ in range(100_000 // launch.looks + 100):
        form(launch)
        if launch.rows.done(launch.rounds).all():
            return
    raise AssertionError("rows go on and on")


def descent(terrain: Terrain, rows: Rows, **others: object) -> Launch:
    """A launch of descents over all candidates, with every kind of move."""
    kinds = others.pop("kinds", every_code(terrain))
    moves = {"codes_V": torch.tensor(kinds, dtype=torch.int32), "cuts": cuts(kinds)}
    usual = {**moves, "settings": KickConfig(reach=0), "rounds": 0, "looks": 5_000}
    return Launch(terrain=terrain, rows=rows, **{**usual, **others})


def settled(form: Form, terrain: Terrain, tour_RN: Tensor) -> Tensor:
    """Tours after descents that look at every customer, again and again until none of them moves."""
    for _ in range(100):
        rows = begin(terrain, tour_RN)
        finish(form, descent(terrain, rows))
        tour_RN = rows.best_RN.long()
        if not rows.count_R6[:, 1].any():
            return tour_RN
    raise AssertionError("descents go on and on")


def is_tour(batch: Batch, tour_RN: Tensor) -> Tensor:
    """(R,) bool: every node once, and no vehicle overloaded."""
    good_R = is_permutation(tour_RN.long())
    return good_R & feasible(batch, tour_RN.long()) if batch.depots else good_R


def same(rows: Rows, others: Rows) -> bool:
    """Do rows stand at exactly the same point?"""
    return all(torch.equal(value, getattr(others, name)) for name, value in vars(rows).items())


def slack(terrain: Terrain) -> Tensor:
    """(I,): by how much float32 gains may be wrong; those of whole numbers are exact."""
    return torch.where(terrain.least_I == 0.5, 0, terrain.least_I).double()


def is_cost(cost_R: Tensor, terrain: Terrain, tour_RN: Tensor) -> Tensor:
    """(R,) bool: are these the costs of the tours?"""
    exact_R = tour_cost(terrain, tour_RN.long(), torch.arange(len(tour_RN)))
    return (cost_R - exact_R).abs() <= slack(terrain)


def travelling(points_N2: Tensor, distance_NN: Tensor | None = None) -> Batch:
    """One tour over the points: alike rows."""
    size = len(points_N2)
    return Batch(
        coordinates_BN2=points_N2.float().expand(ROWS, -1, -1),
        scale_B=torch.ones(ROWS),
        demand_BN=torch.zeros(ROWS, size, dtype=torch.int32),
        capacity_B=torch.zeros(ROWS, dtype=torch.int32),
        distance_INN=None if distance_NN is None else distance_NN.float().unsqueeze(0),
        matrix_B=None if distance_NN is None else torch.zeros(ROWS, dtype=torch.long),
    )


def delivering(
    points_N2: Tensor, demand_C: Tensor, capacity: int, depots: int, distance_NN: Tensor | None = None
) -> Batch:
    """Routes from the first point, of which there are `depots` copies: alike rows."""
    copy_N = torch.arange(len(points_N2) + depots - 1).sub(depots - 1).clamp(min=0)
    plain = travelling(points_N2[copy_N], None if distance_NN is None else distance_NN[copy_N][:, copy_N])
    demand_N = torch.cat((torch.zeros(depots, dtype=torch.int32), demand_C.int()))
    room_B = torch.full((ROWS,), capacity, dtype=torch.int32)
    return replace(plain, demand_BN=demand_N.expand(ROWS, -1), capacity_B=room_B, depots=depots)


def problem_of(batch: Batch) -> str:
    """Whose starts fit the batch."""
    return "cvrp" if batch.depots else "tsp"


def starts(batch: Batch, seed: int = 3) -> Tensor:
    """Random feasible tours."""
    return PROBLEMS[problem_of(batch)].random_start(batch, streams(seed, range(batch.rows), "cpu"))


def _points(count: int, seed: int = 0) -> Tensor:
    return torch.rand(count, 2, generator=torch.Generator().manual_seed(seed))


def _matrix(count: int, *, whole: bool, symmetric: bool) -> Tensor:
    """Random numbers, which break the triangle inequality."""
    matrix_NN = torch.rand(count, count, generator=torch.Generator().manual_seed(count)) * 100
    matrix_NN = matrix_NN.round() if whole else matrix_NN
    return (torch.maximum(matrix_NN, matrix_NN.t()) if symmetric else matrix_NN).fill_diagonal_(0)


def _demand(count: int, low: int = 1) -> Tensor:
    return torch.randint(low, 10, (count,), generator=torch.Generator().manual_seed(count))


def _line(count: int) -> Tensor:
    return torch.stack(
        (torch.rand(count, generator=torch.Generator().manual_seed(1)), torch.full((count,), 0.5)), dim=1
    )


MATRICES = {
    "whole": {"whole": True, "symmetric": True},
    "asymmetric": {"whole": False, "symmetric": False},
    "whole asymmetric": {"whole": True, "symmetric": False},
}
CASES: dict[str, Batch] = {
    **{f"tsp of {size}": travelling(_points(size)) for size in (1, 2, 3, 4, 5, 31, 32, 33, 64, 65)},
    **{f"tsp, {name} matrix": travelling(_points(18), _matrix(18, **kind)) for name, kind in MATRICES.items()},
    "tsp of 3, asymmetric": travelling(_points(3), _matrix(3, **MATRICES["asymmetric"])),
    "tsp, duplicates": travelling(_points(6).repeat(3, 1)),
    "tsp, one point": travelling(_points(1).expand(9, 2)),
    "tsp, collinear": travelling(_line(20)),
    **{f"cvrp of {n}": delivering(_points(n + 1), _demand(n), 12, min(n, 4) + 1) for n in (1, 2, 3, 5)},
    **{f"cvrp of {n}": delivering(_points(n + 1), _demand(n), 30, 12) for n in (19, 20, 21, 51, 52, 53)},
    **{
        f"cvrp, {name} matrix": delivering(_points(17), _demand(16), 25, 7, _matrix(17, **kind))
        for name, kind in MATRICES.items()
    },
    "cvrp, duplicates": delivering(_points(6).repeat(3, 1), _demand(17), 25, 8),
    "cvrp, collinear": delivering(_line(18), _demand(17), 25, 8),
    "cvrp, some zero demands": delivering(_points(18), _demand(17, low=-12).clamp(min=0), 12, 8),
    "cvrp, no demands": delivering(_points(12), torch.zeros(11), 5, 3),
    "cvrp, one route": delivering(_points(15), _demand(14), 1_000, 1),
    "cvrp, one route and an empty one": delivering(_points(15), _demand(14), 1_000, 2),
    "cvrp, full vehicles": delivering(_points(17), torch.tensor(4 * [2, 2, 3, 5]), 12, 4),
}
