"""`dact plot`: pictures of files that other commands have written."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from dact.cli import options

draw = typer.Typer(help="Draw routes, traces of searches, or curves of trainings.", no_args_is_help=True)

Picture = Annotated[
    Path | None, typer.Option(help="The picture (.png, .svg, .pdf); default: a .png named like the file.")
]


@draw.command("routes", cls=options.OneOfEach)
@options.with_settings(options.reading)
def plot_routes(
    file: Annotated[Path, typer.Argument(metavar="INSTANCE", help="What was solved (.tsp, .vrp, .csv, .npy).")],
    solution: Annotated[
        Path, typer.Argument(metavar="SOLUTION", help="Its solution (.sol, .tour, .json, .csv, .xlsx).")
    ],
    out: Picture = None,
    **reading: Any,  # noqa: ANN401 - of the types that the options have
) -> None:
    """Draw a solution on the map, after checking it."""
    from dact.cli.drawing import draw_routes
    from dact.cli.inputs import InputRequest

    draw_routes(InputRequest(files=(file,), start="greedy", **reading), solution, out)


@draw.command("trace", cls=options.OneOfEach)
def plot_traces(
    files: Annotated[
        list[Path], typer.Argument(metavar="ANSWERS", help="What `dact solve --json` printed, one or several files.")
    ],
    out: Picture = None,
    steps: Annotated[bool, typer.Option("--steps", help="Draw over steps, not over seconds.")] = False,
) -> None:
    """Draw how the best costs of searches fell; of several instances, how far they were above the best known value."""
    from dact.cli.drawing import draw_traces

    draw_traces(files, out, by_steps=steps)


@draw.command("training", cls=options.OneOfEach)
def plot_run(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR", help="The folder of a run of `dact train`.")],
    out: Annotated[
        Path | None, typer.Option(help="The picture; default: training.png in the folder, or here for several runs.")
    ] = None,
) -> None:
    """Draw the curves of a training run (costs, reward, steadiness, schedule), or of several over one another."""
    from dact.cli.targets import check_file
    from dact.plotting import FORMATS, save_comparison_plot, save_training_plot

    target = out or (folders[0] if len(folders) == 1 else Path()) / "training.png"
    if out is not None:
        check_file("--out", out, FORMATS)
    if len(folders) == 1:
        save_training_plot(folders[0], target)
    else:
        save_comparison_plot(folders, target)
    print(target, file=sys.stderr)
