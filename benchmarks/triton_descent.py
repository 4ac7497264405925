"""What a descent costs in Triton: the best of all 2-opt and or-opt moves of a tour, again and again, beside CUDA C.

    python benchmarks/triton_descent.py --rows 10000          on a GPU
    TRITON_INTERPRET=1 python benchmarks/triton_descent.py --rows 4 --size 20

A program owns a row and holds its coordinates in tour order, so that the differences of all pairs of positions are
broadcasts of shifted vectors. One iteration scans all pairs of all kinds of moves and makes the best one. The CUDA C
form looks at one node after another and only at those whose neighbours have changed. docs/log.md has the comparison.
"""

# ruff: noqa: ANN001, ANN201, ANN202
import argparse
import os
import time

import torch
import triton
import triton.language as tl
from torch import Tensor

from dact.kernels import descent
from dact.kernels.row_draws import streams
from dact.problems import PROBLEMS
from dact.search.hybrid import terrain_of

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = torch.device("cpu" if INTERPRETED else "cuda")


@triton.jit
def _at(xy_ptr, place, size):
    """Coordinates at places, which may be up to a tour beyond either end."""
    place = (place + size) % size
    return tl.load(xy_ptr + 2 * place), tl.load(xy_ptr + 2 * place + 1)


@triton.jit
def _far(ax, ay, bx, by):
    x, y = ax - bx, ay - by
    return tl.sqrt(x * x + y * y)


@triton.jit
def _crossed(ax, ay, bx, by):
    """(N, N) distances of all pairs."""
    return _far(ax[:, None], ay[:, None], bx[None, :], by[None, :])


@triton.jit
def _better(gain, kind, best_gain, best_kind, best_pair, N: tl.constexpr):
    """The best so far and the best of these gains; of equal ones the first."""
    flat = tl.reshape(gain, (N * N,))
    top = tl.max(flat, 0)
    pair = tl.argmax(flat, 0)
    ahead = top > best_gain
    return tl.where(ahead, top, best_gain), tl.where(ahead, kind, best_kind), tl.where(ahead, pair, best_pair)


@triton.jit
def descend(xy_ptr, spare_ptr, count_ptr, size, most, least, N: tl.constexpr):
    """Descend one row: its coordinates in tour order are replaced by those of a local optimum."""
    row = tl.program_id(0)
    xy_ptr += row * size * 2
    spare_ptr += row * size * 2
    place = tl.arange(0, N)
    i, j = place[:, None], place[None, :]
    made = 0
    going = most > 0
    while going:
        px, py = _at(xy_ptr, place, size)
        nx, ny = _at(xy_ptr, place + 1, size)
        lx, ly = _at(xy_ptr, place - 1, size)
        leg = _far(px, py, nx, ny)
        # 2-opt: places i + 1 to j turned around.
        gain = leg[:, None] + leg[None, :] - _crossed(px, py, px, py) - _crossed(nx, ny, nx, ny)
        gain = tl.where((i + 1 < j) & (j < size), gain, -1.0)
        best_gain, best_kind, best_pair = _better(gain, 0, least, -1, 0, N)
        # or-opt: `length` places from i on go between j and j + 1, either way round.
        for length in tl.static_range(1, 4):
            ex, ey = _at(xy_ptr, place + length - 1, size)
            fx, fy = _at(xy_ptr, place + length, size)
            freed = _far(lx, ly, px, py) + _far(ex, ey, fx, fy) - _far(lx, ly, fx, fy)
            kept = freed[:, None] + leg[None, :]
            ahead = (j - i + size) % size
            there = (i < size) & (j < size) & (ahead >= length) & (ahead < size - 1)
            straight = kept - _crossed(px, py, px, py) - _crossed(ex, ey, nx, ny)
            turned = kept - _crossed(ex, ey, px, py) - _crossed(px, py, nx, ny)
            straight = tl.where(there, straight, -1.0)
            best_gain, best_kind, best_pair = _better(straight, 2 * length, best_gain, best_kind, best_pair, N)
            turned = tl.where(there, turned, -1.0)
            best_gain, best_kind, best_pair = _better(turned, 2 * length + 1, best_gain, best_kind, best_pair, N)
        a, b = best_pair // N, best_pair % N
        length = best_kind // 2
        # Where the node of each place was before the move. An or-opt is written from the moved places on.
        turn = tl.where((place > a) & (place <= b), a + 1 + b - place, place)
        between = (b - a - length + size) % size + 1
        moved = tl.where(best_kind % 2 == 1, a + length - 1 - (place - between), a + place - between)
        shift = tl.where(place < between, a + length + place, moved)
        shift = tl.where(place >= between + length, a + place, shift)
        source = tl.where(best_kind == 0, turn, shift)
        sx, sy = _at(xy_ptr, source, size)
        going = best_kind >= 0
        if going:
            made += 1
            going = made < most
            tl.store(spare_ptr + 2 * place, sx, place < size)
            tl.store(spare_ptr + 2 * place + 1, sy, place < size)
            tl.debug_barrier()
            cx, cy = _at(spare_ptr, place, size)
            tl.store(xy_ptr + 2 * place, cx, place < size)
            tl.store(xy_ptr + 2 * place + 1, cy, place < size)
            tl.debug_barrier()
    tl.store(count_ptr + row, made)


def length_of(xy_BN2: Tensor) -> Tensor:
    """(B,) lengths of closed tours."""
    return (xy_BN2 - xy_BN2.roll(-1, 1)).double().norm(dim=2).sum(1)


def timed(function: object, *arguments: object) -> float:
    """Seconds of a call."""
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    began = time.perf_counter()
    function(*arguments)  # type: ignore[operator]
    if DEVICE.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began


def main() -> None:
    """Both forms from the same greedy tours."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=100)
    told = parser.parse_args()
    problem = PROBLEMS["tsp"]
    batch = problem.sample(told.size, told.rows, torch.Generator().manual_seed(3))
    tour_BN, batch = problem.greedy_start(batch).to(DEVICE), batch.to(DEVICE)
    start_BN2 = batch.coordinates_BN2.gather(1, tour_BN.unsqueeze(2).expand(-1, -1, 2)).contiguous()
    count_B = torch.zeros(told.rows, dtype=torch.int32, device=DEVICE)
    padded = triton.next_power_of_2(told.size)
    print(f"greedy: {length_of(start_BN2).mean():.4f}")

    def by_triton(xy_BN2: Tensor, most: int, warps: int) -> None:
        spare = torch.empty_like(xy_BN2)
        descend[(told.rows,)](xy_BN2, spare, count_B, told.size, most, 1e-6 * 8, N=padded, num_warps=warps)

    for warps in (4, 8, 16):
        by_triton(start_BN2.clone(), 0, warps)
        xy_BN2 = start_BN2.clone()
        seconds = timed(by_triton, xy_BN2, 10_000, warps)
        assert torch.equal(xy_BN2.sum(2).sort(1).values, start_BN2.sum(2).sort(1).values), "nodes were lost"
        scans = int(count_B.sum()) + told.rows
        print(
            f"Triton, {warps} warps a row: {length_of(xy_BN2).mean():.4f} in {1e3 * seconds:.2f} ms, "
            f"{scans / told.rows:.1f} scans a row, {1e6 * seconds / scans:.4f} us a scan of a row",
            flush=True,
        )
    terrain = terrain_of(batch, tour_BN, 10)
    kinds = descent.codes(("two_opt", "or_opt"), routes=False)
    row_B = torch.arange(told.rows, device=DEVICE)
    for _ in range(2):
        rows = descent.start_rows(terrain, tour_BN, row_B, streams(1, range(told.rows), DEVICE))
        launch = descent.Launch(
            terrain=terrain,
            rows=rows,
            codes_V=torch.tensor(kinds, dtype=torch.int32, device=DEVICE),
            cuts=descent.cuts(kinds),
            settings=descent.KickConfig(kick="bridge", reach=1.0),
            rounds=0,
            looks=100_000,
        )
        seconds = timed(descent.launch, launch)
    looks, moves = rows.count_R6[:, 2].double().mean(), rows.count_R6[:, 1].double().mean()
    print(
        f"{'CUDA C' if DEVICE.type == 'cuda' else 'Numba'}: {rows.cost_R3[:, 2].mean():.4f} in {1e3 * seconds:.2f} ms, "
        f"{looks:.1f} looks and {moves:.1f} moves a row, {1e6 * seconds / told.rows:.4f} us a row"
    )


if __name__ == "__main__":
    main()
