"""The commands of `dact bench` and their options."""

from pathlib import Path
from typing import Annotated

import typer

from dact.cli import options

bench = typer.Typer(help="Measure speed and precision.", no_args_is_help=True)


@bench.command("cpu")
def bench_cpu(
    threads: Annotated[int | None, typer.Option(help="Up to this many; default: all cores.")] = None,
    out: options.OutRows = None,
    as_json: options.Json = False,
) -> None:
    """Time a search step on this CPU and compare with the authors' code on two EPYC cores."""
    from dact.cli.bench_cpu import bench_on_cpu

    bench_on_cpu(threads, out, as_json=as_json)


@bench.command("search")
@options.with_settings(options.machine)
def bench_search(
    only: Annotated[list[str] | None, typer.Option(metavar="CASE", help="This case (and again for others).")] = None,
    file: Annotated[
        Path | None, typer.Option(help="Copies of this instance in the place of sampled ones of the nearest size.")
    ] = None,
    quick: Annotated[bool, typer.Option(help="Tiny cases, for machines without a GPU.")] = False,
    out: options.OutRows = None,
    as_json: options.Json = False,
    **settings: object,
) -> None:
    """Time a search step as `dact evaluate` makes it, check the answers, and compare with the authors' code."""
    from dact.cli.bench_searching import SearchRequest, bench_search
    from dact.pipeline import SolveConfig

    request = SearchRequest(only=tuple(only or ()), file=file, quick=quick)
    bench_search(request, SolveConfig.flat(**settings), out, as_json=as_json)


@bench.command("precision")
@options.with_settings(options.machine)
def bench_precision(
    against: Annotated[str, typer.Option(help="The precision to compare with.")] = "float32",
    count: Annotated[int, typer.Option(help="Instances of each problem.")] = 4000,
    steps: Annotated[int, typer.Option(help="For each instance.")] = 1000,
    seed: options.Seed = 0,
    quick: Annotated[bool, typer.Option(help="A few tiny instances; without a GPU, of two seeds.")] = False,
    out: options.OutRows = None,
    as_json: options.Json = False,
    **settings: object,
) -> None:
    """Solve the same TSP100 and CVRP100 instances in two precisions and compare the costs in pairs."""
    from dact.cli.bench_searching import bench_precision
    from dact.pipeline import SolveConfig

    one = SolveConfig.flat(steps=steps, seed=seed, **settings)
    bench_precision(one, against, count, out, quick=quick, as_json=as_json)


@bench.command("train")
def bench_train(
    config: Annotated[Path | None, typer.Option(help="Time this config instead of the paper's four batches.")] = None,
    quick: Annotated[bool, typer.Option(help="A tiny shape, for machines without a GPU.")] = False,
    out: options.OutRows = None,
    as_json: options.Json = False,
) -> None:
    """Time one batch of training (rollout and updates over a horizon) and compare with the authors' code."""
    from dact.cli.bench_training import bench_training

    bench_training(config, out, quick=quick, as_json=as_json)
