"""What each neighbourhood brings to a local search: descents from greedy starts, and 100 rounds after them.

    python benchmarks/neighbourhoods.py               both problems, 64 instances of 100 customers, some minutes
    python benchmarks/neighbourhoods.py --count 8     a quick look

Gaps are percentages above the better tours of two runs of 500 rounds. `+-` is the standard error of the
difference from the usual neighbourhoods on the same instances. Milliseconds are CPU time of a row, in one thread.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from dact.kernels.descent import launch
from dact.kernels.descent.job import KickConfig, Launch, Terrain, start_rows, tour_cost
from dact.kernels.descent.moves import USUAL, codes, cuts
from dact.kernels.descent.terrain import make_terrain
from dact.kernels.row_draws import streams
from dact.problems import PROBLEMS

SIZE, NEIGHBOURS, ROUNDS, LONG = 100, 20, 100, 500
KICKS = (KickConfig(kick="ruin", size=5, window=10), KickConfig(kick="pairs", size=16))
LARGER = ("swap_2_1", "swap_2_2")
CHOICES: dict[str, tuple[str, ...]] = {
    "usual": USUAL,
    **{f"without {name}": tuple(other for other in USUAL if other != name) for name in USUAL},
    **{f"{name} alone": (name,) for name in USUAL},
    **{f"with {name}": (*USUAL, name) for name in LARGER},
    "with both": (*USUAL, *LARGER),
}


class Run(NamedTuple):
    """What came of some rounds."""

    cost_R: Tensor
    moves: float
    """Of a row, in all."""
    milliseconds: float


def search(terrain: Terrain, tour_RN: Tensor, neighbourhoods: tuple[str, ...], kick: KickConfig, rounds: int) -> Run:
    """One row for each instance."""
    source_R = torch.arange(len(tour_RN))
    rows = start_rows(terrain, tour_RN, source_R, streams(0, range(len(tour_RN)), "cpu"))
    kinds = codes(neighbourhoods, routes=terrain.depots > 0)
    moves = {"codes_V": torch.tensor(kinds, dtype=torch.int32), "cuts": cuts(kinds)}
    work = Launch(terrain=terrain, rows=rows, **moves, settings=kick, rounds=rounds, looks=10_000)
    began = time.process_time()
    while not rows.done(rounds).all():
        launch(work)
    took = (time.process_time() - began) * 1e3 / len(tour_RN)
    return Run(tour_cost(terrain, rows.best_RN, source_R), float(rows.count_R6[:, 1].float().mean()), took)


def cell(cost_R: Tensor, usual_R: Tensor, best_R: Tensor) -> str:
    """The gap, and the standard error of its difference from the usual one."""
    difference_R = 100 * (cost_R - usual_R) / best_R
    error = float(difference_R.std()) / len(difference_R) ** 0.5
    return f"{100 * float((cost_R / best_R - 1).mean()):.2f}" + (f" +-{error:.2f}" if error else "")


def table(problem_name: str, count: int) -> None:
    """Print the rows of one problem."""
    problem = PROBLEMS[problem_name]
    batch = problem.sample(SIZE, count, torch.Generator().manual_seed(16))
    start_RN = problem.greedy_start(batch)
    terrain = make_terrain(
        batch.coordinates_BN2, batch.demand_BN, batch.capacity_B, batch.depots,
        neighbours=NEIGHBOURS, start_cost_I=batch.cost(start_RN),
    )  # fmt: skip
    launch_once(terrain, start_RN)
    best_R = torch.stack([search(terrain, start_RN, USUAL, kick, LONG).cost_R for kick in KICKS]).amin(0)
    start_R = tour_cost(terrain, start_RN, torch.arange(count))
    print(f"\n{problem_name}{SIZE}, {count} instances; greedy starts {cell(start_R, start_R, best_R)} %\n")
    names = ("neighbourhoods", "descent", "moves", "ms")
    print("| " + " | ".join((*names, *(f"{ROUNDS} rounds, {k.kick} | moves | ms" for k in KICKS))) + " |")
    print("|" + "---|" * (len(names) + 3 * len(KICKS)))
    usual: list[Tensor] = []
    for name, chosen in CHOICES.items():
        if not terrain.depots and "two_opt_star" in name:
            continue
        runs = [search(terrain, start_RN, chosen, KICKS[0], 0)]
        runs += [search(terrain, start_RN, chosen, kick, ROUNDS) for kick in KICKS]
        usual = usual or [run.cost_R for run in runs]
        cells = [
            f"{cell(run.cost_R, base_R, best_R)} | {run.moves:.0f} | {run.milliseconds:.2f}"
            for run, base_R in zip(runs, usual, strict=True)
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def launch_once(terrain: Terrain, start_RN: Tensor) -> None:
    """Compile before anything is timed."""
    search(terrain, start_RN, USUAL, KICKS[0], 1)


def main() -> None:
    """All problems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=64)
    count = parser.parse_args().count
    for problem_name in PROBLEMS:
        table(problem_name, count)


if __name__ == "__main__":
    main()
