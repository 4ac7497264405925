"""Tables as spreadsheet programs and people leave them."""

from __future__ import annotations

from pathlib import Path

import pytest
from instance_cases import assert_plain, loaded, refusal, saved

from dact.instances import InputWarning, read
from dact.instances.published import read_best_known

PLAIN = "# capacity: 12\nname,x,y,demand\nHome,0,0,0\nAda,3,0,4\nBob,3,4,6\nCyd,0,4,7\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", PLAIN),
        ("a.csv", PLAIN.replace("# capacity: 12", "# capacity: 12,,,")),
        ("a.csv", PLAIN.replace("# capacity: 12", '"# capacity: 12";;;').replace(",", ";")),
        ("a.csv", PLAIN.replace(",", "\t")),
        ("a.tsv", PLAIN.replace(",", "\t").replace("\t3\t4\t", "\t3,0\t4,000\t")),
        ("a.csv", PLAIN.replace(",", "|")),
        ("a.csv", "sep=;\n" + PLAIN.replace(",", ";")),
        ("a.csv", PLAIN.replace(",", ",\t")),
        ("a.csv", PLAIN.replace(",", "\t").encode("utf-16")),
        ("a.csv", PLAIN.replace("Home,0,0,0", "Home,0,0,")),
        ("a.csv", "#,name,x,y,demand,note\n1,Home,0,0,0,\n2,Ada,3,0,4,\n3,Bob,3,4,6,\n4,Cyd,0,4,7,\n# capacity: 12"),
    ],
)
@pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")
def test_other_ways_to_write_a_table(tmp_path: Path, name: str, content: str | bytes) -> None:
    """Rows filled with delimiters, tabs, bars, UTF-16, a stated separator, no demand of the depot, a column '#'."""
    assert_plain(loaded(tmp_path, name, content))


def test_a_quoted_cell_may_hold_line_ends(tmp_path: Path) -> None:
    """Names get spaces instead; lines are still counted as in the file."""
    text = 'name,x,y,note\n"Ada\nB",1,2,"by\n\nthe\nlake"\nBob,3,4,\n'
    with pytest.warns(InputWarning, match="'note' is not used"):
        assert loaded(tmp_path, "a.csv", text).names == ("Ada B", "Bob")
    assert "line 7: x is '?'" in refusal(tmp_path, "b.csv", text.replace(",note", ",").replace("Bob,3", "Bob,?"))


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (
            "Kunde;Breitengrad;Längengrad;Menge (kg)",
            "'Kunde' as name, 'Breitengrad' as lat, 'Längengrad' as lon, 'Menge",
        ),
        (
            "Customer;GPS_Lat;Long.;Quantity",
            "'Customer' as name, 'GPS_Lat' as lat, 'Long.' as lon, 'Quantity' as demand",
        ),
    ],
)
def test_other_words_for_columns(tmp_path: Path, header: str, said: str) -> None:
    """Headers that probably mean a column are taken for it, and that is said."""
    with pytest.warns(InputWarning, match="columns are read by their likely meaning") as seen:
        instance = loaded(tmp_path, "a.csv", f"{header}\nHome;52,1;5,1;0\nAda;52,2;5,2;3\n# capacity: 5\n")
    assert said in str(seen[0].message)
    assert (instance.rule, instance.demand.tolist(), instance.names) == ("great_circle", [0, 3], ("Home", "Ada"))


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("Ort;Breite;Länge", "'Breite' as lat, 'Länge' as lon"),
        ("ORT;BREITE;LAENGE", "'BREITE' as lat, 'LAENGE' as lon"),
        ("Ort;Breite (°);Länge [°]", "'Breite (°)' as lat, 'Länge [°]' as lon"),
        ("plaats;breedte;lengte", "'breedte' as lat, 'lengte' as lon"),
        ("plaats;breedtegraad;lengtegraad", "'breedtegraad' as lat, 'lengtegraad' as lon"),
        ("nombre;latitud;longitud", "'latitud' as lat, 'longitud' as lon"),
        ("Ort;Breitengrad;Laengengrad", "'Breitengrad' as lat, 'Laengengrad' as lon"),
    ],
)
@pytest.mark.parametrize("rows", [2, 3])
def test_latitude_and_longitude_in_other_languages(tmp_path: Path, header: str, said: str, rows: int) -> None:
    """Words for latitude and longitude are taken for them, and that is said; such a table is no matrix of three."""
    text = "\n".join([header, *["Home;52,1;5,1", "Ada;52,2;5,2", "Bob;52,3;5,1"][:rows], ""])
    with pytest.warns(InputWarning, match="columns are read by their likely meaning") as seen:
        instance = loaded(tmp_path, "a.csv", text)
    assert said in str(seen[0].message)
    assert (instance.rule, instance.size, instance.coordinates[0].tolist()) == ("great_circle", rows, [52.1, 5.1])


@pytest.mark.parametrize(
    "header",
    [
        *("a;Länge;b", "lat;Länge;b", "Breitengrad;Länge;b", "breedte;Länge;b", "Breite;b;c"),
        *("Länge;Breite;Höhe", "lengte;breedte;hoogte", "Länge (cm);Breite (cm);b", "Länge;Breite;Tiefe (mm)"),
    ],
)
def test_width_and_length_of_a_thing(tmp_path: Path, header: str) -> None:
    """Words that also mean length and width are no coordinates alone, beside a height, or with another unit."""
    assert "has neither x,y nor lat,lon" in refusal(tmp_path, "a.csv", f"{header}\n1;2;3\n4;5;6\n")


def test_width_and_length_beside_coordinates(tmp_path: Path) -> None:
    """In a table that has coordinates, they are other columns."""
    for header in ("x;y;Breite;Länge", "lat;lon;breedte;lengte"):
        with pytest.warns(InputWarning, match="the columns .* are not used"):
            assert loaded(tmp_path, "a.csv", f"{header}\n1;2;3;4\n3;4;5;6\n").coordinates[0].tolist() == [1, 2]


def test_certain_headers_come_first(tmp_path: Path) -> None:
    """Beside a demand, a weight is just another column."""
    with pytest.warns(InputWarning, match="the columns 'weight', 'id' are not used"):
        instance = loaded(tmp_path, "a.csv", "x,y,demand,weight,id,name\n0,0,0,9,1,A\n1,1,2,9,2,B\n# capacity: 5\n")
    assert (instance.demand.tolist(), instance.names) == ([0, 2], ("A", "B"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x,y,Weight,Quantity\n0,0,0,0\n", "line 1: the columns 'Quantity' and 'Weight' may both mean demand"),
        ("x,y,lat,lon\n0,0,1,1\n", "has the columns x, y and the columns lat, lon: leave out those that do not count"),
        (
            "x;y;demand\n0,5;0,5;0\n1,5;1,5;1.200\n",
            "line 3: demand is '1.200', with a point in a file of decimal commas",
        ),
        (
            "x\ty\tdemand\n0.5\t0.5\t0\n1.5\t1.5\t12,000\n",
            "line 3: demand is '12,000', with a comma in a file of decimal points: write decimals with one of",
        ),
        (
            '"x";"y";"demand"\n"0,5";"0,5";"0"\n"1,5";"1,5";"2.000"\n',
            "line 3: demand is '2.000', with a point in a file of decimal commas",
        ),
        (
            "x;y;demand\n0,5;0,5;0\n1,5;1,5;1\n# capacity: 2.000\n",
            "line 4: the capacity is '2.000', with a point in a file of decimal commas",
        ),
        (
            "A;B;C\n0;12,5;1.250\n12,5;0;3\n4;3;0\n",
            "line 2: a distance is '1.250', with a point in a file of decimal commas",
        ),
        (
            "Kunde,Rechts,Hoch,Ort\nA,1,2,3\nB,1,2,3\nC,1,2,3\n",
            "line 1: the header 'Kunde,Rechts,Hoch,Ort' has neither",
        ),
        ("Kunde,Rechts,Hoch\n7,1,2\nB,1,2\nC,1,2\n", "line 1: the header 'Kunde,Rechts,Hoch' has neither x,y nor"),
        (
            "x,y,demand\n1,1,4\n2,2,5\n0,0,0\n",
            "line 2: the first row is the depot, so that its demand must be 0, not 4; ",
        ),
        ("x,y,demand\n1,1,4\n2,2,5\n0,0,0\n", "; line 4 has none"),
        ("x,y\n1,1\n2,2\n# capacity: 5\n", "a capacity is given, but there is no demand column"),
        ("name,x,y,demand\nHome,0,0,0\nAda,1,1,8\n# capacity: 5\n", "demand 8 (customer 1, 'Ada')"),
    ],
)
@pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")
def test_refusals(tmp_path: Path, text: str, expected: str) -> None:
    """What could be meant in two ways is refused."""
    assert expected in refusal(tmp_path, "a.csv", text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x;y;demand\n0;0;0\n1;1;12,000\n", "line 3: demand is '12,000': write 12000 or 12,0, whichever it means"),
        ("x\ty\tdemand\n0\t0\t0\n1\t1\t1,250\n2\t2\t900\n", "line 3: demand is '1,250': write 1250 or 1,25, which"),
        ('x;y;demand\n0;0;0\n1;1;"1,234"\n', "line 3: demand is '1,234': write 1234 or 1,2340, whichever it means"),
        ("x;y;demand\n0;0;0\n1;1;5\n# capacity: 1,000\n", "line 4: the capacity is '1,000': write 1000 or 1,0, which"),
        ("x;y\n0;850\n0;1,200\n", "line 3: y is '1,200': write 1200 or 1,2, whichever it means"),
        ("A;B\n0;1,200\n850;0\n", "line 2: a distance is '1,200': write 1200 or 1,2, whichever it means"),
        ("lat;lon;demand\n52,123;5,456;0\n52,124;5,457;12,000\n", "line 3: demand is '12,000': write 12000 or 12,0"),
    ],
)
def test_commas_that_may_stand_between_thousands(tmp_path: Path, text: str, expected: str) -> None:
    """Where tabs or semicolons separate cells, 12,000 is refused unless another comma is certainly a decimal comma."""
    assert expected in refusal(tmp_path, "a.csv", text)


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("0:12", "write a time as a number, such as its minutes"),
        ("1:05:30", "write a time as a number, such as its minutes"),
        ("1 200", "write it with nothing between thousands"),
        ("1,200", "write it with nothing between thousands"),
        ("1.200,50", "write it with nothing between thousands"),
        ("1'200.5", "write it with nothing between thousands"),
        ("12,5", "write 12.5"),
    ],
)
def test_numbers_as_people_write_them(tmp_path: Path, cell: str, advice: str) -> None:
    """The refusal of a time, of marks between thousands and of a decimal comma among commas says how to write them."""
    expected = f"line 2: a distance is {cell!r}, not a number: {advice}"
    assert refusal(tmp_path, "a.csv", f',A,B\nA,0,"{cell}"\nB,1,0\n') == expected


@pytest.mark.parametrize("other", ["3,5", "0,500", "1250,125", "-0,125"])
def test_commas_that_are_decimal_commas(tmp_path: Path, other: str) -> None:
    """One comma that cannot stand between thousands shows what the others are; degrees have no thousands."""
    text = f"x;y;demand\n0;{other};0\n1;1;12,000\n# capacity: 15,000\n"
    instance = loaded(tmp_path, "a.csv", text)
    assert (instance.demand.tolist(), instance.capacity) == ([0, 12], 15)
    globe = loaded(tmp_path, "b.csv", "lat;lon\n52,123;5,456\n52,124;5,457\n")
    assert globe.coordinates is not None
    assert globe.coordinates[0].tolist() == [52.123, 5.456]


def test_points_in_comments_above_decimal_commas(tmp_path: Path) -> None:
    """A comment may have a decimal point, unless it may stand between thousands."""
    text = "# capacity: 12.5\nx;y;demand\n0;0;0\n1,5;2;2,5\n"
    instance = read(saved(tmp_path, "a.csv", text), demand_unit=0.5)
    assert instance.capacity * instance.demand_unit == 12.5
    for points in ("12.500", "1.200.500"):
        said = f"line 1: the capacity is '{points}', with a point in a file of decimal commas"
        assert said in refusal(tmp_path, "b.csv", text.replace("12.5", points).replace("2,5", "2"))


@pytest.mark.parametrize(
    ("name", "rows"),
    [('"Main St; 12,5"', "{};1.5;2.5;0;\nB;1;1;2;\n"), ("12,5", "{};1.5;2.5;0;\nB;1;1;2;3,5\n")],
)
@pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")
def test_commas_in_names_and_notes(tmp_path: Path, name: str, rows: str) -> None:
    """Commas of cells that are not read as numbers say nothing of those that are."""
    table = "name;x;y;demand;note\n" + rows.format(name)
    instance = read(saved(tmp_path, "a.csv", table), capacity=5)
    assert (instance.names[0], instance.coordinates is not None) == (name.strip('"'), True)
    ambiguous = table.replace(";2;", ";12,000;").replace("1.5;2.5", "1;2")
    assert "line 3: demand is '12,000': write 12000 or 12,0" in refusal(tmp_path, "b.csv", ambiguous)
    assert loaded(tmp_path, "m.csv", f";{name};B\n{name};0;1.5\nB;1;0\n").distances()[0, 1] == 1.5
    best = saved(tmp_path, "best.csv", f"name;note;value\n{name};3,5;784.5\n")
    assert read_best_known(best) == {instance.names[0].lower(): 784.5}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Shops of March,,\nx,y,\n1,1,\n2,2,\n", "line 1: 'Shops of March' is taken for a title"),
        ("# vehicle: 5\nx,y\n1,1\n2,2\n", "line 1: the comment 'vehicle: 5' is not used: did you mean vehicles?"),
        ("# max_length: 300\nx,y\n1,1\n2,2\n", "'max_length: 300' is not used: comments can state capacity, vehicles"),
        ("name,x,y\nA,1,1\nA,2,2\n", "the name 'A' is used twice, in lines 2 and 3"),
    ],
)
def test_warnings(tmp_path: Path, text: str, said: str) -> None:
    """What is left out is said."""
    path = saved(tmp_path, "a.csv", text)
    with pytest.warns(InputWarning) as seen:
        assert read(path).size == 2
    assert said in str(seen[0].message)


@pytest.mark.parametrize(
    "text", ["# drawn by: Bob\n1,1\n2,2\n", "# see http://x.y/z\n1,1\n2,2\n", "#\n1,1\n2,2\n#,,\n"]
)
def test_other_comments_are_just_comments(tmp_path: Path, text: str) -> None:
    """Nothing is said of them (warnings would fail the test)."""
    assert loaded(tmp_path, "a.csv", text).size == 2


def test_a_text_file_that_is_a_table(tmp_path: Path) -> None:
    """Excel's "Unicode Text" ends in .txt, as some TSPLIB files do."""
    assert "is a table: give it a name that ends in .csv" in refusal(tmp_path, "a.txt", PLAIN.replace(",", "\t"))


@pytest.mark.parametrize("order", ["ABC", "CAB"])
def test_a_matrix_with_columns_in_another_order_and_more_places(tmp_path: Path, order: str) -> None:
    """Columns are matched with the rows by name; a table may be a part of a larger matrix."""
    legs = {("A", "B"): 1, ("B", "A"): 2, ("A", "C"): 3, ("C", "A"): 4, ("B", "C"): 5, ("C", "B"): 6}
    lines = [",".join(("", *order))]
    lines += [",".join((a, *(str(legs.get((a, b), "")) for b in order))) for a in "ABC"]
    matrix = saved(tmp_path, "roads.csv", "\n".join(lines) + "\n")
    assert read(matrix).distances().tolist() == [[0, 1, 3], [2, 0, 5], [4, 6, 0]]
    table = saved(tmp_path, "a.csv", "name,demand\nC,0\nA,1\n")
    with pytest.warns(InputWarning, match=r"'B' of the matrix .*roads.csv is not in the table, and left out"):
        assert read(table, capacity=1, matrix=matrix).distances().tolist() == [[0, 4], [3, 0]]
