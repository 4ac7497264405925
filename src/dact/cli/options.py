"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Augment = Annotated[int, typer.Option(help="Search this many of the eight symmetric pictures side by side.")]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object per line on stdout, and nothing else there.")]
Operator = Annotated[str, typer.Option(help="two_opt, insert, swap, or auto: as the weights were trained.")]
Patience = Annotated[int, typer.Option(help="Steps without a better solution before going back to the best one.")]
Precision = Annotated[
    str, typer.Option(help="float32, tf32, float16 or bfloat16; auto: float16 on a GPU, float32 on a CPU.")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same answer.")]
Weights = Annotated[
    str | None,
    typer.Option(help="A name that `dact info` lists, or a file; default: those trained nearest to the size."),
]
OutFile = Annotated[Path, typer.Option(help="The file to write.")]
OutRows = Annotated[Path | None, typer.Option(help="A CSV file to append the rows to.")]
