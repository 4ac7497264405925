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
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from harness import CHECKED, DEVICE, Bench, compile_ahead, distance, milliseconds, reference_milliseconds, report, wait
from layers import decoder_context, encoder_layer
from moves import moving, picking, random_network, viewing

from dact.kernels.pair_logits import Aggregation, pair_logits_reference
from dact.kernels.row_draws import new_streams
from dact.policy import Policy, PolicyConfig
from dact.problems import PROBLEMS, Batch, capacity
from dact.search import Engine, PlainEngine, SearchConfig, SearchState, start_state
from dact.search.engines.fused import FusedEngine
from dact.search.engines.graphed import GraphedEngine

DTYPES = {"float16": torch.float16, "bfloat16": torch.bfloat16, "tf32": torch.float32, "ieee": torch.float32}


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


def engines(bench: Bench, size: int) -> None:
    """Whole searches of both problems; long tours of the CVRP are long with their depots."""
    _engines(bench, "tsp", size)
    _engines(bench, "cvrp", {248: 200, 1056: 1000}.get(size, size))


def _engines(bench: Bench, problem_name: str, size: int) -> None:
    problem, generator = PROBLEMS[problem_name], torch.Generator(DEVICE).manual_seed(0)
    batch = problem.sample(size, bench.rows, generator)
    torch.manual_seed(0)
    policy = Policy(PolicyConfig(features=problem.features)).to(DEVICE).eval()
    stream = new_streams(bench.rows, generator)
    tour = problem.random_start(batch, stream)
    begin, task = start_state(tour, batch.cost(tour), stream), (problem, policy, SearchConfig())
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
    state = engine.advance(batch, begin, 9)
    wait()
    start = time.perf_counter()
    state = engine.advance(batch, state, steps)
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
    "viewing": viewing,
    "moving": moving,
    "pair": pair_forward,
}


SIZES = {"layer": [100, 20, 50, 70, 120, 248, 1056], "engine": [100, 20, 50, 248, 1056]}
SIZES |= {"context": SIZES["layer"], "picking": SIZES["engine"], "viewing": SIZES["engine"]}
USUAL_SIZES = [100, 20, 50]
FEWER_ROWS = {248: 1_000, 1056: 8}
"""Of long tours, by length."""


def main() -> None:
    """Parse, compile, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--sizes", nargs="*", type=int, choices=SIZES["layer"], help="by default each section's own")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--training-rows", type=int, default=2_400)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--budget", type=float, default=150, help="seconds after which slow engines are left out")
    parser.add_argument("--ahead", choices=("yes", "no"), default="yes", help="compile in parallel first")
    options = parser.parse_args()
    if DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        raise SystemExit("this needs a CUDA device")
    begun = time.monotonic()
    work = [(name, size) for name in options.only for size in options.sizes or SIZES.get(name, USUAL_SIZES)]
    if options.ahead == "yes":
        jobs = [["--only", name, "--sizes", str(size)] for name, size in work]
        compile_ahead(__file__, [[*job, *["--sweep"] * options.sweep] for job in jobs])
        print(f"compiled after {time.monotonic() - begun:.0f} s", flush=True)
    deadline = begun + options.budget
    bench = Bench(options.rows, options.training_rows, options.sizes or USUAL_SIZES, options.sweep, deadline)
    for name, size in work:
        try:
            torch.manual_seed(0)
            SECTIONS[name](replace(bench, rows=min(options.rows, FEWER_ROWS.get(size, options.rows))), size)
        except Exception:
            print(f"section {name} {size} failed:\n{traceback.format_exc()[-2500:]}", flush=True)
        if DEVICE == "cuda":
            torch.cuda.empty_cache()
        print(f"-- {name} {size} done after {time.monotonic() - begun:.0f} s", flush=True)
    report(bench)


if __name__ == "__main__":
    main()
