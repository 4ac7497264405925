"""Benchmark sections of what a step does besides the encoder: looking at tours, picking moves, making them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from harness import CHECKED, DEVICE, Bench, distance, milliseconds, reference_milliseconds
from layers import time_of
from torch import Tensor

from dact.kernels.make_move import KERNELS, make_move_reference
from dact.kernels.pair_logits import Aggregation
from dact.kernels.pick_move import pick_move_reference
from dact.kernels.row_draws import new_streams
from dact.kernels.tour_view import tour_view_reference
from dact.problems import PROBLEMS, Batch
from dact.search import start_state

DTYPES = {"float16": torch.float16, "tf32": torch.float32}


def random_network() -> Aggregation:
    """Aggregation weights."""
    shapes = ((32, 8), (32,), (32, 32), (32,), (1, 32), (1,))
    return Aggregation(*(torch.randn(shape, device=DEVICE) * shape[-1] ** -0.5 for shape in shapes))


def _instances(problem_name: str, size: int, rows: int) -> tuple[Batch, Tensor]:
    """Random instances and tours; long tours of the CVRP are long with their depots."""
    generator, problem = torch.Generator(DEVICE).manual_seed(0), PROBLEMS[problem_name]
    customers = {248: 200, 1056: 1000}.get(size, size) if problem_name == "cvrp" else size
    batch = problem.sample(customers, rows, generator)
    return batch, problem.random_start(batch, new_streams(rows, generator))


def viewing(bench: Bench, size: int) -> None:
    """Features and loads; the error is that of the features."""
    from dact.kernels.tour_view.triton_impl import tour_view_triton

    for name, problem in PROBLEMS.items():
        batch, tour = _instances(name, size, bench.rows)
        assert problem.view is not None
        view = partial(tour_view_triton, tour, batch, problem.view)
        reference = partial(tour_view_reference, tour, batch, problem.view)
        error = distance(view()[0], reference()[0])
        took = milliseconds(reference, 5)
        bench.add("tour_view", bench.rows, batch.length, "-", error, took, time_of(view, bench.rows), name)


def picking(bench: Bench, size: int) -> None:
    """Logits, mask and draw; the error is the share of moves that differ from the reference's."""
    for problem in PROBLEMS:
        for idle in (True, False):
            _picking(bench, problem, size, idle)


def _picking(bench: Bench, problem_name: str, size: int, idle: bool) -> None:
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    batch, tour = _instances(problem_name, size, bench.rows)
    feasible = tour_view_reference(tour, batch, str(PROBLEMS[problem_name].view), idle)[1]
    network, last = random_network(), tour[:, :2].contiguous()
    query = torch.randn(2, bench.rows, batch.length, 256, device=DEVICE) / 8
    key = torch.randn(2, bench.rows, batch.length, 64, device=DEVICE)
    draw = torch.rand(2, bench.rows, device=DEVICE, dtype=torch.float64)

    def pick(n: int, maker: Callable[..., Tensor], q: Tensor, k: Tensor, **settings: object) -> Tensor:
        state = {"tour_BN": tour[:n], "last_move_B2": last[:n], "draw_2B": draw[:, :n], "feasible": feasible.rows(n)}
        return maker(q[:, :n], k[:, :n], network, clip=6.0, **state, **settings)

    took = reference_milliseconds(bench.rows, lambda n: pick(n, pick_move_reference, query, key))
    some = min(bench.rows, 8 * CHECKED)
    expected = pick(some, pick_move_reference, query, key)
    for dtype, launch in _launches(bench.sweep):
        q, k = query.to(DTYPES[dtype]), key.to(DTYPES[dtype])
        try:
            error = float((pick(some, pick_move_triton, q, k, launch=launch) != expected).any(1).double().mean())
            kernel = time_of(partial(pick, bench.rows, pick_move_triton, q, k, launch=launch), bench.rows)
        except Exception as fault:
            print(f"pick_move {size} {launch}: {type(fault).__name__} {str(fault)[:300]}", flush=True)
            continue
        names = "" if launch is None else " ".join(f"{key} {value}" for key, value in launch._asdict().items())
        note = f"{problem_name}{'' if idle else ' without idle moves'} {names}"
        bench.add("pick_move", bench.rows, batch.length, dtype, error, took, kernel, note)


def _launches(sweep: bool) -> Iterator[tuple[str, Any]]:
    """The usual launch in two precisions, and others to try."""
    from dact.kernels.pick_move.triton_impl import Launch

    yield from (("float16", None), ("tf32", None))
    if not sweep:
        return
    for warps in (2, 4):
        for firsts in (8, 4):
            for stages in (1, 2, 3):
                yield "float16", Launch(warps=warps, firsts=firsts, stages=stages)
    for warps, firsts, registers in ((1, 8, None), (8, 8, None), (8, 4, 128), (2, 4, 168), (4, 4, 168), (4, 8, 168)):
        yield "float16", Launch(warps=warps, firsts=firsts, registers=registers)
    for warps in (1, 2, 4):
        yield "float16", Launch(warps=warps, seconds=32, firsts=4)


def moving(bench: Bench, size: int) -> None:
    """Operator, cost, incumbent, restart; the error is the share of rows whose tour differs."""
    from dact.kernels.make_move.triton_impl import make_move_triton

    batch, tour = _instances("tsp", size, bench.rows)
    state = start_state(tour, batch.cost(tour), torch.zeros(bench.rows, dtype=torch.long, device=DEVICE))
    generator = torch.Generator(DEVICE).manual_seed(1)
    move = torch.randint(0, size, (bench.rows, 2), device=DEVICE, generator=generator)
    for operator, name in KERNELS.items():
        settings = (state, move, batch, operator, 250)
        expected = make_move_reference(*settings)
        took = milliseconds(partial(make_move_reference, *settings), 5)
        error = float((make_move_triton(*settings).tour_BN != expected.tour_BN).any(1).double().mean())
        kernel = time_of(partial(make_move_triton, *settings), bench.rows)
        bench.add("make_move", bench.rows, size, "-", error, took, kernel, name)
