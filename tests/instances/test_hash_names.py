"""Names that begin with '#', as orders do, and comments."""

from __future__ import annotations

from pathlib import Path

import pytest
from instance_cases import loaded, refusal
from test_workbooks import workbook

ORDERS = ["#1001", "#12 Ben", "Ada", "# 7"]
POINTS = [[0.0, 0.0], [2.0, 0.0], [3.0, 4.0], [0.0, 4.0]]
LINES = [f"{name},{x:g},{y:g},{demand}" for name, (x, y), demand in zip(ORDERS, POINTS, (0, 5, 2, 3), strict=True)]
ROWS = "\n".join([*LINES, ""])


@pytest.mark.parametrize(
    "text",
    [
        "# capacity: 9\nname,x,y,demand\n" + ROWS,
        "name,x,y,demand\n" + ROWS + "# capacity: 9\n# the end\n",
        "name,x,y,demand\n# capacity: 9\n# depots first, then shops\n" + ROWS + "# made by Bob, Ada, and Cem\n",
        "name,x,y,demand\n" + ROWS + "#,,,\n# capacity: 9,,,\n",
        "# drawn by Bob, in May, of 12 places, 3\n# capacity: 9\nname,x,y,demand\n" + ROWS,
        "# capacity: 9\n#name,x,y,demand\n" + ROWS,
        "# capacity: 9\n# name,x,y,demand\n" + ROWS,
        "# capacity: 9\n" + ROWS,
        "# drawn by Bob, in May\n" + ROWS + "# capacity: 9\n",
        ("name,x,y,demand\n" + ROWS).replace(",", ";") + '"# capacity: 9";;;\n',
        "# capacity: 9\nname,x,y,demand\n" + ROWS.replace("#12 Ben", '"#12\nBen"'),
    ],
)
def test_rows_whose_names_begin_with_a_hash(tmp_path: Path, text: str) -> None:
    """They are rows behind a header and without one, and comments around them are comments."""
    instance = loaded(tmp_path, "a.csv", text)
    assert (instance.names, instance.capacity) == (tuple(ORDERS), 9)
    assert instance.demand.tolist() == [0, 5, 2, 3]
    assert instance.coordinates.tolist() == POINTS


def test_every_line_begins_with_a_hash(tmp_path: Path) -> None:
    """The header and all rows may."""
    text = "# capacity: 9\n#id;x;y;demand\n#1;0;0;0\n#2;1;1;4\n# made by a program\n"
    with pytest.warns(UserWarning, match="'#id' as name"):
        assert loaded(tmp_path, "a.csv", text).names == ("#1", "#2")
    assert loaded(tmp_path, "b.csv", "#1,0,0\n#2,1,1\n").names == ("#1", "#2")


def test_a_workbook_with_names_that_begin_with_a_hash(tmp_path: Path) -> None:
    """Rows of Excel files too."""
    rows = [["# capacity: 9"], ["name", "x", "y", "demand"], ["#1", 0, 0, 0], ["#2", 1, 1, 4], ["# that is all"]]
    assert loaded(tmp_path, "a.xlsx", workbook(rows)).names == ("#1", "#2")


def test_a_line_end_in_a_name_before_a_hash(tmp_path: Path) -> None:
    """A line inside a quoted cell is no comment."""
    assert loaded(tmp_path, "a.csv", 'name,x,y\n"Ada\n#3 left",1,2\nBob,3,4\n').names == ("Ada #3 left", "Bob")


@pytest.mark.parametrize(
    "text",
    [
        ",#1,#2,#3\n#1,0,2,9\n#2,3,0,5\n#3,8,7,0\n",
        "#1,#2,#3\n0,2,9\n3,0,5\n8,7,0\n",
        "# minutes\n#,#1,#2,#3\n#1,0,2,9\n#2,3,0,5\n#3,8,7,0\n",
        "#from,#3,#1,#2\n#1,9,0,2\n#2,5,3,0\n#3,0,8,7\n",
    ],
)
def test_a_matrix_whose_names_begin_with_a_hash(tmp_path: Path, text: str) -> None:
    """Its rows and its header are read."""
    instance = loaded(tmp_path, "a.csv", text)
    assert instance.names == ("#1", "#2", "#3")
    assert instance.distances().tolist() == [[0, 2, 9], [3, 0, 5], [8, 7, 0]]


def test_columns_of_a_matrix_in_another_order_below_a_hash(tmp_path: Path) -> None:
    """A header of other names that begins with '#' is one, if the rows have its names."""
    assert loaded(tmp_path, "a.csv", "#from,B,A\nA,2,0\nB,0,3\n").distances().tolist() == [[0, 2], [3, 0]]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("#12 Ben,2", "line 3: '#12 Ben,2' has 2 cells, not 4"),
        ("#12 Ben,,,", "line 3: x is '', not a number"),
        ("# Ben,2,zero,1", "line 3: y is 'zero', not a number"),
        ("# capacity: 1,200", "line 3: the capacity is '1,200', not a number"),
    ],
)
def test_rows_that_are_wrong(tmp_path: Path, row: str, expected: str) -> None:
    """A row with '#' that lacks something is refused, not dropped; a setting stays one."""
    assert expected in refusal(tmp_path, "a.csv", f"name,x,y,demand\nHome,0,0,0\n{row}\nAda,1,1,1\n")
