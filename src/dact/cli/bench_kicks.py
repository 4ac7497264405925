"""`dact bench hybrid --kicks`: learnt kicks against random ones at equal time, as a table, a page and a picture."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from dact.bench.kicks import KickRow, read_kicks
from dact.cli.markdown import markdown
from dact.cli.screen import note, show_table
from dact.cli.targets import check_folder
from dact.instances.files import write_atomically
from dact.plotting.kicks import KickLine, plot_kicks
from dact.plotting.panels import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = (
    *("case", "device", "limit", "kicks begin", "runs", "seconds", "rounds", "network %"),
    *("gap %", "more than anywhere", "+-"),
)

FOOT = (
    "Bars: standard error of the paired difference to kicks that begin anywhere. "
    "In brackets: the network's share of the time."
)


def bench_kicks(path: Path, out: Path | None) -> None:
    """Print measured rows, and write a page and a picture of them into a folder."""
    if out is not None:
        check_folder("--out", out)
    rows = read_kicks(path)
    show_table(COLUMNS, [_cells(row) for row in rows])
    if out is not None:
        _write(out, path, rows)


def _write(out: Path, path: Path, rows: Sequence[KickRow]) -> None:
    files = {"kicks.md": _page(path, rows).encode()}
    for form in ("png", "svg"):
        picture = BytesIO()
        _figure(rows).savefig(picture, format=form, dpi=160, metadata={"Date": None} if form == "svg" else None)
        files[f"kicks.{form}"] = picture.getvalue()
    for name, content in files.items():
        write_atomically(out / name, lambda stream, content=content: stream.write(content))  # type: ignore[misc]
    note(f"written: {out / 'kicks.md'} and its picture")


def _figure(rows: Sequence[KickRow]) -> "Figure":
    """A panel for each case and device."""
    cases, devices = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("case", "device"))
    order = list(dict.fromkeys(row.centres for row in rows))
    figure = new_figure(4.2 * len(cases), 3.4 * len(devices))
    for number, (device, case) in enumerate((device, case) for device in devices for case in cases):
        chosen = [row for row in rows if (row.case, row.device) == (case, device)]
        if chosen:
            title = f"{case.upper()}, {device}"
            plot_kicks(_lines(chosen, order), title, figure.add_subplot(len(devices), len(cases), number + 1))
    figure.supxlabel(FOOT, x=0.01, ha="left", fontsize=7, color="#555555")
    return figure


def _lines(rows: Sequence[KickRow], order: Sequence[str]) -> list[KickLine]:
    lines = []
    for number, centres in enumerate(order):
        own = sorted((row for row in rows if row.centres == centres), key=lambda row: row.seconds)
        if own:
            network = max(row.network_percent for row in own)
            name = f"{centres} (network {network:.1f} %)" if network else centres
            seconds, gap, error = zip(*((row.seconds, row.gap, row.error) for row in own), strict=True)
            lines.append(KickLine(number, name, seconds, gap, error))
    return lines


def _page(path: Path, rows: Sequence[KickRow]) -> str:
    measured = sorted({f"{row.device}: {row.measured}" for row in rows})
    parts = [
        "# Learnt kicks against random ones, at equal time",
        f"From `{path.name}`, written by `benchmarks/learnt_kick.py`. " + "; ".join(measured) + ".",
        markdown(COLUMNS, [_cells(row) for row in rows]),
        "Kicks begin at any customer, or at customers drawn by the chances, to some power, that a network gives them. "
        "`network %` is its share of the seconds. Differences are paired, instance by instance; +- is their standard "
        "error, and the bars of the picture.",
        "![](kicks.png)",
    ]
    return "\n\n".join(parts) + "\n"


def _cells(row: KickRow) -> tuple[str, ...]:
    return (
        row.case,
        row.device,
        f"{row.limit:g} s",
        row.centres,
        str(row.runs),
        f"{row.seconds:.2f}",
        f"{row.rounds:,.0f}",
        f"{row.network_percent:.1f}",
        f"{row.gap:.4f}",
        f"{row.against:+.4f}" if row.error else "-",
        f"{row.error:.4f}" if row.error else "-",
    )
