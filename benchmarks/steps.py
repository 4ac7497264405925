"""Where a search step's time goes, kernel by kernel, as `dact bench search` makes it.

    python benchmarks/steps.py tsp20 cvrp50         some cases; all without names
    python benchmarks/steps.py X-n1001-k43.vrp      a file in the place of the case of the nearest size

Milliseconds a step by PyTorch's profiler, launches a step, and their sum beside the time of the clock. Needs a GPU.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from dact import read
from dact.bench import SEARCH_CASES, SearchCase, with_file
from dact.pipeline import Pipeline, SolveConfig
from dact.search import start_state

STEPS = 40
SHOWN = 12


def chosen(names: Sequence[str]) -> list[SearchCase]:
    """The cases that were named, files among them."""
    cases, wanted = SEARCH_CASES, set()
    for name in names:
        path = Path(name)
        if path.suffix:
            cases = with_file(cases, replace(read(path), name=path.stem))
        wanted.add(path.stem)
    return [case for case in cases if not wanted or case.name in wanted]


def show(case: SearchCase, config: SolveConfig) -> None:
    """Print one table."""
    pipeline = Pipeline.build(case.problem, case.customers, replace(config, augment=case.augment))
    batch = case.batch(config.torch_device(), pipeline.problem)
    engine, (tour_BN, stream_R) = pipeline.searcher, pipeline.starts(batch, range(batch.rows))
    tour_BN = tour_BN.repeat_interleave(case.augment, dim=0)
    batch = batch.augmented(case.augment)
    state = start_state(tour_BN, batch.cost(tour_BN), stream_R)
    engine.prepare(batch, state)
    state = engine.advance(batch, state, STEPS)
    torch.cuda.synchronize()
    began = time.perf_counter()
    state = engine.advance(batch, state, STEPS)
    torch.cuda.synchronize()
    clock = 1000 * (time.perf_counter() - began) / STEPS
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        engine.advance(batch, state, STEPS)
        torch.cuda.synchronize()
    events = sorted(profiler.key_averages(), key=lambda event: -event.self_device_time_total)
    total = sum(event.self_device_time_total for event in events) / 1000 / STEPS
    print(f"{case.name}: {batch.rows} rows of {batch.length}, {clock:.3f} ms a step, kernels {total:.3f}")
    for event in events[:SHOWN]:
        each = event.self_device_time_total / 1000 / STEPS
        print(f"  {each:8.4f} ms  {100 * each / total:5.1f} %  {event.count / STEPS:6.2f}  {event.key[:80]}")


def main() -> None:
    """All cases that were asked for."""
    if not torch.cuda.is_available():
        sys.exit("benchmarks/steps.py needs a GPU")
    for case in chosen(sys.argv[1:]):
        show(case, SolveConfig(device="cuda"))


if __name__ == "__main__":
    main()
