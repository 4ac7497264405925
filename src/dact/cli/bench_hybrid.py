"""`dact bench hybrid`: variants of the hybrid search in the same time, as a table, a page, CSV files and a picture."""

import json
import shlex
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path

import torch

from dact.bench import append_rows
from dact.bench.descent import DescentTiming, measure_descent
from dact.bench.hybrid import HybridTiming, Limit, Measured, measure_hybrid
from dact.bench.searches import Bench, FilesBench, SetBench, referenced
from dact.bench.variants import Variant, parse_variant, varied
from dact.cli.inputs import InputRequest, no_option_for_capacity, read_inputs
from dact.cli.markdown import markdown
from dact.cli.screen import Bar, emit, note, show_table
from dact.cli.targets import check_folder
from dact.instances import InputError, read_set
from dact.instances.files import write_atomically
from dact.instances.limits import MAX_NODES
from dact.instances.reading import SET_PARSERS
from dact.interrupts import INTERRUPTED, Interrupts
from dact.plotting.gaps import Curve, plot_gaps
from dact.plotting.panels import NOTHING, new_figure

COLUMNS = (
    *("variant", "limit", "seconds", "call", "rounds", "rounds/s", "cost", "gap %", "+-"),
    *("against the first %", "+-", "network %"),
)
DESCENT_COLUMNS = ("descent of", "rows", "neighbours", "begin ms", "descent ms", "rows/s", "moves", "cost", "gap %")
COUNTS = {"cuda": 10_000, "cpu": 64}
"""Copies of a set's instances, unless they are counted."""
MOST, SECONDS = 10**6, 10.0


@dataclass(frozen=True, kw_only=True)
class HybridRequest:
    """What to compare, on what, and for how long."""

    files: tuple[Path, ...]
    variants: tuple[str, ...]
    vary: tuple[str, ...]
    seconds: str
    steps: str
    count: int | None

    def bench(self, device: torch.device) -> Bench:
        """Copies of a set, or files one by one."""
        if len(self.files) == 1 and self.files[0].suffix.lower() in SET_PARSERS:
            count = COUNTS[device.type] if self.count is None else self.count
            if not 1 <= count <= MOST:
                raise InputError(f"count {count} is not between 1 and {MOST}")
            return SetBench(distinct=referenced(read_set(self.files[0])), count=count)
        if self.count is not None:
            raise InputError("count is for one set of instances (.npz, .pkl): files are searched one by one")
        with no_option_for_capacity():
            inputs = read_inputs(InputRequest(files=self.files, start="greedy", max_nodes=MAX_NODES))
            if inputs.faults:
                raise inputs.faults[0]
        few = len(self.files) <= 3
        name = (
            " ".join(str(file) for file in self.files) if few else f"{len(self.files)} files of {self.files[0].parent}"
        )
        return FilesBench(name=name, members=inputs.instances)

    def limits(self) -> list[Limit]:
        """Seconds and rounds that were asked for."""
        asked: list[Limit] = [{"time_limit": _parsed("seconds", text, float)} for text in _listed(self.seconds)]
        asked += [{"steps": _parsed("steps", text, int)} for text in _listed(self.steps)]
        return asked or [{"time_limit": SECONDS}]

    def chosen(self) -> list[Variant]:
        """The variants, each with every value of the settings that are varied."""
        return varied([parse_variant(text) for text in self.variants or ("usual",)], self.vary)


def _listed(text: str) -> list[str]:
    return text.split(",") if text else []


def _parsed(option: str, text: str, kind: type[int] | type[float]) -> int | float:
    try:
        return kind(text)
    except ValueError:
        raise InputError(f"{option} '{text[:20]}' is not a {'whole ' if kind is int else ''}number") from None


def bench_hybrid(request: HybridRequest, out: Path | None, *, as_json: bool, **others: object) -> int:
    """Measure, print, write a page, CSV files and a picture into a folder, and return the exit code. After Ctrl-C, all
    that was measured before."""
    variants, limits = request.chosen(), request.limits()
    configs = [variant.config(**others, **limit) for variant in variants for limit in limits]
    if out is not None:
        check_folder("--out", out)
    bench = request.bench(configs[0].torch_device())
    descents = _descents(bench, variants, **others)
    measured: list[Measured] = []
    interrupts = Interrupts()
    with suppress(KeyboardInterrupt), interrupts, Bar(variants[0].name) as bar:

        def progress(name: str, fraction: float) -> None:
            bar.show((len(measured) + fraction) / len(configs), "", title=name)
            interrupts.obey()

        for each in measure_hybrid(bench, variants, limits, progress, **others):
            measured.append(each)
            if as_json:
                emit(json.dumps(asdict(each.timing)))
    if measured:
        _tell(bench, measured, descents, out)
    if len(measured) == len(configs):
        return 0
    note(f"interrupted: {len(measured)} of {len(configs)} searches were measured")
    return INTERRUPTED


def _tell(bench: Bench, measured: Sequence[Measured], descents: Sequence[DescentTiming], out: Path | None) -> None:
    rows, falls = [_row(each.timing) for each in measured], [_descent_row(each) for each in descents]
    note(f"{bench.name}: {_instances(bench.count, bench.different)}, {measured[0].timing.device}")
    show_table(COLUMNS, rows)
    if falls:
        show_table(DESCENT_COLUMNS, falls)
    if out is not None:
        _write(out, measured, descents)


def _descents(bench: Bench, variants: Sequence[Variant], **others: object) -> list[DescentTiming]:
    """One for each number of neighbours that a variant asks for."""
    if not isinstance(bench, SetBench):
        return []
    hybrid = [variant for variant in variants if variant.config(**others).search == "hybrid"]
    asked = {variant.config(**others).hybrid.neighbours: variant for variant in hybrid}
    return [measure_descent(bench, variant.config(**others)) for variant in asked.values()]


def _write(out: Path, measured: Sequence[Measured], descents: Sequence[DescentTiming]) -> None:
    for name, rows in (
        ("hybrid.csv", [each.timing for each in measured]),
        ("hybrid-descents.csv", list(descents)),
        ("hybrid-curves.csv", [look for each in measured for look in each.curve]),
    ):
        (out / name).unlink(missing_ok=True)
        if rows:
            append_rows(out / name, rows)
    picture = BytesIO()
    figure = new_figure(7, 4.5)
    first = measured[0].timing
    gaps = first.gap is not None
    title = f"{first.instances}, {first.count:,} instances, {first.device}"
    up, nothing = ("mean gap, %", NOTHING) if gaps else ("mean cost", 0.0)
    plot_gaps(_curves(measured), title, up, figure.add_subplot(), nothing=nothing)
    figure.savefig(picture, format="png", dpi=160)
    page = _page(measured, descents).encode()
    for name, content in (("hybrid.png", picture.getvalue()), ("hybrid.md", page)):
        write_atomically(out / name, lambda stream, content=content: stream.write(content))  # type: ignore[misc]
    note(f"written: {out / 'hybrid.md'}, its CSV files and picture")


def _curves(measured: Sequence[Measured]) -> list[Curve]:
    """Gaps, or costs where there are no references."""
    several = len({each.timing.limit for each in measured}) > 1
    return [
        Curve(
            name=each.timing.variant,
            limit=each.timing.limit if several else "",
            seconds=[look.seconds for look in each.curve],
            values=[look.cost if look.gap is None else look.gap for look in each.curve],
        )
        for each in measured
    ]


def _instances(count: int, distinct: int) -> str:
    return "1 instance" if count == 1 else f"{count:,} instances, {distinct:,} of them distinct"


def _page(measured: Sequence[Measured], descents: Sequence[DescentTiming]) -> str:
    first = measured[0].timing
    facts = f"{first.instances}: {_instances(first.count, first.distinct)}. {first.device}, commit "
    facts += f"{first.commit or 'unknown'}, PyTorch {first.torch}, {first.date}, seed {first.seed}."
    parts = [
        "# Variants of the hybrid search",
        facts,
        "`" + shlex.join(["dact", *sys.argv[1:]]) + "`",
        markdown(COLUMNS, [_row(each.timing) for each in measured]),
        "Seconds are of the search, `call` from the instances at hand to the last checked answer with kernels compiled "
        "before. +- is the standard error of the mean over distinct instances. A search is as hot as its whole time "
        "asks for: a shorter one is better than the beginning of a longer one.",
    ]
    if descents:
        parts.append(markdown(DESCENT_COLUMNS, [_descent_row(each) for each in descents]))
    return "\n\n".join([*parts, "![](hybrid.png)"]) + "\n"


def _row(timing: HybridTiming) -> tuple[str, ...]:
    return (
        timing.variant,
        timing.limit,
        f"{timing.seconds:.2f}",
        f"{timing.call_seconds:.2f}",
        f"{timing.rounds:,}",
        f"{timing.rounds_per_s:,.0f}",
        f"{timing.cost:,.6g}",
        *_number(timing.gap, timing.error),
        *_number(timing.against_first, timing.against_error),
        "-" if timing.network_percent is None else f"{timing.network_percent:.1f}",
    )


def _descent_row(timing: DescentTiming) -> tuple[str, ...]:
    return (
        timing.instances,
        f"{timing.rows:,}",
        str(timing.neighbours),
        f"{timing.begin_ms:.1f}",
        f"{timing.descent_ms:.2f}",
        f"{timing.rows_per_s:,.0f}",
        f"{timing.moves:.1f}",
        f"{timing.cost:,.6g}",
        _number(timing.gap, 0)[0],
    )


def _number(value: float | None, error: float | None) -> tuple[str, str]:
    return ("-", "-") if value is None or error is None else (f"{value:z.4f}", f"{error:.4f}")
