"""The commands and their options.

What a command does is imported when it runs, and what needs PyTorch after its files are read: PyTorch takes two seconds
to load, for which neither --help nor the sentence about a bad file should wait.
"""

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dact import __version__
from dact.cli import options
from dact.cli.bench_app import bench
from dact.cli.plot_app import draw
from dact.cli.reproduce_app import reproduce
from dact.cli.usage import USAGE_ERROR, usage_sentence

app = typer.Typer(
    name="dact",
    help="Solve travelling-salesman and vehicle-routing problems: by local search, or by a learnt policy.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.add_typer(bench, name="bench")
app.add_typer(draw, name="plot")
app.command()(reproduce)

NO_MEMORY = "can't allocate memory"
"""PyTorch's message when a CPU runs out of memory."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    A user's mistake (ValueError, or an option that does not parse) is one sentence on stderr and exit code 2. Out of
    memory, a failed read or write, and an infeasible answer (a bug of DACT) are one sentence and exit code 1.
    """
    try:
        with warnings.catch_warnings():
            _say_cautions()
            given = None if arguments is None else list(arguments)
            code = app(args=given, prog_name="dact", standalone_mode=False)
    except USAGE_ERROR as error:
        if text := usage_sentence(error):
            print("error:", text, file=sys.stderr)
        return 2
    except ValueError as error:
        print("error:", " ".join(str(error).split()), file=sys.stderr)
        return 2
    except (OSError, MemoryError) as error:
        print("error:", " ".join(str(error).split()) or "out of memory", file=sys.stderr)
        return 1
    except RuntimeError as error:
        from dact.pipeline import InfeasibleError

        if not isinstance(error, InfeasibleError) and NO_MEMORY not in str(error):
            raise
        who = "error of DACT, please report it:" if isinstance(error, InfeasibleError) else "error: out of memory:"
        print(who, str(error).splitlines()[0][-300:], file=sys.stderr)
        return 1
    return code if isinstance(code, int) else 0


def _say_cautions() -> None:
    """Print warnings about files as one line; other warnings are unchanged."""
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:  # noqa: ANN401
        # By name, so that --help does not load NumPy.
        if category.__name__ == "InputWarning":
            print(f"warning: {message}", file=sys.stderr)
        else:
            before(message, category, *place, **more)

    warnings.showwarning = show


def _print_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command(cls=options.OneOfEach)
@options.with_settings(
    options.reading, options.writing, options.hybrid_first, options.of_hybrid, options.of_policy, options.machine
)
def solve(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            help="Instances (.tsp, .vrp, .csv, .tsv, .xlsx, .npy), sets (.npz, .pkl), folders or patterns of them.",
        ),
    ],
    steps: Annotated[
        int | None,
        typer.Option(help="Rounds (hybrid: 5,000) or steps (policy: 1,000); with a time limit, as many as fit."),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each instance.")] = None,
    target: Annotated[float | None, typer.Option(help="Stop when the cost is this low.")] = None,
    start: Annotated[
        str, typer.Option(help="greedy, random, or an earlier solution (.tour, .sol, .json, .csv, .xlsx), repaired.")
    ] = "greedy",
    seed: options.Seed = 0,
    seeds: Annotated[int, typer.Option(help="Number of seeds to try, from --seed on; the best answer is kept.")] = 1,
    **settings: Any,  # noqa: ANN401 - of the types that the groups of options have
) -> None:
    """Solve instances: improve a start of each and report the best solution found.

    --out, --plot and --animate take a file name for one instance, or a folder, which gets a file per instance.

    Ctrl-C ends the search, reports and writes the best solutions so far, and exits with code 130. If --out is a folder,
    the same command continues from there.
    """
    from dact import cards
    from dact.cli.desk import Desk, Outputs
    from dact.cli.inputs import InputRequest, read_inputs

    read, written = (options.taken(settings, group) for group in (options.reading, options.writing))
    outputs = Outputs(**written)
    inputs = read_inputs(InputRequest(files=tuple(files), start=start, **read))
    desk = Desk(inputs.instances, outputs, seeds, inputs.sources)
    cards.check_early(settings["weights"])

    from dact.cli.solving import solve_inputs
    from dact.pipeline import SolveConfig

    kind = start if inputs.start is None else "greedy"
    config = SolveConfig.flat(steps=steps, time_limit=time_limit, target=target, seed=seed, start=kind, **settings)
    raise typer.Exit(solve_inputs(inputs, config, desk))


@app.command(cls=options.OneOfEach)
@options.with_settings(options.method, options.of_hybrid, options.of_policy, options.machine)
def evaluate(
    file: Annotated[Path, typer.Argument(metavar="SET", help="A set (.npz, .pkl) or an instance.")],
    steps: Annotated[int, typer.Option(help="For each instance.")] = 1000,
    limit: Annotated[int | None, typer.Option(help="Only the first instances.")] = None,
    shard: Annotated[str, typer.Option(help="Every n-th block from the i-th on, as i/n: 1/4 to 4/4.")] = "1/1",
    rows: Annotated[
        int | None,
        typer.Option(help="Instances per block, searched as one batch; default: what suits the device."),
    ] = None,
    start: Annotated[str, typer.Option(help="greedy or random.")] = "greedy",
    seed: options.Seed = 0,
    max_nodes: options.MaxNodes = options.MAX_NODES,
    out: Annotated[
        Path | None, typer.Option(help="A .jsonl file for finished blocks; the same command continues from it.")
    ] = None,
    as_json: options.Json = False,
    **settings: Any,  # noqa: ANN401 - of the types that the groups of options have
) -> None:
    """Solve a set of instances and report mean cost, mean gap to its reference costs, and speed.

    Random numbers depend on the seed and an instance's index in the set, so that shards, `torchrun -m dact evaluate`
    and continued runs give the costs of a single run (blocks then have at most 1000 instances by default).

    Ctrl-C keeps the finished blocks in --out and exits with code 130.
    """
    from dact import cards
    from dact.cli.inputs import SetRequest, parse_shard
    from dact.cli.targets import INPUT, check_apart, check_file

    if out is not None:
        check_file("--out", out, (".jsonl",))
        check_apart([("--out", out)], [(INPUT, file)])
    instances = SetRequest(file=file, max_nodes=max_nodes, limit=limit, shard=shard).read()
    cards.check_early(settings["weights"])

    from dact.cli.evaluating import Blocks, evaluate_set
    from dact.pipeline import SolveConfig

    config = SolveConfig.flat(steps=steps, start=start, seed=seed, **settings)
    blocks = Blocks(shard=parse_shard(shard), rows=rows, out=out)
    raise typer.Exit(evaluate_set(file, instances, blocks, config, as_json=as_json))


@app.command(cls=options.OneOfEach)
def generate(
    problem: Annotated[str, typer.Argument(help="tsp or cvrp.")],
    size: Annotated[int, typer.Option(help="Customers (TSP: nodes); a depot is not counted.")],
    count: Annotated[int, typer.Option(help="Instances.")],
    out: options.OutFile,
    seed: Annotated[int, typer.Option(help="1234 gives the published test sets.")] = 1234,
) -> None:
    """Draw uniform random instances as Kool et al. (2019) do, and write them to an .npz file."""
    from dact.cli.generating import generate_file

    raise typer.Exit(generate_file(problem, size, count, seed, out))


@app.command()
def serve(
    port: Annotated[int, typer.Option(help="Port of the page on this machine; 0: any free one.")] = 8017,
    open_page: Annotated[
        bool | None, typer.Option("--open/--no-open", help="Open the page in a browser; default: if there is one.")
    ] = None,
) -> None:
    """Serve a page that shows searches while they run: drop a file, or click nodes onto the plane.

    It is reachable from this machine only and needs no network. Ctrl-C ends it. Needs the extra `web`.
    """
    from dact.cli.serving import serve_page

    serve_page(port, open_page)


@app.command()
def info(as_json: options.Json = False) -> None:
    """Show versions, devices, and the shipped weights with their quality."""
    from dact.cli.information import show_info

    show_info(as_json=as_json)


@app.command("import", cls=options.OneOfEach)
def import_checkpoint(
    file: Annotated[Path, typer.Argument(metavar="FILE.pt", help="A checkpoint of the authors' code.")],
    size: Annotated[
        int | None,
        typer.Option(help="Nodes (customers) it was trained on; default: from the file name, otherwise 100."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Default: FILE.safetensors.")] = None,
    problem: Annotated[str | None, typer.Option(help="tsp or cvrp; default: from the parameters.")] = None,
) -> None:
    """Convert a checkpoint of the authors into weights for `--weights`."""
    from dact.cli.checkpoints import convert, size_in_name
    from dact.cli.targets import INPUT, check_apart, check_file
    from dact.instances import facts_of

    out = out or file.with_suffix(".safetensors")
    check_file("--out", out, (".safetensors",))
    check_apart([("--out", out)], [(INPUT, file)])
    card = convert(file, out, size=size_in_name(file) if size is None else size, problem=problem)
    print(f"{out}: weights for {facts_of(card.problem).title} of size {card.size}, {card.note}", file=sys.stderr)


@app.command()
def train(
    config: Annotated[Path | None, typer.Argument(metavar="CONFIG.toml", help="See configs/.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Time limit of this call; continue with --resume.")] = None,
    resume: Annotated[Path | None, typer.Option(metavar="DIR", help="Continue the run in this folder.")] = None,
    init: Annotated[
        str | None, typer.Option(metavar="WEIGHTS", help="Start from weights: a name, a file or a run's folder.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the run; default: runs/NAME.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a setting, as size=50.")
    ] = None,
    sweep: Annotated[
        str | None, typer.Option(metavar="KEY=A,B,..", help="A run for each value, and a table of the costs.")
    ] = None,
    tensorboard: Annotated[bool, typer.Option(help="Write TensorBoard's files too.")] = True,
    as_json: options.Json = False,
) -> None:
    """Train a policy with n-step PPO, or continue a run.

    The folder gets metrics.csv (see `dact plot training`), best.safetensors (for --weights) and checkpoint.pt.

    Ctrl-C and SIGTERM write a checkpoint, print how to continue, and exit with code 130.
    """
    from dact.cli.inputs import TrainRequest

    request = TrainRequest(
        config=config,
        minutes=minutes,
        resume=resume,
        init=init,
        out=out,
        settings=tuple(settings or ()),
        tensorboard=tensorboard,
    )

    from dact.cli.training import train_one, train_sweep

    if sweep is None:
        raise typer.Exit(train_one(request, as_json=as_json))
    raise typer.Exit(train_sweep(request, sweep, as_json=as_json))
