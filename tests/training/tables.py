"""What a run wrote."""

import csv
from pathlib import Path


def rows(folder: Path, leave: tuple[str, ...] = ("minutes",)) -> list[dict[str, str]]:
    """The CSV without the columns that depend on the clock, nor the rows that a stop adds."""
    with (folder / "metrics.csv").open(newline="") as file:
        return [
            {name: value for name, value in row.items() if name not in leave}
            for row in csv.DictReader(file)
            if row["event"] != "end"
        ]
