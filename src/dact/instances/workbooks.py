"""Excel workbooks: the rows of the first visible sheet, as the text of a CSV file."""

from __future__ import annotations

import csv
import io
import re
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from dact.instances.errors import InputError, brief, caution, plural, shown
from dact.instances.limits import check_nodes

MAX_UNPACKED = 2**27
"""Bytes that a workbook may unpack to."""
MORE_ROWS = 1000
"""Rows that a sheet may have beyond the nodes: headers, comments, blank ones."""
MAX_FILL = 100
"""Blank cells that are added to a row that is shorter than others."""
_ROW = re.compile(rb"<(?:\w+:)?row\s[^>]*>")
_HIDDEN = re.compile(rb"""\shidden=["'](?:1|true)["']""")
_NUMBER = re.compile(rb"""\sr=["'](\d{1,9})["']""")


def workbook_text(content: bytes, max_nodes: int, most_rows: int | None = None, *, place: object = None) -> str:
    """The rows of the first visible sheet that is not empty, a line for each: lines are numbered as its rows. With
    `most_rows`, it ends after so many that are not blank. With a `place`, warn about it if rows are hidden or other
    visible sheets are not empty.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise InputError("is an Excel workbook: save it as CSV, or install openpyxl (pip install openpyxl)") from None
    # Corrupt files can fail anywhere in zipfile, zlib and the parsers of XML, with various exceptions.
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
        if unpacked > MAX_UNPACKED:
            raise InputError(f"unpacks to {unpacked} bytes, above the limit of {MAX_UNPACKED} for a workbook")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that do not matter here
            book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
            text, sayings = _first_text(sheets, max_nodes, most_rows, told=place is not None)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"is not an Excel workbook ({brief(error)})") from None
    for saying in sayings:
        caution(place, saying)
    return text


def _first_text(sheets: list[Any], max_nodes: int, most_rows: int | None, *, told: bool) -> tuple[str, list[str]]:
    """The text of the first sheet that is not empty, and what may be `told` of it and of the others."""
    for number, sheet in enumerate(sheets, start=1):
        text = _text(sheet, max_nodes, most_rows)
        if text.strip(";\n"):
            return text, [*_sayings(sheet, sheets[number:], text)] if told else []
    return "", []


def _sayings(sheet: Any, others: list[Any], text: str) -> Iterator[str]:  # noqa: ANN401 - openpyxl has no types
    """That there are hidden rows, which are used, and other sheets, which are not."""
    filled = {number for number, line in enumerate(text.split("\n"), start=1) if line.strip(";")}
    if count := len(_hidden_rows(sheet) & filled):
        are = "is" if count == 1 else "are"
        yield f"{count} hidden {plural(count, 'row')} of the sheet {shown(sheet.title)} {are} used too"
    if any(map(_is_filled, others)):
        yield f"has several sheets: only the first, {shown(sheet.title)}, is read"


def _is_filled(sheet: Any) -> bool:  # noqa: ANN401
    with suppress(InputError):  # of a thousand blank rows
        return bool(_text(sheet, 0, 1).strip(";\n"))
    return False


def _hidden_rows(sheet: Any) -> set[int]:  # noqa: ANN401
    """Numbers of rows that a filter or a person has hidden, of which openpyxl says nothing when it only reads."""
    if not hasattr(sheet, "_get_source"):
        return set()
    with sheet._get_source() as source:
        tags = _ROW.findall(source.read())
    numbers = (_NUMBER.search(tag) for tag in tags if _HIDDEN.search(tag))
    return {int(number[1]) for number in numbers if number}


def _text(sheet: Any, max_nodes: int, most_rows: int | None) -> str:  # noqa: ANN401 - openpyxl has no types
    sheet.reset_dimensions()  # those that the file states may be anything
    rows: list[list[str]] = []
    filled = 0
    for row in sheet.iter_rows(values_only=True):
        check_nodes(len(rows) - MORE_ROWS, max_nodes)
        rows.append(["" if value is None else " ".join(str(value).split()) for value in row])
        filled += any(rows[-1])
        if filled == most_rows:
            break
    width = max(map(len, rows), default=0)
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=";", lineterminator="\n")
    writer.writerows(row + [""] * min(width - len(row), MAX_FILL) for row in rows)
    return stream.getvalue()
