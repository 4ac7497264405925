"""Answers for people and programs: JSON objects, tables, lists of routes, summaries."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dact.instances import InputError, Instance
from dact.instances.cells import BLANK, Sheet
from dact.instances.files import read_bytes, write_atomically
from dact.instances.limits import MAX_NODES
from dact.instances.measures import route_length, route_load, vehicle_load
from dact.instances.reading import TABLE_SUFFIXES
from dact.instances.stop_lists import COLUMNS as STOP_COLUMNS
from dact.instances.stop_lists import NUMBERED_COLUMNS, OLD_COLUMNS
from dact.instances.workbooks import workbook_text
from dact.plotting import cost_with_unit, whole_costs

if TYPE_CHECKING:
    from dact.solver import Result

COLUMNS = ("instance", "nodes", "start", "cost", "improved", "gap", "routes", "search", "steps", "seconds")
SEEDS_COLUMNS = (
    *("instance", "nodes", "best", "mean", "worst", "gap", "mean gap", "routes", "search", "seeds", "seconds"),
)
SUMMARY_COLUMNS = (
    *("name", "problem", "nodes", "seeds", "cost", "mean", "worst", "best_known", "gap", "mean_gap"),
    *("routes", "search", "steps", "seconds"),
)


HEADERS = (STOP_COLUMNS, NUMBERED_COLUMNS, OLD_COLUMNS, SUMMARY_COLUMNS)
"""First lines of the CSV files that `dact solve` writes."""


LONGEST_HEAD = 1024
"""Bytes that are looked at for one of them."""
HEAD = 2
"""Rows that are looked at, blank ones aside: `sep=;` may stand above the header."""


def is_answer(path: Path) -> bool:
    """Is a table one that `dact solve` wrote, maybe saved again by a spreadsheet program: stops, or a summary?"""
    try:
        lines = [line for line in _beginning(path).splitlines() if line.strip(BLANK)]
        sheet = Sheet.parse("\n".join(lines[:HEAD]))
        head = sheet.cells(0)[1] if sheet.lines else []
    except (InputError, OSError, ValueError):
        return False
    return tuple(cell for cell in head if cell) in HEADERS


def _beginning(path: Path) -> str:
    """The first lines of a table, as text; empty if it is none."""
    if path.suffix.lower() not in TABLE_SUFFIXES or not path.is_file():
        return ""
    if path.suffix.lower() == ".xlsx":
        return workbook_text(read_bytes(path), MAX_NODES, most_rows=HEAD)
    with path.open("rb") as stream:
        content = stream.read(LONGEST_HEAD)
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return content.decode("utf-16" if wide else "utf-8-sig", errors="replace")


@dataclass(kw_only=True)
class SeedResults:
    """The results of one instance, one for each seed that was tried."""

    results: list[Result] = field(default_factory=list)

    @property
    def best(self) -> Result:
        """The cheapest, the first of equals."""
        return min(self.results, key=lambda result: result.cost)

    @property
    def costs(self) -> list[float]:
        """In the order of the seeds."""
        return [result.cost for result in self.results]

    @property
    def mean(self) -> float:
        """Of the costs."""
        return fsum(self.costs) / len(self.costs)

    @property
    def seconds(self) -> float:
        """Of all searches."""
        return fsum(result.seconds for result in self.results)

    @property
    def mean_gap(self) -> float | None:
        """Of the mean cost, in percent above the best known value; None without one."""
        return self.best.instance.gap(self.mean)


def record(runs: SeedResults) -> dict[str, Any]:
    """The JSON object of an answer: nodes by their ids in the file, or customers by their numbers."""
    result = runs.best
    instance = result.instance
    routes = [[instance.number(index) for index in route] for route in result.routes]
    return {
        "name": instance.name,
        "problem": instance.problem,
        "nodes": instance.size,
        "cost": _number(instance, result.cost),
        "start_cost": _number(instance, result.start_cost),
        "gap": result.gap,
        "best_known": _number(instance, instance.best_known),
        "feasible": result.feasible,
        "interrupted": result.interrupted,
        "steps": result.steps,
        "seconds": round(result.seconds, 3),
        "seed": result.seed,
        "search": result.search,
        "local_optimum": result.local_optimum,
        "walks": result.walks,
        "walks_apart": round(result.walks_apart, 4),
        "weights": result.weights,
        **({"costs": [_number(instance, cost) for cost in runs.costs]} if len(runs.results) > 1 else {}),
        "numbering": "ids" if instance.facts.by_id else "customers",
        **({"routes": routes} if instance.facts.depot else {"tour": routes[0]}),
        "trace": [[point.step, round(point.seconds, 4), point.cost] for point in result.trace],
        **({"names": instance.titles(result.routes)} if instance.names else {}),
    }


def table_row(runs: SeedResults) -> tuple[str, ...]:
    """A row under COLUMNS."""
    result = runs.best
    instance = result.instance
    return (
        instance.name,
        str(instance.size),
        cost_with_unit(instance, result.start_cost),
        cost_with_unit(instance, result.cost),
        f"{100 * (1 - result.cost / result.start_cost):.1f} %" if result.start_cost else "-",
        _percent(result.gap),
        str(len(result.routes)),
        result.search,
        str(result.steps),
        f"{result.seconds:.1f}",
    )


def seeds_row(runs: SeedResults) -> tuple[str, ...]:
    """A row under SEEDS_COLUMNS."""
    result = runs.best
    instance = result.instance
    return (
        instance.name,
        str(instance.size),
        *(cost_with_unit(instance, cost) for cost in (result.cost, runs.mean, max(runs.costs))),
        _percent(result.gap),
        _percent(runs.mean_gap),
        str(len(result.routes)),
        result.search,
        str(len(runs.results)),
        f"{runs.seconds:.1f}",
    )


def summary_row(runs: SeedResults) -> dict[str, object]:
    """A row under SUMMARY_COLUMNS; costs and gaps as they are, empty where there is no best known value."""
    result = runs.best
    instance = result.instance
    values = (
        *(instance.name, instance.problem, instance.size, len(runs.results)),
        *(result.cost, runs.mean, max(runs.costs), instance.best_known, result.gap, runs.mean_gap),
        *(len(result.routes), result.search, result.steps, round(runs.seconds, 3)),
    )
    return dict(zip(SUMMARY_COLUMNS, values, strict=True))


def write_summary(path: Path, rows: Iterable[dict[str, object]]) -> None:
    """Write a CSV file."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, SUMMARY_COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    write_atomically(path, lambda file: file.write(stream.getvalue().encode(errors="replace")))


def summary_line(rows: Sequence[dict[str, Any]]) -> str:
    """Means over all instances, for people; empty where there is only one."""
    if len(rows) < 2:
        return ""
    text = f"{len(rows)} instances: mean cost {fsum(row['cost'] for row in rows) / len(rows):,.6g}"
    gaps = [row for row in rows if row["gap"] is not None]
    if gaps:
        best, mean = (fsum(row[key] for row in gaps) / len(gaps) for key in ("gap", "mean_gap"))
        text += f", mean gap {best:.2f} %"
        text += f" of the best and {mean:.2f} % of all" if any(row["seeds"] > 1 for row in rows) else ""
        text += f" over {len(gaps)}" if len(gaps) < len(rows) else ""
    return text


def route_lines(result: Result) -> list[str]:
    """Each route with its load and length."""
    instance = result.instance
    lines = [f"{instance.name}: cost {cost_with_unit(instance, result.cost)}"]
    for number, route in enumerate(result.routes, start=1):
        load = ""
        if instance.facts.capacity:
            load = f"load {route_load(instance, route):g} of {vehicle_load(instance):g}, "
        visits = (", " if instance.names else " ").join(instance.title(node) for node in route)
        what = f"Route {number}" if instance.facts.depot else "Tour"
        lines.append(f"{what} ({load}length {cost_with_unit(instance, route_length(instance, route))}): {visits}")
    return lines


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f} %"


def _number(instance: Instance, cost: float | None) -> float | int | None:
    whole = cost is not None and whole_costs(instance) and cost.is_integer()
    return int(cost) if whole and cost is not None else cost
