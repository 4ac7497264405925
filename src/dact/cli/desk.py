"""Collects results: the best of each instance is written to its files at once, and printed at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dact.cli.answers import (
    COLUMNS,
    SEEDS_COLUMNS,
    SeedResults,
    record,
    route_lines,
    seeds_row,
    summary_line,
    summary_row,
    table_row,
    write_summary,
)
from dact.cli.kept import Entry, Kept, key_of
from dact.cli.saving import Saver, Writers
from dact.cli.screen import note, show_table, table_text
from dact.cli.targets import Named, check_apart, check_file, film_targets, plot_targets, solution_targets
from dact.instances import InputError, Instance, write_solution
from dact.plotting import Film, save_plot

if TYPE_CHECKING:
    from dact.solver import Result


MOST_SEEDS = 10_000


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Where the answers go."""

    out: Path | None = None
    out_format: str = ""
    """Of the files in the folder `out`; empty: the usual one."""
    plot: Path | None = None
    animate: Path | None = None
    summary: Path | None = None
    routes: bool = False
    as_json: bool = False

    def __post_init__(self) -> None:
        if self.routes and self.as_json:
            raise InputError("--routes goes without --json, which has the routes anyway")
        if self.summary is not None:
            check_file("--summary", self.summary, (".csv",))


class Desk:
    """Takes results as they are found. Names of files are checked when it is made, so that none overwrites what was
    `read`."""

    def __init__(self, instances: list[Instance], outputs: Outputs, seeds: int, read: Iterable[Named] = ()) -> None:
        if not 1 <= seeds <= MOST_SEEDS:
            raise InputError(f"seeds {seeds} is not between 1 and {MOST_SEEDS}")
        self.instances, self.outputs, self.seeds = instances, outputs, seeds
        self.solutions = solution_targets(outputs.out, instances, outputs.out_format)
        self.plots = plot_targets(outputs.plot, instances)
        self.films = film_targets(outputs.animate, instances)
        check_apart(self._targets(), read)
        self.runs: dict[int, SeedResults] = {}
        self.entries: dict[int, Entry] = {}
        self._saver = Saver()
        self._kept = Kept(outputs.out if len(instances) > 1 else None)
        self._keys: list[str] = []
        self._told: set[int] = set()
        self._reels: dict[int, Film] = {}

    @property
    def failed(self) -> bool:
        """Could anything not be written?"""
        return self._saver.failed

    def _targets(self) -> Iterator[Named]:
        """Every file that will be written."""
        lists = {"--out": self.solutions, "--plot": self.plots, "--animate": self.films}
        yield from ((option, path) for option, paths in lists.items() for path in paths or ())
        if self.outputs.summary is not None:
            yield "--summary", self.outputs.summary

    def go_on(self, settings: str) -> None:
        """Take over what an interrupted run with the same settings has finished."""
        self._keys = [key_of(instance, f"{settings}|{self.seeds}") for instance in self.instances]
        for place, entry in self._kept.entries(self._keys).items():
            files = [targets[place] for targets in (self.solutions, self.plots, self.films) if targets is not None]
            if all(file.is_file() for file in files):
                self.entries[place] = entry
                self._save(place, entry, {})
        if self.entries:
            note(f"going on: {len(self.entries)} of {len(self.instances)} were solved before the interruption")

    def take(self, place: int, result: Result, *, last: bool, film: Film | None = None) -> None:
        """Write the files of a result that is the best so far, and show it if it is the last of its instance."""
        runs = self.runs.setdefault(place, SeedResults())
        runs.results.append(result)
        if film is not None and runs.best is result:
            self._reels[place] = film
        if last:
            self._tell(place)
        elif runs.best is result:
            self._saver.write(self._writers(place, result))

    def close(self, *, complete: bool) -> None:
        """Write and print the remaining results; if all is done, delete the record of finished instances."""
        for place in sorted(self.runs.keys() - self._told):
            self._tell(place)
        self._saver.close()
        places = sorted(self.entries)
        if places:
            self._show([self.entries[place].row for place in places])
            rows = [self.entries[place].summary for place in places]
            if self.outputs.summary is not None:
                self._saver.write({self.outputs.summary: lambda path: write_summary(path, rows)})
            if line := summary_line(rows):
                note(line)
        if complete:
            self._kept.finish()

    def _tell(self, place: int) -> None:
        runs = self.runs[place]
        row = seeds_row(runs) if self.seeds > 1 else table_row(runs)
        entry = Entry(record=record(runs), row=row, summary=summary_row(runs))
        self._save(place, entry, self._writers(place, runs.best))
        self.entries[place] = entry
        self._told.add(place)
        whole = len(runs.results) == self.seeds and not any(result.interrupted for result in runs.results)
        if whole and not any(result.fault for result in runs.results):
            self._kept.add(self._keys[place], entry)

    def _show(self, rows: list[tuple[str, ...]]) -> None:
        """Print the table: on stdout, or with --json on stderr."""
        columns = SEEDS_COLUMNS if self.seeds > 1 else COLUMNS
        if self.outputs.as_json:
            show_table(columns, rows)
            return
        lines = [table_text(columns, rows)]
        if self.outputs.routes:
            lines += [line for place in sorted(self.runs) for line in route_lines(self.runs[place].best)]
        self._saver.show("\n".join(lines))

    def _save(self, place: int, entry: Entry, writers: Writers) -> None:
        solution = None if self.solutions is None else self.solutions[place]
        self._saver.save(place, json.dumps(entry.record), writers, solution, as_json=self.outputs.as_json)

    def _writers(self, place: int, result: Result) -> Writers:
        """How each file of an answer is written."""
        writers: Writers = {}
        if self.solutions is not None:
            writers[self.solutions[place]] = lambda path: write_solution(
                path, result.instance, result.routes, result.cost
            )
        if self.plots is not None:
            writers[self.plots[place]] = lambda path: save_plot(result, path)
        if self.films is not None and place in self._reels:
            writers[self.films[place]] = lambda path: self._reels[place].save(result, path)
        return writers
