"""Options that several commands share."""

import inspect
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

Augment = Annotated[int, typer.Option(help="policy: search this many of the eight symmetric copies in parallel.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Json = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout, one object per line.")]
MaxNodes = Annotated[int, typer.Option(help="Refuse instances of more nodes.")]
MAX_NODES = 20_000
"""The same as in `dact.instances.limits`, which would load NumPy for --help."""
Operator = Annotated[str, typer.Option(help="policy: two_opt, insert, swap, or auto: as the weights were trained.")]
Patience = Annotated[
    int, typer.Option(help="policy: steps without a better solution before a restart from the best one.")
]
Tabu = Annotated[
    int,
    typer.Option(
        help="policy: do not go back to the last so many tours (1024 at most) if a draw leads elsewhere; 0: the paper."
    ),
]
Precision = Annotated[
    str, typer.Option(help="policy: float32, tf32, float16 or bfloat16; auto: float16 on a GPU, float32 on a CPU.")
]
Search = Annotated[
    str,
    typer.Option(
        help="hybrid (kicks and local search), policy (the paper's), auto: hybrid, or policy if its options are given."
    ),
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same answer.")]
Weights = Annotated[
    str | None,
    typer.Option(
        help="policy: a name that `dact info` lists, a file, or a run's folder; default: by the nearest size."
    ),
]
OutFile = Annotated[Path, typer.Option(help="The file to write.")]
OutRows = Annotated[Path | None, typer.Option(help="A CSV file to append the rows to.")]

Command = Callable[..., None]
FILES = ("out", "plot", "animate", "summary", "matrix", "best_known")
"""Options that name one file."""


class OneOfEach(TyperCommand):
    """A command that refuses a file option that is given twice: the first file would be ignored in silence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - versions of Typer differ
        """As usual, after the check."""
        *_, given = self.make_parser(ctx).parse_args(args=list(args))
        for name, times in Counter(each.name for each in given).items():
            if times > 1 and name in FILES:
                raise ValueError(f"--{name.replace('_', '-')} is given twice, but takes one file")
        return super().parse_args(ctx, args)


Walks = Annotated[int, typer.Option(help="hybrid: parallel searches of one instance; 0: as many as fill the device.")]
Kick = Annotated[
    str, typer.Option(help="hybrid: pairs, nearby, bridge (TSP), ruin; auto: the best in our measurements.")
]
KickSize = Annotated[int, typer.Option(help="hybrid: moves of a kick, or strings removed by ruin; 0: default.")]
Neighbours = Annotated[int, typer.Option(help="hybrid: nearest customers that moves are tried with; 0: default.")]
Temperature = Annotated[
    float, typer.Option(help="hybrid: how much worse an accepted tour may be, in mean legs; -1: default.")
]


def reading(
    rounding: Annotated[
        str | None, typer.Option(help="Rounding of distances: nearest, none or ceil; default: the file's own.")
    ] = None,
    capacity: Annotated[
        float | None, typer.Option(help="Capacity of a vehicle, for CSV files with a demand column.")
    ] = None,
    vehicles: Annotated[
        int | None, typer.Option(min=1, help="Largest number of routes; default: VEHICLES of the file.")
    ] = None,
    demand_unit: Annotated[
        float | None, typer.Option(help="Unit for decimal demands of CSV files, such as 0.5; rounded up.")
    ] = None,
    matrix: Annotated[
        Path | None, typer.Option(help="Distances of a table's rows (.csv, .xlsx, .npy), from row to column.")
    ] = None,
    best_known: Annotated[Path | None, typer.Option(help="A CSV file with the columns name,value, for gaps.")] = None,
    max_nodes: MaxNodes = MAX_NODES,
) -> None:
    """How `dact solve` reads files: fields of the same names in `InputRequest`."""


def writing(
    out: Annotated[Path | None, typer.Option(help="A solution file (.tour, .sol, .json, .csv), or a folder.")] = None,
    out_format: Annotated[
        str, typer.Option(metavar="FORMAT", help="Of the files in the folder of --out: tour, sol, json or csv.")
    ] = "",
    plot: Annotated[Path | None, typer.Option(help="A picture (.png, .svg, .pdf), or a folder.")] = None,
    animate: Annotated[
        Path | None, typer.Option(help="The search as a moving picture (.gif, .html, .mp4), or a folder.")
    ] = None,
    summary: Annotated[Path | None, typer.Option(help="A CSV file with a row for each instance.")] = None,
    routes: Annotated[bool, typer.Option(help="Print every route with its load and length.")] = False,
    as_json: Json = False,
) -> None:
    """Where `dact solve` writes answers: fields of the same names in `Outputs`."""


def method(search: Search = "policy") -> None:
    """The search method. This group and those below are settings of the same names in `SolveConfig`."""


def hybrid_first(search: Search = "auto") -> None:
    """The search method, where hybrid is the default."""


def of_policy(augment: Augment = 1, patience: Patience = 250, tabu: Tabu = 0, operator: Operator = "auto") -> None:
    """Settings of the policy search."""


def of_hybrid(
    walks: Walks = 0,
    kick: Kick = "auto",
    kick_size: KickSize = 0,
    neighbours: Neighbours = 0,
    temperature: Temperature = -1.0,
) -> None:
    """Settings of the hybrid search."""


def machine(weights: Weights = None, device: Device = "auto", precision: Precision = "auto") -> None:
    """Weights, device and precision."""


def with_settings(*groups: Command) -> Callable[[Command], Command]:
    """Add the options of these groups to a command, which receives their values as `**settings`."""
    added = [each for group in groups for each in inspect.signature(group, eval_str=True).parameters.values()]

    def extended(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        together = [each.replace(kind=each.KEYWORD_ONLY) for each in (*own, *added)]
        target: Any = command
        target.__signature__ = signature.replace(parameters=together)
        return command

    return extended


def taken(settings: dict[str, Any], group: Command) -> dict[str, Any]:
    """Remove the options of a group from the settings of a command, and return them."""
    return {name: settings.pop(name) for name in inspect.signature(group).parameters}
