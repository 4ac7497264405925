"""Check every kernel against its reference on this GPU, then time both, and print a table.

    python benchmarks/kernels.py                 everything, in about two minutes
    python benchmarks/kernels.py --only engine   one section
    python benchmarks/kernels.py --sweep         also try other launches of two kernels

A section that fails is reported and the others go on. Kernels are compiled beforehand by one process per section.
Columns: rows B, tour length N, relative error, milliseconds of reference and kernel (median of 20), their ratio.
With TRITON_INTERPRET=1 it runs without a GPU, which tests the script and nothing else.
"""

import argparse
import math
import os
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from harness import CHECKED, DEVICE, Bench, compile_ahead, distance, milliseconds, reference_milliseconds, report, wait

from dact.kernels.context import context_reference
from dact.kernels.dual_layer import dual_layer_reference
from dact.kernels.make_move import Costs, Search, make_move_reference
from dact.kernels.pair_logits import Aggregation, pair_logits_reference
from dact.kernels.pick_move import Capacity, pick_move_reference
from dact.policy import Policy, PolicyConfig
from dact.policy.encoders import DualAspectEncoder, EncoderConfig
from dact.problems import PROBLEMS, Batch, capacity
from dact.search import Engine, PlainEngine, SearchConfig, SearchState, start_state
from dact.search.engines.fused import FusedEngine
from dact.search.engines.fused_policy import layers_of
from dact.search.engines.graphed import GraphedEngine

DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "tf32": torch.float32, "ieee": torch.float32}


def random_network() -> Aggregation:
    """Aggregation weights."""
    shapes = ((32, 8), (32,), (32, 32), (32,), (1, 32), (1,))
    return Aggregation(*(torch.randn(shape, device=DEVICE) * shape[-1] ** -0.5 for shape in shapes))


def pair_forward(bench: Bench, size: int) -> None:
    """Pair logits, forward, for the search."""
    from dact.kernels.pair_logits.triton_impl import forward

    network = random_network()
    query, key = (torch.randn(bench.rows, 8, size, 64, device=DEVICE) / 4 for _ in range(2))
    took = reference_milliseconds(bench.rows, lambda n: pair_logits_reference(query[:n], key[:n], network))
    expected = pair_logits_reference(query[:CHECKED], key[:CHECKED], network)
    for name in ("float16", "tf32", "ieee"):
        dtype, precision = DTYPES[name], "ieee" if name == "ieee" else "tf32"
        q, k = query.to(dtype), key.to(dtype)
        error = distance(forward(q[:CHECKED], k[:CHECKED], network, dtype, precision), expected)
        kernel = milliseconds(partial(forward, q, k, network, dtype, precision))
        bench.add("pair_logits forward", bench.rows, size, name, error, took, kernel)


def pair_training(bench: Bench, size: int) -> None:
    """Pair logits, forward and backward, for training."""
    from dact.kernels.pair_logits.triton_impl import pair_logits_triton

    rows = bench.training_rows
    network = Aggregation(*(x.requires_grad_() for x in random_network()))
    query, key = ((torch.randn(rows, 8, size, 64, device=DEVICE) / 4).requires_grad_() for _ in range(2))
    incoming = torch.randn(rows, size, size, device=DEVICE)

    def gradients(n: int, logits: Callable[..., Tensor], *settings: object) -> tuple[Tensor, ...]:
        made = logits(query[:n], key[:n], network, *settings)
        return torch.autograd.grad(made, (query, key, *network), incoming[:n])

    expected = gradients(CHECKED, pair_logits_reference)
    took = reference_milliseconds(rows, lambda n: gradients(n, pair_logits_reference))
    for name in ("tf32", "bfloat16", "float16"):
        settings = (pair_logits_triton, DTYPES[name], "tf32")
        error = distance(gradients(CHECKED, *settings), expected)
        bench.add(
            "pair_logits fwd+bwd", rows, size, name, error, took, milliseconds(partial(gradients, rows, *settings))
        )


LAUNCHES = {
    20: ((2, 4, 1, None), (2, 4, 2, 168), (2, 4, 2, 128), (1, 2, 2, None), (4, 8, 2, None)),
    50: ((1, 4, 1, None), (1, 4, 2, 168), (1, 4, 2, 128), (2, 8, 2, None)),
    100: ((1, 8, 1, None), (1, 8, 3, None), (1, 8, 1, 128), (1, 8, 2, 128), (1, 4, 2, None)),
}
"""Other ways to launch the layer kernel: rows of a program, warps, stages, registers."""


def encoder_layer(bench: Bench, size: int) -> None:
    """One encoder layer."""
    from dact.kernels.dual_layer.triton_impl import Launch, dual_layer_triton, pack

    encoder = DualAspectEncoder(2, EncoderConfig(layers=1)).to(DEVICE).requires_grad_(False)
    layer = layers_of(encoder)[0]
    x = torch.randn(2, bench.rows, size, 64, device=DEVICE)
    expected = dual_layer_reference(x[:, :CHECKED], layer, heads=4)
    took = reference_milliseconds(bench.rows, lambda n: encoder.layers(x[:, :n].contiguous()))
    for name in ("float16", "bfloat16", "tf32"):
        packed, y = pack(layer, 4, DTYPES[name]), x.to(DTYPES[name])
        launches: list[tuple[int, int, int, int | None] | None] = [None]
        launches += LAUNCHES[size] if bench.sweep and name == "float16" else ()
        for each in launches:
            launch = each and Launch(group=each[0], warps=each[1], stages=each[2], registers=each[3])
            run = partial(dual_layer_triton, packed=packed, launch=launch)
            try:
                error = distance(run(y[0, :CHECKED], y[1, :CHECKED]), expected)
                kernel = milliseconds(partial(run, y[0], y[1]))
            except Exception as fault:
                print(f"dual_layer {size} {each}: {type(fault).__name__} {str(fault)[:300]}", flush=True)
                continue
            note = "" if each is None else f"group {each[0]} warps {each[1]} stages {each[2]} registers {each[3]}"
            bench.add("dual_layer", bench.rows, size, name, error, took, kernel, note)


def decoder_context(bench: Bench, size: int) -> None:
    """Contexts and queries."""
    from dact.kernels.context.triton_impl import context_triton

    matrices = [torch.randn(2, 64, width, device=DEVICE) / 8 for width in (64, 64, 256)]
    x = torch.randn(2, bench.rows, size, 64, device=DEVICE)
    expected = context_reference(x[:, :CHECKED], *matrices)
    took = reference_milliseconds(bench.rows, lambda n: context_reference(x[:, :n], *matrices))
    for name in ("float16", "tf32"):
        y, cast = x.to(DTYPES[name]), [matrix.to(DTYPES[name]) for matrix in matrices]
        error = distance(context_triton(y[:, :CHECKED], *cast), expected)
        bench.add("context", bench.rows, size, name, error, took, milliseconds(partial(context_triton, y, *cast)))


def picking(bench: Bench, size: int) -> None:
    """Logits, mask and draw; the error is the share of moves that differ from the reference's."""
    for problem in ("tsp", "cvrp"):
        _picking(bench, problem, size)


def _picking(bench: Bench, problem_name: str, size: int) -> None:
    from dact.kernels.pick_move.triton_impl import pick_move_triton

    generator, problem = torch.Generator(DEVICE).manual_seed(0), PROBLEMS[problem_name]
    batch = problem.sample(size, bench.rows, generator)
    tour = problem.random_start(batch, generator)
    loads = None
    if batch.depots:
        around = capacity.loads(batch, tour)
        low = (around.route_BN, around.depot_BN, around.before_BN, around.rest_BN)
        loads = Capacity(*low, around.until_BN, around.after_BN, batch.capacity_B)
    network, last = random_network(), tour[:, :2].contiguous()
    query = torch.randn(2, bench.rows, batch.length, 256, device=DEVICE) / 8
    key = torch.randn(2, bench.rows, batch.length, 64, device=DEVICE)
    draw = torch.rand(2, bench.rows, device=DEVICE, dtype=torch.float64)

    def pick(n: int, maker: Callable[..., Tensor], q: Tensor, k: Tensor, **settings: object) -> Tensor:
        some = None if loads is None else Capacity(*(x[:n] for x in loads))
        state = {"tour_BN": tour[:n], "last_move_B2": last[:n], "draw_2B": draw[:, :n], "feasible": some}
        return maker(q[:, :n], k[:, :n], network, clip=6.0, **state, **settings)

    took = reference_milliseconds(bench.rows, lambda n: pick(n, pick_move_reference, query, key))
    some = min(bench.rows, 8 * CHECKED)
    expected = pick(some, pick_move_reference, query, key)
    launches = [("float16", 4, 2), ("tf32", 4, 2)]
    launches += [("float16", 4, 1), ("float16", 4, 3), ("float16", 8, 2)] if bench.sweep else []
    for name, warps, stages in launches:
        q, k = query.to(DTYPES[name]), key.to(DTYPES[name])
        launch = {"warps": warps, "stages": stages}
        error = float((pick(some, pick_move_triton, q, k, **launch) != expected).any(1).double().mean())
        kernel = milliseconds(partial(pick, bench.rows, pick_move_triton, q, k, **launch))
        note = f"{problem_name} warps {warps} stages {stages}"
        bench.add("pick_move", bench.rows, batch.length, name, error, took, kernel, note)


def moving(bench: Bench, size: int) -> None:
    """Operator, cost, incumbent, restart; the error is the share of rows whose tour differs."""
    from dact.kernels.make_move.triton_impl import make_move_triton

    problem, generator = PROBLEMS["tsp"], torch.Generator(DEVICE).manual_seed(0)
    batch = problem.sample(size, bench.rows, generator)
    tour = problem.random_start(batch, generator)
    state = start_state(tour, batch.cost(tour))
    move = torch.randint(0, size, (bench.rows, 2), device=DEVICE, generator=generator)
    for operator in ("two_opt", "insert", "swap"):
        settings = (move, Costs(batch.coordinates_BN2, batch.scale_B), operator, 250)
        search = Search(*(getattr(state, name).clone() for name in Search._fields))
        expected = make_move_reference(search, *settings)
        took = milliseconds(partial(make_move_reference, search, *settings), 5)
        own = Search(*(x.clone() for x in search))
        error = float((make_move_triton(own, *settings).tour_BN != expected.tour_BN).any(1).double().mean())
        kernel = milliseconds(partial(make_move_triton, own, *settings))
        bench.add("make_move", bench.rows, size, "-", error, took, kernel, operator)


def engines(bench: Bench, size: int) -> None:
    """Whole searches of both problems."""
    for problem in ("tsp", "cvrp"):
        _engines(bench, problem, size)


def _engines(bench: Bench, problem_name: str, size: int) -> None:
    problem, generator = PROBLEMS[problem_name], torch.Generator(DEVICE).manual_seed(0)
    batch = problem.sample(size, bench.rows, generator)
    torch.manual_seed(0)
    policy = Policy(PolicyConfig(features=problem.features)).to(DEVICE).eval()
    tour = problem.random_start(batch, generator)
    begin, task = start_state(tour, batch.cost(tour)), (problem, policy, SearchConfig())
    contestants: dict[str, tuple[Callable[[], Engine], int]] = {
        "fused float16": (partial(FusedEngine, *task), 32),
        "fused tf32": (partial(FusedEngine, *task, precision="tf32"), 16),
        "graphed float16": (partial(GraphedEngine, *task, precision="float16"), 8),
        "graphed tf32": (partial(GraphedEngine, *task, precision="tf32"), 8),
        "plain float32": (partial(PlainEngine, *task), 4),
    }
    for label, (make, steps) in contestants.items():
        if time.monotonic() > bench.deadline and label != "fused float16":
            continue
        try:
            _engine(bench, f"{problem_name}{size} {label}", make(), batch, begin, steps)
        except Exception as fault:
            print(f"{problem_name}{size} {label}: {type(fault).__name__} {str(fault)[:800]}", flush=True)


def _engine(bench: Bench, label: str, engine: Engine, batch: Batch, begin: SearchState, steps: int) -> None:
    """Time some steps. The error is the largest difference of an incumbent's cost from plain PyTorch's."""
    generator = torch.Generator(DEVICE).manual_seed(1)
    state = engine.advance(batch, begin, 9, generator)
    wait()
    start = time.perf_counter()
    state = engine.advance(batch, state, steps, generator)
    wait()
    took = time.perf_counter() - start
    costs = batch.cost(state.incumbent_BN)
    error = float(((state.incumbent_cost_B - costs).abs() / costs).max())
    whole = state.incumbent_BN.sort(1).values == torch.arange(batch.length, device=DEVICE)
    sound = bool(whole.all()) and (not batch.depots or bool(capacity.feasible(batch, state.incumbent_BN).all()))
    memory = torch.cuda.max_memory_allocated() / 2**30 if DEVICE == "cuda" else math.nan
    rate = batch.rows * steps / took / 1e6
    note = f"{rate:.3f} M/s, mean {float(state.incumbent_cost_B.mean()):.4f}, {memory:.1f} GiB"
    note += "" if sound else ", UNSOUND TOURS"
    bench.add(label, batch.rows, batch.length, "-", error, math.nan, 1000 * took / steps, note)


SECTIONS: dict[str, Callable[[Bench, int], None]] = {
    "layer": encoder_layer,
    "picking": picking,
    "engine": engines,
    "training": pair_training,
    "context": decoder_context,
    "moving": moving,
    "pair": pair_forward,
}


def main() -> None:
    """Parse, compile, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--sizes", nargs="*", type=int, choices=LAUNCHES, default=[100, 20, 50])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--training-rows", type=int, default=2_400)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--budget", type=float, default=150, help="seconds after which slow engines are left out")
    parser.add_argument("--ahead", choices=("yes", "no"), default="yes", help="compile in parallel first")
    options = parser.parse_args()
    if DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        raise SystemExit("this needs a CUDA device")
    begun = time.monotonic()
    if options.ahead == "yes":
        jobs = [["--only", name, "--sizes", str(size)] for name in options.only for size in options.sizes]
        compile_ahead(__file__, [[*job, *["--sweep"] * options.sweep] for job in jobs])
        print(f"compiled after {time.monotonic() - begun:.0f} s", flush=True)
    deadline = begun + options.budget
    bench = Bench(options.rows, options.training_rows, options.sizes, options.sweep, deadline)
    for name in options.only:
        for size in options.sizes:
            try:
                torch.manual_seed(0)
                SECTIONS[name](bench, size)
            except Exception:
                print(f"section {name} {size} failed:\n{traceback.format_exc()[-2500:]}", flush=True)
            if DEVICE == "cuda":
                torch.cuda.empty_cache()
        print(f"-- {name} done after {time.monotonic() - begun:.0f} s", flush=True)
    report(bench)


if __name__ == "__main__":
    main()
