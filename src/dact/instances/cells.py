"""Cells of CSV files: delimiters, quotes, headers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from dact.instances.errors import InputError, naming
from dact.instances.files import numbered_lines


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Lines that are not blank, numbered as in the file, and comments without their '#'."""

    lines: list[tuple[int, str]]
    comments: list[tuple[int, str]]
    delimiter: str

    @classmethod
    def parse(cls, text: str) -> Sheet:
        """Read lines. With a semicolon in the first row, semicolons separate cells and commas may be decimal commas."""
        every = list(numbered_lines(text))
        lines = [each for each in every if not each[1].startswith("#") and each[1].strip(",; \t")]
        first = lines[0][1] if lines else ""
        return cls(
            lines=lines,
            comments=[(number, line.lstrip("#").strip()) for number, line in every if line.startswith("#")],
            delimiter=";" if ";" in _without_quoted(first) else ",",
        )

    def cells(self, place: int) -> tuple[int, list[str]]:
        """Return the number of a line, and its cells."""
        number, line = self.lines[place]
        if '"' not in line:
            return number, [cell.strip() for cell in line.split(self.delimiter)]
        with naming(f"line {number}"):
            try:
                (row,) = csv.reader([line], delimiter=self.delimiter, strict=True, skipinitialspace=True)
            except (csv.Error, ValueError):
                raise InputError("has a quoted cell that does not end, or that is longer than any name") from None
        return number, [cell.strip() for cell in row]

    @cached_property
    def width(self) -> int:
        """Return how many cells the first line has."""
        return len(self.cells(0)[1])

    def decimal(self, cell: str) -> str:
        """Return the cell with a decimal point instead of a decimal comma."""
        return cell.replace(",", ".") if self.delimiter == ";" and cell.count(",") == 1 and "." not in cell else cell

    def is_number(self, cell: str) -> bool:
        """Is the cell a number (nan included)?"""
        try:
            float(self.decimal(cell))
        except ValueError:
            return False
        return True

    def is_header(self, cells: Sequence[str]) -> bool:
        """Is there no number among the cells?"""
        return not any(self.is_number(cell) for cell in cells)


def _without_quoted(line: str) -> str:
    return "".join(line.split('"')[::2])
