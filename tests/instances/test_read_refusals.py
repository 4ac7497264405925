"""Bad instance files: each is refused with one sentence that names the place and the value."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from instance_cases import EXPLICIT, TSP, VRP, refusal, saved

from dact.instances import InputError, read, read_set

HALF = TSP.replace("DIMENSION : 4", "DIMENSION : 3")

TSP_CASES = [
    ("not a number", TSP.replace("2 3 0", "2 three 0"), "line 8: the x of node 2 is 'three', not a number"),
    ("underscore", TSP.replace("2 3 0", "2 3_0 0"), "line 8: the x of node 2 is '3_0', not a number"),
    ("other digits", TSP.replace("2 3 0", "2 \u0663 0"), "line 8: the x of node 2 is '\u0663', not a number"),
    (
        "nan",
        TSP.replace("2 3 0", "2 nan 0"),
        "line 8: the x of node 2 is 'nan', not a number up to 1e+12 in size",
    ),
    ("inf", TSP.replace("2 3 0", "2 3 -inf"), "line 8: the y of node 2 is '-inf', not a number up to"),
    (
        "too large",
        TSP.replace("2 3 0", "2 3 1e200"),
        "line 8: the y of node 2 is '1e200', not a number up to",
    ),
    (
        "short row",
        TSP.replace("2 3 0", "2 3"),
        "line 8: a row of the NODE_COORD_SECTION is a node id, x, y, but",
    ),
    ("three axes", TSP.replace("2 3 0", "2 3 0 1"), "but this one is '2 3 0 1'"),
    ("fractional id", TSP.replace("2 3 0", "2.5 3 0"), "line 8: the node id is '2.5', not a whole number"),
    ("same id", TSP.replace("2 3 0", "1 3 0"), "line 8: node 1 is given twice in the NODE_COORD_SECTION"),
    ("gap in ids", TSP.replace("2 3 0", "7 3 0"), "node 2 is missing in the NODE_COORD_SECTION"),
    ("first id", HALF.replace("1 0 0\n", ""), "node 1 is missing in the NODE_COORD_SECTION"),
    ("truncated", TSP.split("4 0 4")[0], "DIMENSION is 4 but the NODE_COORD_SECTION has 3 rows"),
    ("too long", HALF, "DIMENSION is 3 but the NODE_COORD_SECTION has 4 rows"),
    ("no dimension", TSP.replace("DIMENSION : 4\n", ""), "the field DIMENSION is missing"),
    ("blank dimension", TSP.replace("DIMENSION : 4", "DIMENSION :"), "the field DIMENSION is missing"),
    (
        "zero dimension",
        TSP.replace("DIMENSION : 4", "DIMENSION : 0"),
        "DIMENSION is 0, but it must be at least 1",
    ),
    ("odd dimension", TSP.replace("DIMENSION : 4", "DIMENSION : four"), "DIMENSION is 'four', not a number"),
    ("huge", TSP.replace("DIMENSION : 4", f"DIMENSION : {10**11}"), "has 100000000000 nodes, above the limit of 20000"),
    (
        "twice",
        TSP.replace("DIMENSION : 4", "DIMENSION : 4\nDIMENSION : 5"),
        "line 5: the field DIMENSION is given",
    ),
    ("no type", TSP.replace("TYPE : TSP\n", ""), "the field TYPE is missing"),
    ("vrptw", TSP.replace("TYPE : TSP", "TYPE : VRPTW"), "TYPE 'VRPTW' is not supported, only TSP and CVRP are"),
    ("hcp", TSP.replace("TYPE : TSP", "TYPE : HCP"), "TYPE 'HCP' is not supported"),
    ("no rule", TSP.replace("EDGE_WEIGHT_TYPE : EUC_2D\n", ""), "the field EDGE_WEIGHT_TYPE is missing"),
    (
        "unknown rule",
        TSP.replace("EUC_2D", "EUC_3D"),
        "EDGE_WEIGHT_TYPE 'EUC_3D' is not one of EUC_2D, CEIL_2D",
    ),
    ("no nodes", TSP.split("NODE_COORD")[0], "the NODE_COORD_SECTION is missing"),
    ("no matrix", TSP.replace("EUC_2D", "EXPLICIT"), "the field EDGE_WEIGHT_FORMAT is missing"),
    (
        "two sections",
        TSP.replace("EOF", "NODE_COORD_SECTION\n1 2 3\nEOF"),
        "the NODE_COORD_SECTION is given twice",
    ),
    (
        "tail",
        TSP.replace("COORD_SECTION", "COORD_SECTION : 4"),
        "line 6: NODE_COORD_SECTION is followed by '4'",
    ),
    (
        "fixed edges",
        TSP.replace("EOF", "FIXED_EDGES_SECTION\n1 2\n-1\nEOF"),
        "FIXED_EDGES_SECTION (edges that the",
    ),
    (
        "demand",
        TSP.replace("EOF", "DEMAND_SECTION\n1 2\nEOF"),
        "the DEMAND_SECTION is not supported for TYPE TSP",
    ),
    ("prose", "Dear reader,\nthis is a letter.\n", "line 1: 'Dear reader,' is not of the form 'KEY : value'"),
    ("blank", "\n  \n", "holds no field and no section"),
    ("only the end", "EOF\n" + TSP, "holds no field and no section"),
    ("binary", b"\x7fELF\0\0\1\2", "is a binary file, not text"),
    ("noise", bytes(range(128, 256)), "is not of the form 'KEY : value'"),
    ("empty", b"", "is empty"),
]

VRP_CASES = [
    ("no capacity", VRP.replace("CAPACITY : 10\n", ""), "the field CAPACITY is missing"),
    ("zero capacity", VRP.replace(": 10", ": 0"), "CAPACITY is 0, but it must be at least 1"),
    ("negative capacity", VRP.replace(": 10", ": -3"), "CAPACITY is -3, but it must be at least 1"),
    ("fractional capacity", VRP.replace(": 10", ": 9.5"), "CAPACITY is '9.5', not a whole number"),
    ("odd capacity", VRP.replace(": 10", ": ten"), "CAPACITY is 'ten', not a number"),
    ("small capacity", VRP.replace(": 10", ": 6"), "capacity 6 is below the largest demand 7 (customer 3)"),
    ("negative demand", VRP.replace("4 7", "4 -7"), "line 16: the demand of node 4 is -7, which is negative"),
    (
        "fractional demand",
        VRP.replace("4 7", "4 7.5"),
        "line 16: the demand of node 4 is '7.5', not a whole number",
    ),
    ("odd demand", VRP.replace("4 7", "4 many"), "line 16: the demand of node 4 is 'many', not a number"),
    ("no demand", VRP.replace("4 7", "4"), "line 16: a row of the DEMAND_SECTION is a node id, demand, but"),
    ("missing demand", VRP.replace("4 7\n", ""), "DIMENSION is 4 but the DEMAND_SECTION has 3 rows"),
    ("demand twice", VRP.replace("4 7", "3 7"), "line 16: node 3 is given twice in the DEMAND_SECTION"),
    ("other node", VRP.replace("4 7", "5 7"), "node 4 is missing in the DEMAND_SECTION"),
    ("hungry depot", VRP.replace("\n1 0\n2 4", "\n1 2\n2 4"), "the depot has demand 2, but it must be 0"),
    ("no demands", VRP.split("DEMAND")[0], "the DEMAND_SECTION is missing"),
    ("no depot section", VRP.split("DEPOT")[0], "the DEPOT_SECTION is missing"),
    ("no depot", VRP.replace("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n"), "names no depot, but one is needed"),
    (
        "two depots",
        VRP.replace("\n1\n-1", "\n1\n2\n-1"),
        "the DEPOT_SECTION names 2 depots, but one is needed",
    ),
    ("unknown depot", VRP.replace("\n1\n-1", "\n9\n-1"), "the depot 9 of the DEPOT_SECTION is not a node"),
    (
        "depot place",
        VRP.replace("\n1\n-1", "\n3.5 4.0\n-1"),
        "line 18: the DEPOT_SECTION holds '3.5 4.0', not one",
    ),
    ("after the end", VRP.replace("\n-1\n", "\n-1\n2\n"), "line 20: 2 comes after the -1 that ends"),
    (
        "distance",
        VRP.replace("CAPACITY", "DISTANCE : 200\nCAPACITY"),
        "DISTANCE (a limit on the length of a route)",
    ),
    (
        "service",
        VRP.replace("CAPACITY", "SERVICE_TIME : 10\nCAPACITY"),
        "SERVICE_TIME (a service time) is not",
    ),
    (
        "fleet",
        VRP.replace("CAPACITY", "VEHICLES : 1\nCAPACITY"),
        "vehicles 1 is below 2, which the loads need at least",
    ),
    (
        "windows",
        VRP.replace("EOF", "TIME_WINDOW_SECTION\n1 0 9\nEOF"),
        "TIME_WINDOW_SECTION is not supported for",
    ),
]

EXPLICIT_CASES = [
    ("short", EXPLICIT.replace("5 4 0\n", "5 4\n"), "has 8 weights, but FULL_MATRIX of 3 nodes needs 9"),
    ("long", EXPLICIT.replace("5 4 0\n", "5 4 0 1\n"), "has 10 weights, but FULL_MATRIX of 3 nodes needs 9"),
    ("negative", EXPLICIT.replace("0 3 5", "0 3 -5"), "line 7: the weight -5 is negative"),
    ("nan", EXPLICIT.replace("0 3 5", "nan 3 5"), "line 7: a weight is 'nan', not a number up to"),
    ("odd", EXPLICIT.replace("0 3 5", "0 x 5"), "line 7: a weight is 'x', not a number"),
    (
        "format",
        EXPLICIT.replace("FULL_MATRIX", "FUNCTION"),
        "EDGE_WEIGHT_FORMAT 'FUNCTION' is not one of FULL",
    ),
    ("no section", EXPLICIT.split("EDGE_WEIGHT_SECTION")[0], "the EDGE_WEIGHT_SECTION is missing"),
    (
        "huge",
        EXPLICIT.replace(": 3", f": {10**9}"),
        "has 1000000000 nodes, above the limit of 20000",
    ),
    (
        "both",
        EXPLICIT.replace("EXPLICIT", "EUC_2D") + "NODE_COORD_SECTION\n",
        "the NODE_COORD_SECTION is missing",
    ),
    (
        "rule and matrix",
        EXPLICIT.replace("EXPLICIT", "ATT").replace("EOF", "NODE_COORD_SECTION\n1 0 0\nEOF"),
        "EDGE_WEIGHT_TYPE ATT does not go with an EDGE_WEIGHT_SECTION",
    ),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in TSP_CASES], ids=[c[0] for c in TSP_CASES])
def test_bad_tsp(tmp_path: Path, text: str | bytes, expected: str) -> None:
    """A bad .tsp file is refused with the reason."""
    assert expected in refusal(tmp_path, "a.tsp", text)


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in VRP_CASES], ids=[c[0] for c in VRP_CASES])
def test_bad_vrp(tmp_path: Path, text: str, expected: str) -> None:
    """A bad .vrp file is refused with the reason."""
    assert expected in refusal(tmp_path, "a.vrp", text)


@pytest.mark.parametrize(
    ("text", "expected"), [case[1:] for case in EXPLICIT_CASES], ids=[c[0] for c in EXPLICIT_CASES]
)
def test_bad_matrix(tmp_path: Path, text: str, expected: str) -> None:
    """A bad matrix is refused with the reason."""
    assert expected in refusal(tmp_path, "a.tsp", text)


def test_ids_of_sections_must_match(tmp_path: Path) -> None:
    """Coordinates numbered from 1 do not fit demands numbered from 0."""
    text = VRP.replace("1 0\n2 4\n3 6\n4 7", "0 0\n1 4\n2 6\n3 7")
    assert "node 0 is not in both the NODE_COORD_SECTION and" in refusal(tmp_path, "a.vrp", text)


def test_long_values_are_cut(tmp_path: Path) -> None:
    """A line of ten thousand letters does not flood the message."""
    message = refusal(tmp_path, "a.tsp", "x" * 10_000)
    assert len(message) < 150


def test_control_characters_stay_on_one_line(tmp_path: Path) -> None:
    """Characters that would break the line are shown escaped."""
    message = refusal(tmp_path, "a.tsp", TSP.replace("2 3 0", "2 a\x1b\x08b 0"))
    assert r"the x of node 2 is 'a\x1b\x08b', not a number" in message


@pytest.mark.parametrize("reader", [read, read_set])
@pytest.mark.parametrize("name", ["none.tsp", "none.csv", "none.npz", "none.pkl", "none"])
def test_missing_file(tmp_path: Path, reader, name: str) -> None:
    """A file that is not there is named."""
    with pytest.raises(InputError, match=f"{name}: does not exist"):
        reader(tmp_path / name)


def test_folder(tmp_path: Path) -> None:
    """A folder is not a file, whatever it is called."""
    (tmp_path / "a.tsp").mkdir()
    with pytest.raises(InputError, match=r"a\.tsp: is a folder, not a file"):
        read(str(tmp_path / "a.tsp"))


def test_pipe(tmp_path: Path) -> None:
    """A pipe is refused instead of waited for."""
    os.mkfifo(tmp_path / "a.tsp")
    with pytest.raises(InputError, match="is not a regular file"):
        read(tmp_path / "a.tsp")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable(tmp_path: Path) -> None:
    """A file without permission is refused with the system's reason."""
    path = saved(tmp_path, "a.tsp", TSP)
    path.chmod(0)
    with pytest.raises(InputError, match=r"cannot be read \(Permission denied\)"):
        read(path)


def test_unknown_extension(tmp_path: Path) -> None:
    """An extension that names no format is refused with the list of those that do."""
    assert "the extension '.xml' is not one of .tsp, .vrp, .txt, .csv" in refusal(tmp_path, "a.xml", TSP)


def test_capacity_is_for_tables(tmp_path: Path) -> None:
    """A capacity cannot be given to a format that states its own."""
    with pytest.raises(InputError, match="a capacity can be given for tables only"):
        read(saved(tmp_path, "a.vrp", VRP), capacity=20)
