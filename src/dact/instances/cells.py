"""Cells of CSV files: delimiters, quotes, headers, and what spreadsheet programs make of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from dact.instances.errors import InputError, naming, shown
from dact.instances.files import numbered_lines

DELIMITERS = (";", "\t", ",", "|")
"""What may separate cells: the first of them that the first row has."""
BLANK = "".join((*DELIMITERS, " "))
LONGEST_CELL, LONGEST_LINE = 20, 2**14
"""Lines of a quoted cell, and characters of the first of them."""
_SEPARATOR = re.compile(r"sep=([;,|\t])", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+")
_POINTS = re.compile(r"\d{1,3}(\.\d{3})+")


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Lines that are not blank, numbered as in the file, and comments without their '#'."""

    lines: list[tuple[int, str]]
    comments: list[tuple[int, str]]
    delimiter: str
    numeric: Container[int] | None = None
    """Columns that are read as numbers; None: all."""
    first: int = 0
    """Place of the first row below the header."""

    @classmethod
    def parse(cls, text: str) -> Sheet:
        """Read lines. With a semicolon, a tab or a bar in the first row, this separates cells; with the first two,
        commas may be decimal commas. Excel's first line `sep=;` is obeyed.
        """
        every = list(numbered_lines(text, ends=" "))
        stated = _SEPARATOR.fullmatch(every[0][1].strip(' "')) if every else None
        every = every[1:] if stated else every
        comments = [(number, comment) for number, line in every if (comment := _comment(line)) is not None]
        lines = [each for each in every if _comment(each[1]) is None and each[1].strip(BLANK)]
        delimiter = stated[1] if stated else _delimiter(lines[0][1] if lines else "")
        return cls(lines=_joined(lines, delimiter), comments=comments, delimiter=delimiter)

    def reading(self, numeric: Container[int], first: int) -> Sheet:
        """Return the sheet with what is known of its columns and its header."""
        return replace(self, numeric=numeric, first=first)

    def cells(self, place: int) -> tuple[int, list[str]]:
        """Return the number of a line, and its cells."""
        number, line = self.lines[place]
        if '"' not in line:
            return number, [cell.strip() for cell in line.split(self.delimiter)]
        with naming(f"line {number}"):
            try:
                row = _unquoted(line, self.delimiter)
            except (csv.Error, ValueError):
                raise InputError("has a quoted cell that does not end, or that is longer than any name") from None
        return number, [" ".join(cell.split()) if "\n" in cell else cell.strip() for cell in row]

    @cached_property
    def width(self) -> int:
        """Return how many cells the first line has."""
        return len(self.cells(0)[1])

    def decimal(self, cell: str) -> str:
        """Return the cell with a decimal point instead of a decimal comma."""
        commas = self.delimiter in ";\t" and cell.count(",") == 1 and "." not in cell
        return cell.replace(",", ".") if commas else cell

    @cached_property
    def has_decimal_commas(self) -> bool:
        """Is a number anywhere written with a decimal comma?"""
        return any(self._with_commas())

    @cached_property
    def has_certain_commas(self) -> bool:
        """Does one of them hold a comma that cannot stand between thousands, as in 2,5 or 0,125?"""
        return not all(_THOUSANDS.fullmatch(cell) for cell in self._with_commas())

    def _with_commas(self) -> Iterator[str]:
        """Cells that hold a number with one comma, where this may be a decimal comma."""
        if self.delimiter not in ";\t":
            return
        for place in range(self.first, len(self.lines)):
            cells: list[str] = []
            if "," in self.lines[place][1]:
                with suppress(InputError):  # told when the row is read
                    cells = self.cells(place)[1]
            for column, cell in enumerate(cells):
                if (self.numeric is None or column in self.numeric) and _DECIMAL_COMMA.fullmatch(cell):
                    yield cell

    def plain(self, what: str, cell: str, *, thousands: bool = True, comment: bool = False) -> str:
        """Return the cell with a decimal point. Refuse marks that may stand between thousands: a point among decimal
        commas, and, unless there are no `thousands`, a comma where no other is certainly a decimal comma. People write
        a comment, a spreadsheet program the cells: its points are refused only where they may stand between thousands.
        """
        if (_POINTS.fullmatch(cell) if comment else "." in cell) and self.has_decimal_commas:
            advice = "write decimals with one of them only, and nothing between thousands"
            raise InputError(f"{what} is {shown(cell)}, with a point in a file of decimal commas: {advice}")
        plain = self.decimal(cell)
        if thousands and plain != cell and _THOUSANDS.fullmatch(cell) and not self.has_certain_commas:
            trimmed = cell.rstrip("0")
            decimal = trimmed if trimmed != cell and trimmed[-1] != "," else f"{trimmed}0"
            raise InputError(f"{what} is {shown(cell)}: write {cell.replace(',', '')} or {decimal}, whichever it means")
        return plain

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


def _comment(line: str) -> str | None:
    """The text after '#'. Spreadsheet programs may quote a comment, and fill its row with delimiters."""
    first, rest = line.lstrip('"')[:1], line.lstrip('"')[1:].strip('"')
    if first != "#" or (rest[:1] in DELIMITERS and rest.strip(BLANK + '"')):  # a column may be called '#'
        return None
    return rest.strip(BLANK + '"').lstrip("#").strip()


def _joined(lines: list[tuple[int, str]], delimiter: str) -> list[tuple[int, str]]:
    """Lines with those that go on in a quoted cell appended, where this closes the quotes."""
    joined, place = [], 0
    while place < len(lines):
        (number, line), used = lines[place], 1
        if '"' in line and len(line) <= LONGEST_LINE and not _closed(line, delimiter):
            block = [each for _, each in lines[place : place + LONGEST_CELL]]
            tries = ("\n".join(block[:count]) for count in range(2, len(block) + 1))
            found = next((each for each in tries if _closed(each, delimiter)), line)
            line, used = found, found.count("\n") + 1
        joined.append((number, line))
        place += used
    return joined


def _closed(line: str, delimiter: str) -> bool:
    try:
        _unquoted(line, delimiter)
    except (csv.Error, ValueError):
        return False
    return True


def _unquoted(text: str, delimiter: str) -> list[str]:
    """The cells of one row, whose quoted cells may hold line ends."""
    (row,) = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, strict=True, skipinitialspace=True)
    return row


def _delimiter(line: str) -> str:
    """What separates the cells of the first row; tabs beside commas only align."""
    bare = "".join(line.split('"')[::2])
    found = [mark for mark in DELIMITERS if mark in bare]
    if found[:2] == ["\t", ","] and not any("\t" in cell.strip() for cell in bare.split(",")):
        return ","
    return found[0] if found else ","
