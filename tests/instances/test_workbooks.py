"""Excel workbooks: tables, matrices, and what is wrong with them."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest
from instance_cases import assert_plain, loaded, refusal, saved

from dact.instances import InputError, InputWarning, read
from dact.instances.matrix_files import read_distances
from dact.instances.workbooks import MAX_UNPACKED, workbook_text


def workbook(rows: Sequence[Sequence[object]], before: Sequence[Sequence[object]] | None = None) -> bytes:
    """An Excel workbook; maybe with another sheet before."""
    book = openpyxl.Workbook()
    sheet = book.active
    if before is not None:
        for row in before:
            sheet.append(row)
        sheet.sheet_state = "hidden"
        sheet = book.create_sheet("customers")
        book.active = 1
    for row in rows:
        sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


ROWS = [
    ["# capacity: 12"],
    ["name", "x", "y", "demand"],
    ["Home", 0, 0.0, None],
    ["Ada", 3, 0, 4],
    [],
    ["Bob", 3, 4, 6],
]
ROWS.append(["Cyd", "0", 4.0, 7.0])


def test_workbooks(tmp_path: Path) -> None:
    """The first sheet that can be seen is read, numbers and texts alike."""
    assert_plain(loaded(tmp_path, "a.xlsx", workbook(ROWS)))
    assert_plain(loaded(tmp_path, "b.xlsx", workbook(ROWS, before=[["x", "y"], [1, 2]])))
    assert read(saved(tmp_path, "c.xlsx", workbook(ROWS[1:])), capacity=12).demand.tolist() == [0, 4, 6, 7]


@pytest.mark.parametrize("size", [3, 130])
def test_a_matrix_in_a_workbook(tmp_path: Path, size: int) -> None:
    """Distances of a table may be an Excel sheet, whose diagonal may be blank."""
    names = [f"P{place}" for place in range(size)]
    rows = [["", *names]] + [[a, *(None if a == b else 2.5 + int(a < b) for b in names)] for a in names]
    matrix = saved(tmp_path, "roads.xlsx", workbook(rows))
    table = saved(tmp_path, "a.csv", "name,demand\n" + "".join(f"{name},{int(name != 'P0')}\n" for name in names))
    instance = read(table, capacity=5, matrix=matrix)
    assert (instance.distances()[0, 1], instance.distances()[1, 0]) == (3.5, 2.5)
    assert read(matrix).names == tuple(names)


def test_bad_workbooks(tmp_path: Path) -> None:
    """Mistakes name the row; what is no workbook says so; a bomb is not unpacked."""
    assert "line 6: x is 'three', not a number" in refusal(
        tmp_path, "a.xlsx", workbook([*ROWS[:5], ["B", "three", 1, 1]])
    )
    assert "is not an Excel workbook" in refusal(tmp_path, "b.xlsx", b"name,x,y\n")
    assert "holds no row of numbers" in refusal(tmp_path, "c.xlsx", workbook([]))
    assert "is a spreadsheet: save it as .csv or .xlsx" in refusal(tmp_path, "d.ods", b"PK")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(MAX_UNPACKED + 1))
    assert "above the limit" in refusal(tmp_path, "e.xlsx", stream.getvalue())
    with pytest.raises(InputError, match="above the limit of 3"):
        read(saved(tmp_path, "f.xlsx", workbook(ROWS)), max_nodes=3)


def test_times_in_a_workbook(tmp_path: Path) -> None:
    """Cells that a spreadsheet program shows as times are refused as such too."""
    rows = [["", "A", "B"], ["A", 0, datetime.time(0, 12)], ["B", datetime.timedelta(minutes=15), 0]]
    assert "line 2: a distance is '00:12:00', not a number: write a time as" in refusal(
        tmp_path, "a.xlsx", workbook(rows)
    )


def filtered(hidden: Sequence[int], sheets: Sequence[Sequence[object]] = ()) -> bytes:
    """A workbook with hidden rows, and with more sheets of one row each."""
    book = openpyxl.Workbook()
    for row in ROWS:
        book.active.append(row)
    for row in hidden:
        book.active.row_dimensions[row].hidden = True
    for place, cells in enumerate(sheets):
        book.create_sheet(f"more {place}").append(cells)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (filtered([4]), "a.xlsx: 1 hidden row of the sheet 'Sheet' is used too"),
        (filtered([4, 5, 7]), "a.xlsx: 2 hidden rows of the sheet 'Sheet' are used too"),
        (filtered([], [[], ["x"]]), "a.xlsx: has several sheets: only the first, 'Sheet', is read"),
    ],
)
def test_what_a_person_may_not_see(content: bytes, said: str) -> None:
    """Hidden rows are used and other visible sheets are not, and both are said once."""
    with pytest.warns(InputWarning) as seen:
        text = workbook_text(content, 100, place="a.xlsx")
    assert [str(each.message) for each in seen] == [said]
    assert text == workbook_text(workbook(ROWS), 100)


@pytest.mark.filterwarnings("error::dact.instances.InputWarning")
def test_what_a_person_sees(tmp_path: Path) -> None:
    """Blank hidden rows, hidden or blank sheets are not spoken of, and nothing where nobody is to be warned."""
    for content in (filtered([5], [[]]), workbook(ROWS, before=[["x", "y"], [1, 2]])):
        assert "Ada;3;0;4" in workbook_text(content, 100, place="a.xlsx")
    assert "Ada;3;0;4" in workbook_text(filtered([4], [["x"]]), 100)


def test_hidden_rows_of_a_matrix(tmp_path: Path) -> None:
    """They are used, and that is said."""
    book = openpyxl.Workbook()
    for row in (["", "A", "B"], ["A", 0, 2], ["B", 3, 0]):
        book.active.append(row)
    book.active.row_dimensions[3].hidden = True
    book.save(tmp_path / "m.xlsx")
    with pytest.warns(InputWarning, match="m.xlsx: 1 hidden row of the sheet 'Sheet' is used too"):
        assert read_distances(tmp_path / "m.xlsx").matrix.tolist() == [[0, 2], [3, 0]]
