"""Headers as other programs write them, and columns whose values tell more than their headers."""

from __future__ import annotations

from pathlib import Path

import pytest
from instance_cases import loaded, refusal, saved

from dact.instances import InputWarning, read


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("CUSTOMER_ID;Ort", "{0};{1}"),
        ("Ort;Customer ID", "{1};{0}"),
        ("Kundennummer;city", "{0};{1}"),
        ("Kunden-Nr.;Stadt", "{0};{1}"),
        ("Town;Kundennr", "{1};{0}"),
        ("Ort;Firma", "{1};{0}"),
        ("Company;City", "{0};{1}"),
        ("City;Address", "{1};{0}"),
        ("Adresse;Ort", "{0};{1}"),
    ],
)
@pytest.mark.parametrize("towns", [("Bonn", "Bonn", "Ulm"), ("Bonn", "Ulm", "Köln")])
@pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")
def test_names_before_towns(tmp_path: Path, header: str, row: str, towns: tuple[str, ...]) -> None:
    """Customers are called by their numbers, companies or addresses, and only then by their towns."""
    lines = [f"{row.format(place, town)};{place};1" for place, town in enumerate(towns)]
    with pytest.warns(InputWarning, match="as name"):
        assert loaded(tmp_path, "a.csv", "\n".join([f"{header};x;y", *lines])).names == ("0", "1", "2")


@pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")
def test_names_that_are_all_different(tmp_path: Path) -> None:
    """Of several columns of names, one whose values are there and different is taken; if none is, the likeliest."""
    for company, names in (("B", ("A", "B", "C")), ("A", ("1", "2", "3")), ("", ("1", "2", "3"))):
        text = f"company,customer_id,x,y\nA,1,0,0\n{company},2,1,0\nC,3,1,1\n"
        with pytest.warns(InputWarning):
            assert loaded(tmp_path, "a.csv", text).names == names
    with pytest.warns(InputWarning, match="'A' is used twice"):
        assert loaded(tmp_path, "a.csv", "city,shop,x,y\nU,A,0,0\nU,A,1,0\n").names == ("A", "A")


@pytest.mark.parametrize(
    "header",
    ["Gewicht kg", "Gewicht_kg", "Menge kg", "weight kg", "Waga [kg]", "WEIGHT_LBS", "Menge Stück", "demand kg"],
)
def test_loads_with_a_unit(tmp_path: Path, header: str) -> None:
    """A unit behind a load is no part of its name."""
    with pytest.warns(InputWarning, match=f"'{header[:4]}.*' as demand"):
        instance = loaded(tmp_path, "a.csv", f"x,y,{header}\n0,0,0\n1,1,5\n# capacity: 5\n")
    assert instance.demand.tolist() == [0, 5]


@pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")
def test_a_load_with_a_unit_beside_one_without(tmp_path: Path) -> None:
    """The column without a unit is the demand; two with units are refused; a unit alone is no load."""
    rows = "0,0,0,0\n1,1,5,80\n# capacity: 5\n"
    with pytest.warns(InputWarning, match="'Menge' as demand"):
        assert loaded(tmp_path, "a.csv", "x,y,Menge,Gewicht kg\n" + rows).demand.tolist() == [0, 5]
    assert "both mean demand" in refusal(tmp_path, "b.csv", "x,y,Menge Stk,Gewicht kg\n" + rows)
    with pytest.warns(InputWarning, match="the column 'kg' is not used"):
        assert loaded(tmp_path, "c.csv", "x,y,kg\n0,0,0\n1,1,5\n").problem == "tsp"


@pytest.mark.parametrize(
    ("header", "rule"),
    [
        ("Rechtswert;Hochwert", "euclidean"),
        ("X-Koordinate;Y-Koordinate", "euclidean"),
        ("szerokość;długość", "great_circle"),
        ("Szerokosc;Dlugosc", "great_circle"),
        ("Szerokość geograficzna;Długość geograficzna", "great_circle"),
    ],
)
def test_coordinates_in_other_words(tmp_path: Path, header: str, rule: str) -> None:
    """Words of surveyors and of other languages are taken for coordinates, and that is said."""
    with pytest.warns(InputWarning, match="columns are read by their likely meaning"):
        instance = loaded(tmp_path, "a.csv", f"{header};waga\n1,5;2;0\n3;4;1\n5;6;2\n# capacity: 2\n")
    assert (instance.rule, instance.coordinates[0].tolist()) == (rule, [1.5, 2.0])
    assert instance.demand.tolist() == [0, 1, 2]


def test_polish_sizes_of_a_thing(tmp_path: Path) -> None:
    """Beside a height they are width and length."""
    assert "has neither x,y nor" in refusal(tmp_path, "a.csv", "szerokość;długość;wysokość\n1;2;3\n4;5;6\n")


TOWNS = ["48.137,11.575", "48.2,11.61", "48.05,11.4412", "48.333,11.5"]


@pytest.mark.parametrize("header", ["x,y\n", ""])
@pytest.mark.parametrize("order", [1, -1])
def test_a_plane_that_looks_like_degrees(tmp_path: Path, header: str, order: int) -> None:
    """It is read as a plane, with a warning."""
    rows = [",".join(row.split(",")[::order]) for row in TOWNS]
    path = saved(tmp_path, "a.csv", header + "\n".join(rows))
    with pytest.warns(InputWarning, match="look like degrees: call the columns lat and lon if they are") as seen:
        assert read(path).rule == "euclidean"
    assert len(seen) == 1


@pytest.mark.parametrize(
    "rows",
    [
        ["0.123,0.456", "0.9,0.81", "0.55,0.77"],
        ["3.125,0.25", "9.75,8.125", "0.33,7.77"],
        ["-3.125,0.25", "2.75,-2.125", "0.33,1.77"],
        ["48,11", "48.5,11.5", "49,12", "49.5,12.25"],
        ["48.13,11.57", "95.22,11.61", "48.05,99.44"],
        ["348.13,211.57", "348.22,211.61", "348.05,211.44"],
        ["48.13,11.57", "48.13,11.57", "48.13,11.57"],
        TOWNS[:2],
    ],
)
@pytest.mark.filterwarnings("error::dact.instances.InputWarning")
def test_planes_that_do_not_look_like_degrees(tmp_path: Path, rows: list[str]) -> None:
    """Unit squares, planes around or beside 0,0, few decimals, large numbers and few rows are not spoken of."""
    assert loaded(tmp_path, "a.csv", "\n".join(["x,y", *rows, ""])).size == len(rows)


@pytest.mark.filterwarnings("error::dact.instances.InputWarning")
def test_degrees_with_a_matrix_of_their_own(tmp_path: Path) -> None:
    """Distances do not come from them."""
    matrix = saved(tmp_path, "m.csv", "0,1,2,3\n1,0,1,2\n2,1,0,1\n3,2,1,0\n")
    assert read(saved(tmp_path, "a.csv", "\n".join(["x,y", *TOWNS])), matrix=matrix).rule == "explicit"


@pytest.mark.parametrize("row", ["Summe,,,7", "Total:,,,7", ",,,7", "Gesamtmenge,,,7", "Grand TOTAL,,,", "razem,,,7"])
def test_a_row_of_totals(tmp_path: Path, row: str) -> None:
    """A row without coordinates that may be a sum is refused as such."""
    text = f"name,x,y,demand\nHome,0,0,0\nAda,1,1,7\n{row}\n# capacity: 9\n"
    assert "line 4: x is '', not a number: is this a row of totals?" in refusal(tmp_path, "a.csv", text)


def test_a_row_that_is_no_row_of_totals(tmp_path: Path) -> None:
    """A customer without coordinates is just that."""
    for row in ("Consumer Ltd,,,7", "Total,,1,7"):
        said = refusal(tmp_path, "a.csv", f"name,x,y,demand\nHome,0,0,0\n{row}\n# capacity: 9\n")
        assert said.endswith("line 3: x is '', not a number")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "lat\tlon\tdemand\n48.1\t11.5\t0\n48.2\t11.6\t1,200\n",
            "line 3: demand is '1,200', with a comma in a file of",
        ),
        (
            "x\ty\tdemand\n48.1\t11.5\t0\n48.2\t11.6\t1,200.5\n",
            "'1,200.5', not a number: write it with nothing between",
        ),
        ("x;y;demand\n48.1;1,200;0\n48.2;11.6;5\n", "line 2: y is '1,200', with a comma in a file of decimal points"),
        ("x;y\n1.200;1,200\n1;2\n", "line 2: x is '1.200', with a point in a file of decimal commas"),
        ("x;y\n48.1;1,5\n1;2\n", "line 2: x is '48.1', with a point in a file of decimal commas"),
    ],
)
def test_commas_between_thousands_beside_points(tmp_path: Path, text: str, expected: str) -> None:
    """The cell that is wrong is named: with decimal points, that with a comma between thousands."""
    assert expected in refusal(tmp_path, "a.csv", text)
