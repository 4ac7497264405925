"""Writes outcomes to files; each file states how it was made."""

import csv
import datetime
import os
import textwrap
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path

import torch

from dact.bench.measurements import cpu_name, device_name
from dact.instances.files import write_atomically
from dact.provenance import commit
from dact.reproduce.base import Cell, Outcome, Picture, Request, Study, Table

PICTURES = ("png", "svg")
NOT_SMALLER = "nothing"
FOOT_WIDTH = 19
"""Characters per inch of the text below a picture."""


@dataclass(frozen=True, kw_only=True)
class Stamp:
    """How an outcome was made: the facts that every file states."""

    command: str
    commit: str
    hardware: str
    software: str
    date: str
    seeds: str
    instances: str
    version: str
    """Full, quick or reduced."""
    smaller: str

    @classmethod
    def of(cls, study: Study, request: Request, outcome: Outcome) -> "Stamp":
        """For an outcome made just now on this machine."""
        cpu = f"{cpu_name()}, {os.cpu_count()} cores"
        return cls(
            command=request.command(study.name),
            commit=commit() or "unknown (not a checkout)",
            hardware=cpu if outcome.device == "cpu" else f"{device_name(outcome.device)}; {cpu}",
            software=f"PyTorch {torch.__version__.partition('+')[0]}",
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            seeds=outcome.seeds,
            instances=outcome.instances,
            version=request.version,
            smaller=outcome.smaller if request.version != "full" and outcome.smaller else NOT_SMALLER,
        )

    def lines(self) -> list[str]:
        """One line per fact."""
        return [
            f"command: {self.command}",
            f"commit: {self.commit}",
            f"date: {self.date}",
            f"hardware: {self.hardware}",
            f"software: {self.software}",
            f"seeds: {self.seeds}",
            f"instances: {self.instances}",
            f"smaller than the full version: {self.smaller}",
        ]


def write(study: Study, request: Request, outcome: Outcome) -> list[Path]:
    """Write a page in Markdown, a CSV file for each table, and PNG and SVG files for each picture."""
    stamp = Stamp.of(study, request, outcome)
    request.out.mkdir(parents=True, exist_ok=True)
    paths = [request.out / f"{study.name}.md"]
    _write_text(paths[0], page(study, outcome, stamp))
    for output in outcome.outputs:
        if isinstance(output, Table):
            paths.append(request.out / f"{stem(study, output)}.csv")
            _write_text(paths[-1], csv_text(output, stamp))
        else:
            paths += _write_picture(request.out / stem(study, output), output, stamp)
    return paths


def stem(study: Study, output: Table | Picture) -> str:
    """The name of an output's files, without their extension."""
    return f"{study.name}-{output.name}"


def page(study: Study, outcome: Outcome, stamp: Stamp) -> str:
    """The Markdown page of an outcome."""
    parts = [f"# {study.name}", f"{study.what} ({study.where})"]
    if stamp.smaller != NOT_SMALLER:
        parts.append(f"**A {stamp.version} version**, smaller than the full one: {stamp.smaller}.")
    for output in outcome.outputs:
        parts.append(f"## {output.title}")
        parts.append(markdown(output) if isinstance(output, Table) else f"![]({stem(study, output)}.png)")
    parts += list(outcome.notes)
    if outcome.missing:
        parts.append("Missing:\n\n" + "\n".join(f"- {each}" for each in outcome.missing))
    parts.append("## How it was made\n\n" + "\n".join(f"- {line}" for line in stamp.lines()))
    return "\n\n".join(parts) + "\n"


def markdown(table: Table) -> str:
    """The table in Markdown; numbers are rounded and flush right."""
    digits = list(table.columns.values())
    numeric = [any(isinstance(row[place], int | float) for row in table.rows) for place in range(len(digits))]
    lines = [tuple(table.columns), tuple("---:" if each else "---" for each in numeric)]
    lines += [tuple(map(_text, row, digits)) for row in table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def csv_text(table: Table, stamp: Stamp) -> str:
    """The table as CSV in full precision, after comments that state how it was made."""
    stream = StringIO()
    stream.writelines(f"# {line}\n" for line in stamp.lines())
    rows = [["" if cell is None else cell for cell in row] for row in table.rows]
    csv.writer(stream, lineterminator="\n").writerows([list(table.columns), *rows])
    return stream.getvalue()


def _text(cell: Cell, digits: int | None) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    return f"{cell:,}" if digits is None else f"{cell:,.{digits}f}"


def _write_picture(base: Path, picture: Picture, stamp: Stamp) -> list[Path]:
    """Write PNG and SVG files with the title above, and the facts below the picture and in the metadata."""
    import matplotlib as mpl

    foot = textwrap.fill("  ·  ".join(stamp.lines()), int(FOOT_WIDTH * picture.figure.get_figwidth()))
    picture.figure.suptitle(picture.title, x=0.01, ha="left", fontsize="medium", parse_math=False)
    picture.figure.supxlabel(foot, x=0.01, ha="left", fontsize=6, color="#555555", parse_math=False)
    about = {"Title": picture.title, "Description": "\n".join(stamp.lines())}
    paths: list[Path] = []
    for kind in PICTURES:
        drawn, paths = BytesIO(), [*paths, base.with_name(f"{base.name}.{kind}")]
        # Reproducible files: constant identifiers, and no date in the SVG.
        with mpl.rc_context({"svg.hashsalt": base.name}):
            extra = {"Date": None} if kind == "svg" else {}
            picture.figure.savefig(drawn, format=kind, dpi=160, metadata={**about, **extra})
        _write_bytes(paths[-1], drawn.getvalue())
    return paths


def _write_text(path: Path, text: str) -> None:
    _write_bytes(path, text.encode())


def _write_bytes(path: Path, content: bytes) -> None:
    write_atomically(path, lambda stream: stream.write(content))
