"""TSPLIB and CVRPLIB files: every layout and every dialect that is legal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from instance_cases import EXPLICIT, RECTANGLE, TSP, VRP, loaded
from vrplib.parse import parse_vrplib

FULL = np.array([[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]])
LAYOUTS = {
    "FULL_MATRIX": "0 1 2 3 1 0 4 5 2 4 0 6 3 5 6 0",
    "UPPER_ROW": "1 2 3 4 5 6",
    "LOWER_ROW": "1 2 4 3 5 6",
    "UPPER_DIAG_ROW": "0 1 2 3 0 4 5 0 6 0",
    "LOWER_DIAG_ROW": "0 1 0 2 4 0 3 5 6 0",
    "UPPER_COL": "1 2 4 3 5 6",
    "LOWER_COL": "1 2 3 4 5 6",
    "UPPER_DIAG_COL": "0 1 0 2 4 0 3 5 6 0",
    "LOWER_DIAG_COL": "0 1 2 3 0 4 5 0 6 0",
}


def explicit(layout: str, weights: str) -> str:
    """Make an explicit TSP."""
    text = EXPLICIT.replace("DIMENSION : 3", "DIMENSION : 4").replace("FULL_MATRIX", layout)
    head = text.split("EDGE_WEIGHT_SECTION")[0]
    return f"{head}EDGE_WEIGHT_SECTION\n{weights}\nEOF\n"


def test_tsp(tmp_path: Path) -> None:
    """A .tsp file gives its name, coordinates, ids and rule."""
    instance = loaded(tmp_path, "a.tsp", TSP)
    assert (instance.name, instance.problem, instance.rule) == ("rectangle", "tsp", "euc_2d")
    assert instance.coordinates.tolist() == RECTANGLE.tolist()
    assert instance.node_ids.tolist() == [1, 2, 3, 4]
    assert instance.capacity == 0
    assert instance.source == tmp_path / "a.tsp"
    assert instance.best_known is None


def test_cvrp(tmp_path: Path) -> None:
    """A .vrp file gives demands and capacity too, with the depot at index 0."""
    instance = loaded(tmp_path, "a.vrp", VRP)
    assert (instance.name, instance.problem, instance.capacity) == ("corners", "cvrp", 10)
    assert instance.demand.tolist() == [0, 4, 6, 7]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("width", [1, 5, 99])
def test_explicit_layouts(tmp_path: Path, layout: str, width: int) -> None:
    """All nine layouts of one matrix load alike, however their weights are wrapped."""
    weights = LAYOUTS[layout].split()
    lines = [" ".join(weights[start : start + width]) for start in range(0, len(weights), width)]
    instance = loaded(tmp_path, "a.tsp", explicit(layout, "\n".join(lines)))
    assert instance.distances().tolist() == FULL.tolist()


@pytest.mark.parametrize("kind", ["CEIL_2D", "MAN_2D", "MAX_2D", "ATT", "GEO"])
def test_coordinate_rules(tmp_path: Path, kind: str) -> None:
    """Every coordinate rule of TSPLIB is known by its name."""
    assert loaded(tmp_path, "a.tsp", TSP.replace("EUC_2D", kind)).rule == kind.lower()


@pytest.mark.parametrize(
    "spoken",
    [
        TSP.replace(" : ", ":"),
        TSP.replace(" : ", ": "),
        TSP.replace(" : ", "\t:\t"),
        TSP.replace(" ", "\t"),
        TSP.replace("\n", "\r\n"),
        TSP.replace("\n", "\r"),
        TSP.replace("\n", "   \n"),
        TSP.replace("\n", "\n\n"),
        TSP.replace("EOF\n", ""),
        TSP.removesuffix("EOF\n").rstrip("\n"),
        TSP.lower(),
        "\ufeff" + TSP,
        "# drawn by hand\n" + TSP,
        TSP + "anything after the end\n",
        TSP.replace("NODE_COORD_SECTION", "NODE_COORD_SECTION : "),
        TSP.replace("TYPE : TSP", "TYPE : TSP (M.~Hofmeister)"),
        TSP.replace("COMMENT", "COMMENT : one\nCOMMENT"),
        TSP.replace("2 3 0", "2 3.0e+00 0.000"),
        TSP.replace("2 3 0\n3 3 4\n", "3 3 4\n2 3 0\n"),
        TSP.replace("NODE_COORD_SECTION", "NODE_COORD_TYPE : TWOD_COORDS\nNODE_COORD_SECTION"),
    ],
)
def test_dialects(tmp_path: Path, spoken: str) -> None:
    """Spacing, case, line ends, a byte-order mark, row order and a missing EOF change nothing."""
    instance = loaded(tmp_path, "a.tsp", spoken)
    assert instance.name == "rectangle"
    assert instance.coordinates.tolist() == RECTANGLE.tolist()


def test_old_encoding(tmp_path: Path) -> None:
    """A comment in Latin-1 does not stop a file from loading."""
    assert loaded(tmp_path, "a.tsp", TSP.replace("four", "Gr\u00f6tschel").encode("latin-1")).size == 4


def test_txt_is_keyword_text(tmp_path: Path) -> None:
    """A .txt file holds the same text as a .tsp or .vrp file."""
    assert loaded(tmp_path, "a.txt", VRP).problem == "cvrp"
    assert loaded(tmp_path, "B.TSP", TSP).problem == "tsp"


def test_name_without_extension(tmp_path: Path) -> None:
    """A NAME that repeats the extension loses it; without a NAME the file's stem is the name."""
    assert loaded(tmp_path, "a.tsp", TSP.replace("rectangle", "ulysses16.tsp")).name == "ulysses16"
    assert loaded(tmp_path, "b.tsp", TSP.replace("NAME : rectangle\n", "")).name == "b"


def test_whole_numbers_with_a_point(tmp_path: Path) -> None:
    """Demands and capacities written 7.0 are the integers they mean."""
    instance = loaded(tmp_path, "a.vrp", VRP.replace("4 7", "4 7.0").replace("10", "10.0"))
    assert instance.demand.tolist() == [0, 4, 6, 7]
    assert instance.capacity == 10


def test_depot_elsewhere_comes_first(tmp_path: Path) -> None:
    """A depot that is not the first node becomes index 0, and the others keep their order."""
    text = VRP.replace("1 0\n2 4\n3 6\n", "1 4\n2 6\n3 0\n").replace("DEPOT_SECTION\n1", "DEPOT_SECTION\n3")
    instance = loaded(tmp_path, "a.vrp", text)
    assert instance.node_ids.tolist() == [3, 1, 2, 4]
    assert instance.coordinates.tolist() == [[3, 4], [0, 0], [3, 0], [0, 4]]
    assert instance.demand.tolist() == [0, 4, 6, 7]


def test_depot_elsewhere_permutes_the_matrix(tmp_path: Path) -> None:
    """The rows and columns of an explicit matrix follow the depot to the front."""
    text = explicit("UPPER_ROW", LAYOUTS["UPPER_ROW"]).replace("TSP", "CVRP\nCAPACITY : 9")
    rows = "DEMAND_SECTION\n1 5\n2 6\n3 0\n4 7\nDEPOT_SECTION\n3\n-1\nEOF\n"
    instance = loaded(tmp_path, "a.vrp", text.replace("EOF\n", rows))
    order = [2, 0, 1, 3]
    assert instance.distances().tolist() == FULL[np.ix_(order, order)].tolist()
    assert instance.demand.tolist() == [0, 5, 6, 7]


def test_ids_from_zero(tmp_path: Path) -> None:
    """Ids may run from 0."""
    text = TSP
    for node in range(1, 5):
        text = text.replace(f"\n{node} ", f"\n{node - 1} ")
    assert loaded(tmp_path, "a.tsp", text).node_ids.tolist() == [0, 1, 2, 3]


def test_depot_on_one_line_or_unended(tmp_path: Path) -> None:
    """The depot's -1 may stand beside it or be missing at the end of the file."""
    for ending in ("1 -1\nEOF\n", "1\nEOF\n", "1"):
        assert loaded(tmp_path, "a.vrp", VRP.replace("1\n-1\nEOF\n", ending)).size == 4


def test_customers_may_demand_nothing(tmp_path: Path) -> None:
    """A customer with demand 0 is legal."""
    assert loaded(tmp_path, "a.vrp", VRP.replace("\n2 4\n", "\n2 0\n")).demand.tolist() == [0, 0, 6, 7]


def test_one_node(tmp_path: Path) -> None:
    """A TSP of one node is legal, with coordinates or with an empty matrix."""
    text = TSP.replace("DIMENSION : 4", "DIMENSION : 1").replace("2 3 0\n3 3 4\n4 0 4\n", "")
    assert loaded(tmp_path, "a.tsp", text).size == 1
    bare = EXPLICIT.replace("DIMENSION : 3", "DIMENSION : 1").split("0 3 5")[0].replace("FULL_MATRIX", "UPPER_ROW")
    assert loaded(tmp_path, "b.tsp", bare).distances().tolist() == [[0]]


def test_display_data_is_not_coordinates(tmp_path: Path) -> None:
    """DISPLAY_DATA is for drawing by hand: the layout still comes from the matrix."""
    shown = EXPLICIT.replace("EOF", "DISPLAY_DATA_SECTION\n1 0 0\n2 9 9\n3 5 5\nEOF")
    instance = loaded(tmp_path, "a.tsp", shown)
    assert instance.coordinates is None
    assert np.array_equal(instance.points(), loaded(tmp_path, "b.tsp", EXPLICIT).points())


def test_explicit_with_coordinates(tmp_path: Path) -> None:
    """An explicit instance may have coordinates too: they are its layout, the matrix its distances."""
    both = EXPLICIT.replace("EOF", "NODE_COORD_SECTION\n1 0 0\n2 9 9\n3 5 5\nEOF")
    instance = loaded(tmp_path, "a.tsp", both)
    assert instance.points().tolist() == [[0, 0], [9, 9], [5, 5]]
    assert instance.distances()[0].tolist() == [0, 3, 5]


def test_no_service_time(tmp_path: Path) -> None:
    """A service time of zero is no constraint."""
    assert loaded(tmp_path, "a.vrp", VRP.replace("CAPACITY", "SERVICE_TIME : 0\nCAPACITY")).size == 4


def test_vrplib_agrees(tmp_path: Path) -> None:
    """vrplib, another reader of the format, finds the same coordinates and demands."""
    other = parse_vrplib(VRP, compute_edge_weights=False)
    instance = loaded(tmp_path, "a.vrp", VRP)
    assert np.array_equal(other["node_coord"], instance.coordinates)
    assert np.array_equal(other["demand"], instance.demand)
    assert other["depot"].tolist() == [0]
