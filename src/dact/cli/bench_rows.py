"""Rows that `dact bench` measures: printed as JSON where asked, and appended to the CSV file of --out."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from dact.bench import append_rows, check_columns
from dact.cli.screen import emit
from dact.cli.targets import check_file

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def check_rows(out: Path | None, kind: "type[DataclassInstance]") -> None:
    """Refuse a file that rows of this kind cannot be appended to, before anything is measured."""
    if out is not None:
        check_file("--out", out, (".csv",))
        check_columns(out, kind)


def keep_row(row: "DataclassInstance", out: Path | None, *, as_json: bool) -> None:
    """Print and append a row at once, so that an interruption loses no measurement."""
    if as_json:
        emit(json.dumps(asdict(row)))
    if out is not None:
        append_rows(out, [row])
