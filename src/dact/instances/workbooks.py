"""Excel workbooks: the rows of the first visible sheet, as the text of a CSV file."""

from __future__ import annotations

import csv
import io
import warnings
import zipfile
from typing import Any

from dact.instances.errors import InputError, brief
from dact.instances.limits import check_nodes

MAX_UNPACKED = 2**27
"""Bytes that a workbook may unpack to."""
MORE_ROWS = 1000
"""Rows that a sheet may have beyond the nodes: headers, comments, blank ones."""
MAX_FILL = 100
"""Blank cells that are added to a row that is shorter than others."""


def workbook_text(content: bytes, max_nodes: int, most_rows: int | None = None) -> str:
    """The rows of the first visible sheet that is not empty, a line for each: lines are numbered as its rows. With
    `most_rows`, it ends after so many that are not blank.
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
            texts = (_text(sheet, max_nodes, most_rows) for sheet in book.worksheets if sheet.sheet_state == "visible")
            return next((text for text in texts if text.strip(";\n")), "")
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"is not an Excel workbook ({brief(error)})") from None


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
