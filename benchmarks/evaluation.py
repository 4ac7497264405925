"""Where the time of `dact evaluate` goes besides its steps: one line for each stage.

    python benchmarks/evaluation.py tsp100.npz --steps 1000                  on a GPU; twice, for compiled kernels
    python benchmarks/evaluation.py tsp100.npz --rows 10000 --steps 0        on a CPU: everything but steps
    python benchmarks/evaluation.py tsp100.npz --steps 8 --calls prepare     what a stage calls, by cumulative time

Seconds are by the clock, with the device waited for after every stage, and of CPU time of this process. What is left
after importing, starting CUDA and the first build is `main` to the last checked answer. Settings of a solve go in by
`--set search=hybrid`.
"""

import argparse
import cProfile
import pstats
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

STAGES = {
    "reading": "dact.cli.evaluating.read_set",
    "building": "dact.pipeline.Pipeline.build",
    "collating": "dact.problems.PROBLEM.collate_set",
    "moving": "dact.problems.Batch.to",
    "starts": "dact.pipeline.Pipeline.starts",
    "prepare": "dact.search.SEARCHER.prepare",
    "steps": "dact.search.SEARCHER.advance",
    "judging": "dact.pipeline.Found.costs",
    "hashing": "dact.evaluation.evaluate.fingerprint",
    "writing": "dact.evaluation.results_file.ResultsFile.add",
}
"""What is timed. Names in capitals stand for what the set and the search need."""


class Clock:
    """Seconds of stages; a stage inside another counts for itself alone."""

    def __init__(self, calls: str | None) -> None:
        self.spent: dict[str, list[float]] = {}
        self.profile, self.profiled = cProfile.Profile(), calls
        self.inside: list[list[float]] = []

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same function, with its time counted."""

        @wraps(work)
        def run(*arguments: object, **options: object) -> object:
            watched = self.profiled == name
            began, inner = self.now(), [0.0, 0.0]
            self.inside.append(inner)
            if watched:
                self.profile.enable()
            try:
                return work(*arguments, **options)
            finally:
                if watched:
                    self.profile.disable()
                self.inside.pop()
                took = [now - before for now, before in zip(self.now(), began, strict=True)]
                total = self.spent.setdefault(name, [0.0, 0.0])
                for kind in range(2):
                    total[kind] += took[kind] - inner[kind]
                    if self.inside:
                        self.inside[-1][kind] += took[kind]

        return run

    def now(self) -> tuple[float, float]:
        """By the clock, and CPU time."""
        import torch

        if torch.cuda.is_initialized():
            torch.cuda.synchronize()
        return time.perf_counter(), time.process_time()


def places(problem: str, searcher: type) -> dict[str, tuple[object, str]]:
    """Where the functions of the stages are found."""
    import importlib

    from dact.problems import PROBLEMS

    stand_ins = {"PROBLEM": type(PROBLEMS[problem]), "SEARCHER": searcher}
    found: dict[str, tuple[object, str]] = {}
    for stage, path in STAGES.items():
        module, *rest = path.rsplit(".", 2) if path.split(".")[-2][0].isupper() else path.rsplit(".", 1)
        owner: object = importlib.import_module(module)
        for part in rest[:-1]:
            owner = stand_ins.get(part) or getattr(owner, part)
        found[stage] = owner, rest[-1]
    return found


def main() -> None:
    """Evaluate once or twice, and print the table of the last time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--out", type=Path, help="Keep results there, as `dact evaluate --out` does.")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE")
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--calls", choices=STAGES)
    options = parser.parse_args()
    began = time.perf_counter(), time.process_time()
    import torch

    import dact.cli.evaluating as evaluating
    from dact.evaluation import evaluate
    from dact.pipeline import Pipeline, SolveConfig

    show("importing", time.perf_counter() - began[0], time.process_time() - began[1])
    began = time.perf_counter(), time.process_time()
    if torch.cuda.is_available():
        torch.zeros(1, device="cuda")
        torch.cuda.synchronize()
    show("starting the device", time.perf_counter() - began[0], time.process_time() - began[1])
    settings = dict(each.split("=") for each in options.set)
    config = SolveConfig.flat(steps=options.steps, **settings)
    first = evaluating.read_set(options.file)
    began = time.perf_counter(), time.process_time()
    searcher = type(Pipeline.build(first.problem, first.customers, config, steady=True).searcher)
    show("first build, with imports", time.perf_counter() - began[0], time.process_time() - began[1])
    for _ in range(1 + options.twice):
        clock = Clock(options.calls)
        with ExitStack() as patches:
            for stage, (owner, name) in places(first.problem, searcher).items():
                wrapped = clock.timed(stage, getattr(owner, name))
                patches.enter_context(patch.object(owner, name, wrapped))
            start = clock.now()
            done = evaluate(evaluating.read_set(options.file), config, rows=options.rows, out=options.out)
            whole = [now - before for now, before in zip(clock.now(), start, strict=True)]
    for stage in STAGES:
        show(stage, *clock.spent.get(stage, (0.0, 0.0)))
    show("the rest", *(all_ - sum(each[kind] for each in clock.spent.values()) for kind, all_ in enumerate(whole)))
    show("from main to the answers", *whole)
    print(f"{done.instances} instances, mean cost {done.mean_cost:.6f}, blocks of {done.rows}")
    if options.calls:
        pstats.Stats(clock.profile).sort_stats("cumulative").print_stats(40)


def show(what: str, seconds: float, cpu: float) -> None:
    """A line of the table."""
    print(f"{what:<26}{seconds:9.3f} s {cpu:9.3f} s CPU", flush=True)


if __name__ == "__main__":
    main()
