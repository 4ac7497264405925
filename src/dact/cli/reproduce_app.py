"""The command `dact reproduce` and its options."""

from pathlib import Path
from typing import Annotated

import typer

from dact.cli import options


def reproduce(
    name: Annotated[str | None, typer.Argument(help="A table or figure of the paper; without one: a list.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller, for a CPU; the files say what is smaller.")] = False,
    instances: Annotated[
        int | None, typer.Option(metavar="M", help="Fewer of each set or library; the files say so.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(metavar="S", help="Fewer seeds; the files say so.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the files.")] = Path("out/reproduction"),
    data: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Public instances and references: tsplib/, cvrplib/.")
    ] = None,
    models: Annotated[Path | None, typer.Option(metavar="DIR", help="Weights trained for comparisons.")] = None,
    train: Annotated[
        bool, typer.Option("--train", help="Train the weights that are missing, into --models; goes on where it ended.")
    ] = False,
    shard: Annotated[str, typer.Option(help="A part of the searches, and no files yet: 1/4 to 4/4.")] = "1/1",
    device: options.Device = "auto",
    as_json: options.Json = False,
) -> None:
    """Make a table or figure of the paper with the paper's numbers beside ours: Markdown, CSV, PNG and SVG.

    Ctrl-C keeps finished blocks of searches and the state of trainings in --out, from which the same command goes on,
    and exits with code 130.
    """
    from dact.cli.inputs import parse_shard
    from dact.cli.reproducing import list_studies, reproduce_one
    from dact.reproduce import DEFAULT_MODELS, Request

    if name is None:
        raise typer.Exit(list_studies(as_json=as_json))
    place = models or DEFAULT_MODELS
    request = Request(
        out=out,
        quick=quick,
        instances=instances,
        seeds=seeds,
        data=data,
        models=place,
        train=train,
        shard=parse_shard(shard),
        device=device,
    )
    raise typer.Exit(reproduce_one(name, request, as_json=as_json))
