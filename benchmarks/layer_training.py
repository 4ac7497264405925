"""Training the encoder: three layers with gradients, by modules in TF32 and by kernels in float16.

    python benchmarks/layer_training.py             both passes at all sizes, and what each kernel takes
    python benchmarks/layer_training.py --sweep     also other launches of the backward kernels

Columns: rows B, tour length N, largest relative distance of a parameter's gradient from float32's (of the result, for
the forward pass alone), milliseconds of modules in TF32 and of kernels, their ratio; in the note, the distance of
TF32's own gradients and kernels launched. Times are those of a CUDA graph, as training runs.
With TRITON_INTERPRET=1 it runs without a GPU, which tests the script and nothing else.
"""

import argparse
import os
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from harness import DEVICE, Bench, compile_ahead, distance, milliseconds, report, wait

from dact.kernels.dual_layer import backward, forward, projection
from dact.kernels.dual_layer.forward import Launch
from dact.kernels.dual_layer.training import encode_triton, encode_without_gradients
from dact.policy.encoders import DualAspectEncoder, EncoderConfig

HEADS = 4
SOME = 96
"""Rows that are compared and compiled for: as many programs as with more, and kernels are compiled for their number."""
LAUNCHES: dict[str, tuple[tuple[object, str, Launch], ...]] = {
    "any": (
        (backward, "FEED_FORWARD", Launch(128, 8, 1)),
        (projection, "PROJECT", Launch(64, 8, 2)),
        (projection, "PROJECT", Launch(128, 8, 1)),
        (projection, "PROJECT", Launch(64, 4, 3)),
    ),
    "short": (
        (forward, "SHORT", Launch(64, 4, 2)),
        (backward, "SHORT_ATTENTION", Launch(64, 4, 2)),
        (backward, "SHORT_ATTENTION", Launch(64, 8, 1)),
        (backward, "SHORT_ATTENTION", Launch(64, 4, 1, 168)),
        (backward, "SHORT_ATTENTION", Launch(64, 4, 2, 168)),
        (backward, "SHORT_ATTENTION", Launch(64, 4, 1, 128)),
        (backward, "FEED_FORWARD", Launch(64, 8, 2)),
        (backward, "FEED_FORWARD", Launch(64, 4, 2)),
    ),
    "long": (
        (forward, "LONG", Launch(128, 8, 2)),
        (backward, "LONG_ATTENTION", Launch(128, 8, 2)),
    ),
}
"""Other launches, each in the place of the one of its name."""


class Case:
    """An encoder of three layers, its inputs and a gradient for its result."""

    def __init__(self, rows: int, size: int) -> None:
        torch.manual_seed(0)
        self.encoder = DualAspectEncoder(2, EncoderConfig()).to(DEVICE)
        self.features = torch.rand(rows, size, 2, device=DEVICE)
        self.place = torch.randn(size, 64, device=DEVICE)
        self.grad = torch.randn(2, rows, size, 64, device=DEVICE) / rows
        self.weights = (self.encoder.embed.weight, *(x for layer in self.encoder.weights() for x in layer))

    def modules(self, rows: int | None = None) -> Tensor:
        """Aspects of some rows in float32 or TF32."""
        aspects: Tensor = self.encoder(self.features[:rows], self.place)
        return aspects

    def kernels(self, rows: int | None = None) -> Tensor:
        """Aspects of some rows in float16."""
        inputs = (self.features[:rows], self.place, self.encoder.embed.weight, self.encoder.weights())
        make = encode_triton if torch.is_grad_enabled() else encode_without_gradients
        aspects: Tensor = make(*inputs, HEADS, torch.float16)
        return aspects

    def gradients(self, encode: Callable[[int | None], Tensor], rows: int | None = None) -> tuple[Tensor, ...]:
        """Of all weights, through one of the two."""
        return torch.autograd.grad(encode(rows), self.weights, self.grad[:, :rows])


@contextmanager
def products(precision: str) -> Iterator[None]:
    """How PyTorch rounds products of float32 matrices inside: `highest` or `high`."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    yield
    torch.set_float32_matmul_precision(before)


def graph_milliseconds(work: Callable[[], object]) -> float:
    """Median time of a captured call."""
    if DEVICE == "cpu":
        return milliseconds(work)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(2):
            work()
    wait()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return milliseconds(graph.replay)


def launches(work: Callable[[], object]) -> Counter[str]:
    """Microseconds of each kernel of a call, by name; under `kernels`, how many there were."""
    taken: Counter[str] = Counter()
    if DEVICE == "cpu":
        return taken
    work()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        work()
        wait()
    for event in profile.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            taken[event.name[:60]] += round(event.device_time)
            taken["kernels"] += 1
    return taken


def compare(bench: Bench, size: int) -> None:
    """Both passes of both forms; then what the kernels of one call take."""
    case, rows = Case(bench.training_rows, size), bench.training_rows
    some = min(rows, SOME)
    with products("highest"):
        truth, gradients = case.modules(some).detach(), case.gradients(case.modules, some)
    with products("high"):
        error = distance(case.gradients(case.kernels, some), gradients)
        plain = distance(case.gradients(case.modules, some), gradients)
        counts = [launches(lambda form=form: case.gradients(form)) for form in (case.modules, case.kernels)]  # type: ignore[misc]
        note = f"tf32 {plain:.1e}, {counts[0]['kernels']} -> {counts[1]['kernels']} kernels"
        with torch.no_grad():
            times = [graph_milliseconds(form) for form in (case.modules, case.kernels)]
            bench.add("encoder, acting", rows, size, "float16", distance(case.kernels(some), truth), *times)
        times = [graph_milliseconds(form) for form in (case.modules, case.kernels)]
        bench.add("encoder, forward", rows, size, "float16", distance(case.kernels(some).detach(), truth), *times)
        times = [graph_milliseconds(lambda form=form: case.gradients(form)) for form in (case.modules, case.kernels)]  # type: ignore[misc]
        bench.add("encoder, forward + backward", rows, size, "float16", error, *times, note)
    for name, microseconds in counts[1].most_common():
        print(f"    {microseconds:>7} {name}", flush=True)
    if bench.sweep:
        sweep(bench, case, size, gradients, times[0])


def sweep(bench: Bench, case: Case, size: int, gradients: tuple[Tensor, ...], took: float) -> None:
    """One launch changed at a time."""
    some = min(bench.training_rows, SOME)
    for module, name, launch in (*LAUNCHES["any"], *LAUNCHES["short" if size <= 64 else "long"]):
        before = getattr(module, name)
        setattr(module, name, launch)
        try:
            error = distance(case.gradients(case.kernels, some), gradients)
            kernel = graph_milliseconds(lambda: case.gradients(case.kernels))
            bench.add(
                "  launched otherwise", bench.training_rows, size, "float16", error, took, kernel, f"{name} {launch}"
            )
        except Exception as fault:
            print(f"{name} {launch}: {type(fault).__name__} {str(fault)[:300]}", flush=True)
        setattr(module, name, before)


def main() -> None:
    """Parse, compile, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", type=int, default=[100, 20, 50, 120])
    parser.add_argument("--rows", type=int, default=0, help="for the shared harness; not used")
    parser.add_argument("--training-rows", type=int, default=2_400)
    parser.add_argument("--sweep", action="store_true")
    parser.add_argument("--ahead", choices=("yes", "no"), default="yes", help="compile in parallel first")
    options = parser.parse_args()
    if DEVICE == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        raise SystemExit("this needs a CUDA device")
    if options.ahead == "yes" and DEVICE == "cuda":
        some = ["--training-rows", str(SOME), *["--sweep"] * options.sweep]
        compile_ahead(__file__, [["--sizes", str(size), *some] for size in options.sizes])
    bench = Bench(options.rows, options.training_rows, options.sizes, options.sweep, time.monotonic())
    for size in options.sizes:
        try:
            compare(bench, size)
        except Exception:
            print(f"size {size} failed:\n{traceback.format_exc()[-2500:]}", flush=True)
        if DEVICE == "cuda":
            torch.cuda.empty_cache()
    report(bench)


if __name__ == "__main__":
    main()
