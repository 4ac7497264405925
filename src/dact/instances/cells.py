"""Cells of CSV files: delimiters, quotes, headers, and what spreadsheet programs make of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from dact.instances.columns import is_header_of_customers
from dact.instances.errors import InputError, naming, shown
from dact.instances.files import numbered_lines

WORDS = ("capacity", "vehicles", "problem")
"""What comments can state."""

DELIMITERS = (";", "\t", ",", "|")
"""What may separate cells: the first of them that the first row has."""
BLANK = "".join((*DELIMITERS, " "))
LONGEST_CELL, LONGEST_LINE = 20, 2**14
"""Lines of a quoted cell, and characters of the first of them."""
_SEPARATOR = re.compile(r"sep=([;,|\t])", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")
_THOUSANDS = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+")
_POINTS = re.compile(r"\d{1,3}(\.\d{3})+")
_DECIMAL_POINT = re.compile(r"-?[\d,]*\.\d+")
_SETTING = re.compile(rf"({'|'.join(WORDS)})\s*[:=]", re.IGNORECASE)
_NUMBERED = re.compile(r"#\d")


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
        commas may be decimal commas. Excel's first line `sep=;` is obeyed. Behind the header, a line with '#' is
        a row where it is as wide as others or has numbers: a name may begin with '#'.
        """
        every = list(numbered_lines(text, ends=" "))
        stated = _SEPARATOR.fullmatch(every[0][1].strip(' "')) if every else None
        every = every[1:] if stated else every
        delimiter = stated[1] if stated else _delimiter(_first_row([line for _, line in every]))
        lines, comments = _sorted_out(every, delimiter)
        return cls(lines=lines, comments=comments, delimiter=delimiter)

    def reading(self, numeric: Container[int], first: int) -> Sheet:
        """Return the sheet with what is known of its columns and its header."""
        return replace(self, numeric=numeric, first=first)

    def cells(self, place: int) -> tuple[int, list[str]]:
        """Return the number of a line, and its cells."""
        number, line = self.lines[place]
        with naming(f"line {number}"):
            try:
                row = _split(line, self.delimiter)
            except (csv.Error, ValueError):
                raise InputError("has a quoted cell that does not end, or that is longer than any name") from None
        return number, row

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

    @cached_property
    def has_certain_points(self) -> bool:
        """Does a number anywhere hold a point that cannot stand between thousands, as in 48.1?"""
        return any(_DECIMAL_POINT.fullmatch(cell) and not _POINTS.fullmatch(cell) for cell in self._numbers_with("."))

    def _with_commas(self) -> Iterator[str]:
        """Cells that hold a number with one comma, where this may be a decimal comma."""
        if self.delimiter in ";\t":
            yield from (cell for cell in self._numbers_with(",") if _DECIMAL_COMMA.fullmatch(cell))

    def _numbers_with(self, mark: str) -> Iterator[str]:
        """Cells of the columns of numbers, in rows with a mark."""
        for place in range(self.first, len(self.lines)):
            cells: list[str] = []
            if mark in self.lines[place][1]:
                with suppress(InputError):  # told when the row is read
                    cells = self.cells(place)[1]
            yield from (cell for column, cell in enumerate(cells) if self.numeric is None or column in self.numeric)

    def plain(self, what: str, cell: str, *, thousands: bool = True, comment: bool = False) -> str:
        """Return the cell with a decimal point. Refuse marks that may stand between thousands: a point among decimal
        commas, a comma among decimal points, and, unless there are no `thousands`, a comma where no other is certainly
        a decimal comma. People write a comment, a spreadsheet program the cells: its points are refused only where they
        may stand between thousands.
        """
        advice = "write decimals with one of them only, and nothing between thousands"
        if (_POINTS.fullmatch(cell) if comment else "." in cell) and self.has_decimal_commas and not self._with_points:
            raise InputError(f"{what} is {shown(cell)}, with a point in a file of decimal commas: {advice}")
        plain = self.decimal(cell)
        if plain == cell or not _THOUSANDS.fullmatch(cell):
            return plain
        if self._with_points:
            raise InputError(f"{what} is {shown(cell)}, with a comma in a file of decimal points: {advice}")
        if thousands and not self.has_certain_commas:
            trimmed = cell.rstrip("0")
            decimal = trimmed if trimmed != cell and trimmed[-1] != "," else f"{trimmed}0"
            raise InputError(f"{what} is {shown(cell)}: write {cell.replace(',', '')} or {decimal}, whichever it means")
        return plain

    @cached_property
    def _with_points(self) -> bool:
        """Are points certainly those of decimals, and commas not?"""
        return not self.has_certain_commas and self.has_certain_points

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


def _sorted_out(every: list[tuple[int, str]], delimiter: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """The rows and the comments. Lines that go on in a quoted cell are appended, where this closes the quotes."""
    rows: list[tuple[int, str]] = []
    comments: list[tuple[int, str]] = []
    place = 0
    start, width = _start([line for _, line in every], delimiter)
    while place < len(every):
        (number, line), used = every[place], 1
        quoted = line.startswith('"') or ('"' in line and _comment(line) is None)
        if quoted and len(line) <= LONGEST_LINE and not _closed(line, delimiter):
            line, used = _joined([each for _, each in every[place : place + LONGEST_CELL]], delimiter)
        comment = _comment(line)
        if comment is not None and (place < start or not _is_row(line, comment, delimiter, width)):
            comments.append((number, comment))
        elif line.strip(BLANK):
            rows.append((number, line))
        place += used
    return rows, comments


def _is_row(line: str, comment: str, delimiter: str, width: int) -> bool:
    """Is a line with '#' behind the header a row? One that has only its first cell must be as wide as the others and
    begin with a number, as orders do; a sentence with commas has neither the width nor numbers.
    """
    cells = _cells(line, delimiter)
    several = sum(map(bool, cells)) > 1 and (len(cells) == width or any(map(_is_number, cells[1:])))
    return not _SETTING.match(comment) and (several or (len(cells) == width and bool(_NUMBERED.match(cells[0]))))


def _start(lines: list[str], delimiter: str) -> tuple[int, int]:
    """The place of the header, or of the first row without one, and how many cells it has.

    Above it, lines with '#' are comments, unless they are rows themselves: names of matrices and of tables without a
    header may all begin with it, and so may a header.
    """
    bare = (place for place, line in enumerate(lines) if _comment(line) is None and delimiter in line)
    split = ((place, _cells(lines[place], delimiter)) for place in bare)
    start, first = next(((place, cells) for place, cells in split if sum(map(bool, cells)) > 1), (len(lines), []))
    if first and not any(map(_is_number, first)):
        return start, len(first)
    for place, line in enumerate(lines[:start]):
        cells = _cells(line, delimiter) if delimiter in line and _comment(line) is not None else []
        fits = len(cells) > 1 and (not first or len(cells) == len(first))
        below = {_cells(each, delimiter)[0] for each in lines[start:]} if fits and place == start - 1 else set()
        if fits and (_is_numbered(cells, first) or _is_named(cells, below)):
            return place, len(cells)
    return start, len(first)


def _is_numbered(cells: list[str], first: list[str]) -> bool:
    """Is this a name and numbers, as in the first row without '#'?"""
    named = not first or not _is_number(first[0])
    return named and len(cells) > 2 and all(_is_number(cell) or not cell for cell in cells[1:]) and any(cells[1:])


def _is_named(cells: list[str], below: set[str]) -> bool:
    """Are these headers: of a table of customers, or of a matrix whose rows below have the same names?"""
    if any(map(_is_number, cells)):
        return False
    return all(cell.startswith("#") for cell in cells) or is_header_of_customers(cells) or below >= {*cells[1:]}


def _joined(block: list[str], delimiter: str) -> tuple[str, int]:
    """The first line with those that it goes on in, and how many lines these are."""
    tries = ("\n".join(block[:count]) for count in range(2, len(block) + 1))
    found = next((each for each in tries if _closed(each, delimiter)), block[0])
    return found, found.count("\n") + 1


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


def _split(line: str, delimiter: str) -> list[str]:
    """The cells of one row, without white space around them and line ends within."""
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    return [" ".join(cell.split()) if "\n" in cell else cell.strip() for cell in _unquoted(line, delimiter)]


def _cells(line: str, delimiter: str) -> list[str]:
    """The cells of a row, whose quotes may be wrong."""
    with suppress(csv.Error, ValueError):
        return _split(line, delimiter)
    return [cell.strip(' "') for cell in line.split(delimiter)]


def _is_number(cell: str) -> bool:
    """Is a cell a number, maybe with a decimal comma?"""
    try:
        float(cell.replace(",", ".", 1))
    except ValueError:
        return False
    return True


def _first_row(lines: list[str]) -> str:
    """The first line that is no comment; if all begin with '#', the first that may be a row."""
    found = next((line for line in lines if _comment(line) is None and line.strip(BLANK)), None)
    if found is None:
        comments = ((line, _comment(line) or "") for line in lines)
        rows = (
            line for line, text in comments if not _SETTING.match(text) and any(mark in text for mark in DELIMITERS)
        )
        found = next(rows, "")
    return found


def _delimiter(line: str) -> str:
    """What separates the cells of the first row; tabs beside commas only align."""
    bare = "".join(line.split('"')[::2])
    found = [mark for mark in DELIMITERS if mark in bare]
    if found[:2] == ["\t", ","] and not any("\t" in cell.strip() for cell in bare.split(",")):
        return ","
    return found[0] if found else ","
