"""No reader takes more than linear time, whatever characters a file is full of."""

from pathlib import Path

import pytest
from instance_cases import TSP, VRP

from bounds import within_seconds
from dact.instances import InputError, read, read_solution

pytestmark = pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")
CHARACTERS = (*" \t\n\r\v\f0a#:,-.[{}]\"\\'_/e+(\x00\x1c\x85\u00a0\u2028\u0663é",)
"""One of every class that a reader, a pattern or Python's own splitting treats in its own way."""
UNITS = (*CHARACTERS, "a ", "1 ", "1\n", "a\n", "COMMENT:a\n", "1,", "1,1\n", "[1],", '{"a":', "best value : ")
HEAD = "TYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : "
BEGINNINGS = {
    ".tsp": (
        "NAME",
        "NAME :",
        "COMMENT : best",
        "COMMENT : best value",
        "NODE_COORD_SECTION\n1 ",
        f"{HEAD}EUC_2D\nNODE_COORD_SECTION\n",
        f"{HEAD}EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\nEDGE_WEIGHT_SECTION\n",
    ),
    ".vrp": ("TYPE : CVRP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nDEPOT_SECTION\n",),
    ".csv": ("#", "# capacity", "# capacity :", "1,", "x,y,", '"', "a;", ",a,b,c\na,"),
    ".tour": ("TOUR_SECTION\n", "DIMENSION :"),
    ".sol": ("route", "route #", "route # 1", "route:", "cost", "cost :"),
    ".json": ("[", '{"routes":[[', '"'),
}
"""What a file may have begun with, so that the reader is inside of something."""


def read_any(path: Path) -> None:
    """Read by the extension; a refusal will do."""
    try:
        if path.suffix in (".tour", ".sol", ".json"):
            kind, text = ("a.tsp", TSP) if path.suffix == ".tour" else ("a.vrp", VRP)
            (path.parent / "base").mkdir(exist_ok=True)
            (path.parent / "base" / kind).write_text(text)
            read_solution(path, read(path.parent / "base" / kind))
        else:
            read(path)
    except InputError:
        pass


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_a_megabyte_of_every_character(suffix: str, tmp_path: Path) -> None:
    """A file that is a megabyte of one character is read or refused, and nothing hangs."""
    for character in CHARACTERS:
        path = tmp_path / f"a{suffix}"
        path.write_text(character * (2**20 // len(character.encode())), encoding="utf-8", newline="")
        with within_seconds(4):
            read_any(path)


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_long_runs_inside_of_something(suffix: str, tmp_path: Path) -> None:
    """A long run of anything, at any place where a reader may be, is no worse than linear."""
    path = tmp_path / f"a{suffix}"
    for begun in BEGINNINGS[suffix]:
        for unit in UNITS:
            path.write_text(begun + unit * (20_000 // len(unit)) + "!", encoding="utf-8", newline="")
            with within_seconds(1):
                read_any(path)
