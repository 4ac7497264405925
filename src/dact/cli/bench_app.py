"""The commands of `dact bench` and their options."""

from pathlib import Path
from typing import Annotated, Any

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


def showing(
    count_as: Annotated[
        int | None, typer.Option(help="Scale CPU times to so many instances; said in the files.")
    ] = None,
    cores_as: Annotated[int | None, typer.Option(help="Scale CPU times to so many cores; said in the files.")] = None,
    cpu_time: Annotated[
        bool, typer.Option("--cpu-time", help="Show CPU time over cores, for a machine that others use, and say so.")
    ] = False,
    elsewhere: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="[NAME=]CSV", help="Show rows measured elsewhere too (and again for others)."),
    ] = None,
) -> None:
    """How `dact bench peers` shows its rows: fields of the same names in `PeersRequest`."""


@bench.command("peers")
@options.with_settings(showing)
def bench_peers(
    instances: Annotated[Path | None, typer.Argument(metavar="[SET]", help="A set with reference costs.")] = None,
    files: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Instead of a set: a folder or a pattern; each file has its time."),
    ] = None,
    seconds: Annotated[
        str | None, typer.Option(help="For the whole set, or each file; default: 1,3,10,30,100 (files: 1,10,60).")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="The first so many instances or files.")] = None,
    every: Annotated[
        int | None, typer.Option(metavar="K", help="With --files: a sample, every K-th file; its files say so.")
    ] = None,
    cores: Annotated[int | None, typer.Option(help="Default: all.")] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="SOLVER", help="hybrid, policy, ortools, pyvrp, hgs or lkh (and again for others)."),
    ] = None,
    references: Annotated[
        Path | None, typer.Option(metavar="NPZ", help="Reference costs of a set that has none in its file.")
    ] = None,
    best_known: Annotated[
        Path | None, typer.Option(metavar="CSV", help="With --files: best known values by name.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the files.")] = Path("out/peers"),
    device: options.Device = "auto",
    as_json: options.Json = False,
    **shown: Any,  # noqa: ANN401 - of the types that the options have
) -> None:
    """Run OR-Tools, PyVRP, HGS and LKH beside our searches: the same instances, time, machine and checker.

    Rows go to --out as they are measured; after Ctrl-C the same command goes on. `pip install 'dact\\[peers]'`.
    """
    from dact.cli.bench_peers import PeersRequest, bench_peers

    request = PeersRequest(
        instances=instances,
        files=files,
        seconds=seconds,
        limit=limit,
        every=every,
        cores=cores,
        only=tuple(only or ()),
        references=references,
        best_known=best_known,
        out=out,
        device=device,
        elsewhere=tuple(shown.pop("elsewhere") or ()),
        **shown,
    )
    raise typer.Exit(bench_peers(request, as_json=as_json))


@bench.command("hybrid")
def bench_hybrid(
    files: Annotated[
        list[Path] | None, typer.Argument(help="A set (.npz, .pkl) with or without references, or instances.")
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SETTINGS",
            help="usual, pairs, nearby, bridge, ruin, policy, or settings as kick=pairs,kick_size=8, with or without "
            "a name before them (small: kick_size=2); again for others. The first is the one to compare with.",
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="SETTING=V,V", help="Each variant with each of these values, as temperature=0,0.5,1."),
    ] = None,
    seconds: Annotated[str, typer.Option(help="Time limits, as 2,10; default: 10.")] = "",
    steps: Annotated[str, typer.Option(help="Rounds instead of seconds, as 1000,7000.")] = "",
    count: Annotated[
        int | None, typer.Option(help="Copies of a set's instances side by side; default: 10,000, on a CPU 64.")
    ] = None,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    kicks: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV", help="Instead of a search: the rows of benchmarks/learnt_kick.py, as table and picture."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A folder for hybrid.md, CSV files and hybrid.png.")] = None,
    as_json: options.Json = False,
) -> None:
    """Compare variants of the hybrid search: gap against wall-clock time, rates, and a descent by itself."""
    from dact.cli.bench_hybrid import HybridRequest, bench_hybrid
    from dact.cli.bench_kicks import bench_kicks
    from dact.instances import InputError

    if (kicks is None) == (not files):
        raise InputError("name a set or instances, or with --kicks a file of measured rows; one of the two")
    if kicks is not None:
        bench_kicks(kicks, out)
        return
    request = HybridRequest(
        files=tuple(files or ()),
        variants=tuple(variant or ()),
        vary=tuple(vary or ()),
        seconds=seconds,
        steps=steps,
        count=count,
    )
    raise typer.Exit(bench_hybrid(request, out, as_json=as_json, seed=seed, device=device))
