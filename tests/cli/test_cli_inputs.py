"""`dact solve` and the files, folders and patterns it is given."""

import csv
import io
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from cli_files import SQUARE, tsp_text, vrp_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two instances, and files that are none."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("b", "a"):
        (folder / f"{name}.tsp").write_text(tsp_text(SQUARE))
    (folder / "README.txt").write_text("about\n")
    (folder / "a.tour").write_text("TOUR_SECTION\n1\n2\n3\n4\n5\n6\n-1\n")
    return folder


@pytest.mark.parametrize("given", ["", "*.tsp", "?.tsp"])
def test_folders_and_patterns(dact, folder: Path, given: str):
    """A folder or a pattern stands for its instances, in the order of their names."""
    answer = dact("solve", folder / given, "--steps", 1, "--json")
    assert [record["name"] for record in answer.records] == ["a", "b"]


@pytest.mark.parametrize("given", ["", "*.*"])
def test_locks_and_hidden_files_are_passed_over(dact, tmp_path: Path, given: str):
    """What Excel and macOS leave beside tables is no input, and nothing is said of it."""
    (tmp_path / "a.csv").write_text("x,y\n0,0\n0,1\n1,1\n")
    for name in ("~$a.xlsx", "._a.csv", ".b.csv"):
        (tmp_path / name).write_bytes(b"\x05owner")
    answer = dact("solve", tmp_path / given, "--steps", 1, "--json")
    assert (answer.code, [record["name"] for record in answer.records]) == (0, ["a"])
    assert "owner" not in answer.err
    assert "$a" not in answer.err
    (tmp_path / "a.csv").unlink()
    dact("solve", tmp_path / given).refused("no file")


def test_nothing_found(dact, folder: Path, tmp_path: Path):
    """A folder without instances and a pattern that fits nothing are refused."""
    (tmp_path / "empty").mkdir()
    dact("solve", tmp_path / "empty").refused("empty", "holds no file")
    dact("solve", folder / "*.vrp").refused("*.vrp", "no file has a name like this")


def test_a_bad_file_does_not_stop_the_rest(dact, folder: Path):
    """The others are solved; what is wrong is said at the end, and the exit code is 1."""
    (folder / "aa.tsp").write_text("TYPE : TSP\n")
    answer = dact("solve", folder, "--steps", 1, "--json")
    assert (answer.code, [record["name"] for record in answer.records]) == (1, ["a", "b"])
    assert f"error: {folder / 'aa.tsp'}: the field DIMENSION is missing\n" in answer.err


def test_our_own_answers_are_skipped(dact, tmp_path: Path):
    """Lists of stops and summaries of earlier runs in a folder are left out with a note, also those of older versions
    and with the semicolons of a spreadsheet; alone they are refused."""
    (tmp_path / "in").mkdir()
    table = tmp_path / "in" / "shops.csv"
    table.write_text("# capacity: 2\nname,x,y,demand\nBase,0,0,0\nAnn,0,1,1\nBen,0,2,1\n")
    stops, summary = tmp_path / "in" / "stops.csv", tmp_path / "in" / "all.csv"
    assert dact("solve", table, "--steps", 1, "--out", stops, "--summary", summary).code == 0
    (tmp_path / "in" / "old.csv").write_text("route,stop,name,load,leg\n1,0,Base,0,0\n1,1,Ann,1,1\n1,2,Base,0,1\n")
    (tmp_path / "in" / "sheet.csv").write_text("\ufeff" + stops.read_text().replace(",", ";"), encoding="utf-8")
    for given in (tmp_path / "in", tmp_path / "in" / "*.csv"):
        answer = dact("solve", given, "--steps", 1, "--json")
        assert (answer.code, answer.record["name"]) == (0, "shops")
        skipped = ", ".join(str(table.with_name(f"{name}.csv")) for name in ("all", "old", "sheet", "stops"))
        assert f"skipped, written by `dact solve` itself: {skipped}\n" in answer.err
    dact("solve", stops).refused("stops.csv: is an answer of `dact solve`, not an instance")
    table.write_text("# capacity: 2\nname,x,y,demand\nBase,0,0,0\nAnn,0,1,1\nAnn,0,2,1\n")
    assert dact("solve", table, "--steps", 1, "--out", stops).code == 0
    assert stops.read_text().splitlines()[0].endswith(",number")
    dact("solve", stops).refused("stops.csv: is an answer of `dact solve`, not an instance")
    table.unlink()
    dact("solve", tmp_path / "in").refused("all.csv: is an answer of `dact solve`, not an instance")


@pytest.mark.parametrize("ending", ["a.csv", "b.csv", "c.tsv", "d.csv", "e.csv", "f.csv", "g.xlsx"])
@pytest.mark.parametrize("option", ["--out", "--summary"])
def test_our_own_answers_saved_by_a_spreadsheet_program(dact, tmp_path: Path, option: str, ending: str):
    """Tabs, UTF-16, quotes, empty cells, a line `sep=;` or a workbook do not make an answer an instance."""
    table, answer, again = tmp_path / "shops.csv", tmp_path / "answer.csv", tmp_path / ending
    table.write_text("name,x,y\nBase,0,0\nAnn,0,1\nBen,0,2\n")
    assert dact("solve", table, "--steps", 1, option, answer).code == 0
    text = answer.read_text()
    rows = list(csv.reader(text.splitlines()))
    tabs, semicolons = text.replace(",", "\t"), text.replace(",", ";").replace("\n", "\r\n")
    quoted = "\n".join(";".join(f'"{cell}"' for cell in row) for row in rows)
    texts = [tabs.encode("utf-16"), semicolons.encode("utf-8-sig"), tabs.encode(), quoted.encode("utf-16")]
    texts += [b"sep=;\r\n" + semicolons.encode(), semicolons.replace("\r\n", ";;\r\n").encode(), saved_workbook(rows)]
    again.write_bytes(texts["abcdefg".index(ending[0])])
    dact("solve", again).refused(f"{ending}: is an answer of `dact solve`, not an instance")


def saved_workbook(*sheets: list[list[str]]) -> bytes:
    """The rows of each sheet as an Excel workbook."""
    book, stream = openpyxl.Workbook(), io.BytesIO()
    for place, rows in enumerate(sheets):
        sheet = book.create_sheet() if place else book.active
        for row in rows:
            sheet.append(row)
    book.save(stream)
    return stream.getvalue()


@pytest.mark.parametrize("blank", [1, 30])
def test_workbooks_with_blank_first_rows(dact, tmp_path: Path, blank: int):
    """What a workbook is, is told by its first row that is not blank, in the sheet that is read."""
    rows, stops = [["x", "y"], ["0", "0"], ["1", "1"]], [["route", "stop", "name", "load", "leg"], ["1", "0", "A"]]
    path = tmp_path / "a.xlsx"
    path.write_bytes(saved_workbook([*[[]] * blank, *rows], stops))
    assert dact("solve", path, "--steps", 1, "--json").record["nodes"] == 2
    path.write_bytes(saved_workbook([*[[]] * blank, *stops], rows))
    dact("solve", path).refused("a.xlsx: is an answer of `dact solve`, not an instance")


def test_an_earlier_answer_is_no_best_known_value(dact, tmp_path: Path):
    """Beside a table lies the answer for another capacity: no gap is told, unless --best-known gives a value."""
    table = tmp_path / "shops.csv"
    table.write_text("x,y,demand\n0,0,0\n0,1,1\n0,2,1\n")
    command = ("solve", table, "--steps", 1, "--json")
    assert dact(*command, "--capacity", 1, "--out", tmp_path / "shops.sol").record["cost"] == 6
    record = dact(*command, "--capacity", 2).record
    assert (record["cost"], record["gap"], record["best_known"]) == (4, None, None)
    (tmp_path / "values.csv").write_text("shops,3.2\n")
    assert dact(*command, "--capacity", 2, "--best-known", tmp_path / "values.csv").record["gap"] == pytest.approx(25)


def test_best_known_values(dact, folder: Path):
    """Values of a file give gaps, by name; those of a solution beside an instance are replaced."""
    values = folder.parent / "values.csv"
    values.write_text("name,nodes,bks\nA,6,100\nz,6,1\n")
    records = dact("solve", folder, "--steps", 1, "--json", "--best-known", values).records
    assert [record["best_known"] for record in records] == [100, None]
    values.write_text("z,100\n")
    dact("solve", folder, "--best-known", values).refused("values.csv", "none of the instances")
    values.write_text("name,what\na,1\n")
    dact("solve", folder, "--best-known", values).refused("values.csv", "name and value")


def test_names_a_matrix_and_units(dact, tmp_path: Path):
    """A table of names and decimal demands with a matrix of roads is solved, and the names come back."""
    table, matrix = tmp_path / "shops.csv", tmp_path / "roads.npy"
    table.write_text("name;demand\nBase;0\nNorth;1,5\nSouth;2\nWest;0,5\n")
    np.save(matrix, np.array([[0, 1, 5, 9], [9, 0, 1, 9], [1, 9, 0, 9], [2, 9, 9, 0]]))
    options = ("--matrix", matrix, "--capacity", 3.5, "--demand-unit", 0.5)
    record = dact("solve", table, *options, "--steps", 20, "--json").record
    assert (record["cost"], record["problem"]) == (14, "cvrp")
    assert sorted(record["names"]) == [["North", "South"], ["West"]]


def test_cautions_are_one_line(dact, tmp_path: Path):
    """A warning about a file is a line of its own, without Python's source line."""
    path = tmp_path / "a.csv"
    path.write_text("x,y,phone\n0,0,1\n0,1,1\n1,0,1\n")
    answer = dact("solve", path, "--steps", 1, "--json")
    doubt = "no column is called demand, so this is one tour of all rows"
    assert answer.err.startswith(f"warning: {path}: the column 'phone' is not used; {doubt}\ninstance ")


def test_a_capacity_that_is_missing(dact, tmp_path: Path):
    """The option is named."""
    table = tmp_path / "a.csv"
    table.write_text("x,y,demand\n0,0,0\n0,1,1\n")
    dact("solve", table).refused("a.csv", "add the line '# capacity: 50', or give one (--capacity)")


@pytest.mark.parametrize("command", [["evaluate"], ["bench", "hybrid"]])
def test_a_capacity_that_is_missing_where_no_option_gives_it(dact, tmp_path: Path, command: list[str]):
    """Commands without --capacity do not ask for it."""
    table = tmp_path / "a.csv"
    table.write_text("x,y,demand\n0,0,0\n0,1,1\n")
    dact(*command, table).refused("a.csv", "no capacity: add the line '# capacity: 50'\n")


@pytest.mark.parametrize("option", ["--capacity", "--demand-unit", "--matrix"])
def test_options_of_tables_for_a_set(dact, tmp_path: Path, option: str):
    """A set has no use for what is asked of tables, and says so."""
    np.savez(tmp_path / "set.npz", coords=np.random.default_rng(0).random((2, 5, 2)))
    dact("solve", tmp_path / "set.npz", option, 2).refused("set.npz", "can be given for tables only")


def test_vehicles(dact, depot: Path):
    """--vehicles replaces the file's, is a limit, and is refused below what the loads need."""
    depot.write_text(depot.read_text().replace("CAPACITY", "VEHICLES : 4\nCAPACITY"))
    assert len(dact("solve", depot, "--vehicles", 2, "--steps", 5, "--json").record["routes"]) == 2
    dact("solve", depot, "--vehicles", 1).refused("depot.vrp", "vehicles 1 is below 2")


def test_vehicles_that_are_not_enough(dact, depot: Path, tmp_path: Path):
    """Where the limit is not reached the exit code is 1, and the other instances are solved."""
    path = tmp_path / "fours.csv"
    path.write_text("# capacity: 10\n0,0,0\n1,0,4\n0,1,4\n1,1,4\n2,1,4\n3,0,4\n")
    answer = dact("solve", path, depot, "--vehicles", 2, "--time-limit", 0.1, "--json")
    assert (answer.code, answer.record["name"]) == (1, "depot")
    assert "error: fours: no routes for 2 vehicles were found in the time given; the fewest found are 3\n" in answer.err


LOADED = "x,y,demand\n0,0,0\n0,1,1\n0,2,1\n"
PLACES = "x,y\n0,0\n0,1\n1,1\n"


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder of one table that needs a capacity, and of files that take none."""
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.tsp").write_text(tsp_text(SQUARE))
    (folder / "b.vrp").write_text(vrp_text(SQUARE, [0, 2, 3, 1, 2, 2], 5))
    (folder / "c.csv").write_text(PLACES)
    (folder / "d.csv").write_text(LOADED)
    return folder


def test_a_capacity_for_some_of_many_files(dact, mixed: Path):
    """--capacity goes to tables with demands; others are solved as they are, with one note that names them."""
    alone = dact("solve", mixed / "b.vrp", "--steps", 1, "--json").record
    answer = dact("solve", mixed, "--steps", 1, "--capacity", 1, "--json")
    assert (answer.code, [record["name"] for record in answer.records]) == (0, ["a", "b", "c", "d"])
    assert [record["problem"] for record in answer.records] == ["tsp", "cvrp", "tsp", "cvrp"]
    assert (answer.records[1]["cost"], answer.records[3]["cost"]) == (alone["cost"], 6)
    named = ", ".join(str(mixed / name) for name in ("a.tsp", "b.vrp", "c.csv"))
    assert answer.err.startswith(f"note: --capacity does not apply to {named}, which are read without it\n")
    assert answer.err.count("does not apply") == 1


def test_a_capacity_and_a_unit_for_some_of_many_files(dact, mixed: Path):
    """--demand-unit goes where --capacity goes; sets and matrices take neither, and long lists are cut."""
    np.savez(mixed / "e.npz", coords=np.random.default_rng(0).random((1, 4, 2)))
    np.save(mixed / "f.npy", np.ones((4, 4)) - np.eye(4))
    (mixed / "g.csv").write_text("A,B,C\n0,1,2\n1,0,2\n2,1,0\n")
    answer = dact("solve", mixed, "--steps", 1, "--capacity", 1.5, "--demand-unit", 0.5, "--json")
    assert (answer.code, len(answer.records)) == (0, 7)
    assert f"--capacity and --demand-unit do not apply to {mixed / 'a.tsp'}, " in answer.err
    assert f"{mixed / 'f.npy'} and 1 other, which are read without them\n" in answer.err


def test_a_capacity_for_none_of_many_files(dact, mixed: Path):
    """--capacity is refused where it applies to no input, as for a single file."""
    (mixed / "d.csv").unlink()
    (mixed / "broken.vrp").write_text("TYPE : CVRP\n")
    for given in ([mixed], [mixed / "a.tsp", mixed / "b.vrp"], [mixed / "a.tsp"]):
        dact("solve", *given, "--capacity", 12).refused("a.tsp: a capacity can be given for tables only")
    dact("solve", mixed / "c.csv", "--capacity", 12).refused("c.csv: a capacity is given, but there is no demand")


def test_a_capacity_beside_files_that_cannot_be_read(dact, mixed: Path):
    """What is wrong with a file is said, not that it takes no capacity; a table that cannot be read may need one."""
    (mixed / "aa.tsp").write_text("TYPE : TSP\n")
    (mixed / "d.csv").write_text(LOADED.replace("2,1", "2,one"))
    answer = dact("solve", mixed, "--steps", 1, "--capacity", 12, "--json")
    assert (answer.code, [record["name"] for record in answer.records]) == (1, ["a", "b", "c"])
    assert f"error: {mixed / 'aa.tsp'}: the field DIMENSION is missing\n" in answer.err
    assert f"error: {mixed / 'd.csv'}: line 4: demand is 'one', not a number\n" in answer.err
    assert "2 of the files could not be read\n" in answer.err
    named = ", ".join(str(mixed / name) for name in ("a.tsp", "b.vrp", "c.csv"))
    assert f"note: --capacity does not apply to {named}, which are" in answer.err
