"""Spoiled files: whatever happens to a file, it loads or raises InputError with one line."""

from __future__ import annotations

import io
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instance_cases import CSV, EXPLICIT, TSP, VRP

from dact.instances import InputError, Instance, check, read, read_set, read_solution

TOKENS = [
    *(
        "",
        "0",
        "-1",
        "1",
        "2",
        "99",
        "1.5",
        "7.0",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "1e-400",
        "9" * 5000,
        "x",
        "#",
        ",",
    ),
    *(
        ":",
        "EOF",
        "-1 -1",
        "TSP",
        "CVRP",
        "ATSP",
        "GEO",
        "EXPLICIT",
        "UPPER_ROW",
        "\u0663",
        "\x85",
        "\u2028",
        "\x00",
    ),
    *(
        "NODE_COORD_SECTION",
        "DEMAND_SECTION",
        "DEPOT_SECTION",
        "EDGE_WEIGHT_SECTION",
        "CAPACITY : 3",
        "\ud7ff",
    ),
]
pytestmark = pytest.mark.filterwarnings("ignore::dact.instances.InputWarning")
SECTION_TEXT = {"a.tsp": TSP, "b.tsp": EXPLICIT, "a.vrp": VRP, "a.csv": CSV}


def archive(**arrays) -> bytes:
    """Make an .npz archive in memory."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def npy_bytes() -> bytes:
    """Make an .npy file in memory."""
    stream = io.BytesIO()
    np.save(stream, np.arange(9.0).reshape(3, 3))
    return stream.getvalue()


BYTES = {
    "tsp.npz": archive(coords=np.zeros((1, 3, 2), np.float32), reference_cost=np.ones(1)),
    "cvrp.npz": archive(
        depot=np.zeros((1, 2)),
        locs=np.ones((1, 2, 2)),
        demand=np.ones((1, 2), np.uint8),
        capacity=np.int32(3),
    ),
    "tsp.pkl": pickle.dumps([[[0.1, 0.2], [0.3, 0.4], [1, 2]]]),
    "cvrp.pkl": pickle.dumps([([0.5, 0.5], [[0.1, 0.2]], [3], 9.0)], protocol=0),
    "text.tsp": TSP.encode(),
    "text.csv": CSV.encode(),
    "matrix.csv": b",a,b,c\na,0,1,2\nb,3,0,4\nc,5,6,0\n",
    "matrix.npy": npy_bytes(),
}


@st.composite
def spoiled_text(draw, text: str) -> str:
    """Delete, double, swap or replace lines and tokens, or cut the text short."""
    lines = text.split("\n")
    for _ in range(draw(st.integers(1, 3))):
        row = draw(st.integers(0, len(lines) - 1))
        action = draw(st.sampled_from(["delete", "double", "swap", "token", "line", "cut"]))
        if action == "delete" and len(lines) > 1:
            del lines[row]
        elif action == "double":
            lines.insert(row, lines[row])
        elif action == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[row], lines[other] = lines[other], lines[row]
        elif action == "token":
            separator = "," if "," in lines[row] else " "
            tokens = lines[row].split(separator)
            tokens[draw(st.integers(0, len(tokens) - 1))] = draw(st.sampled_from(TOKENS))
            lines[row] = separator.join(tokens)
        elif action == "line":
            lines[row] = draw(st.one_of(st.sampled_from(TOKENS), st.text(max_size=12)))
        else:
            lines = lines[: row + 1]
    return "\n".join(lines)


@st.composite
def spoiled_bytes(draw, content: bytes) -> bytes:
    """Overwrite, insert or remove bytes, or cut the content short."""
    data = bytearray(content)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        action = draw(st.sampled_from(["write", "insert", "remove", "cut"]))
        if action == "write":
            data[place : place + 1] = draw(st.binary(min_size=1, max_size=1))
        elif action == "insert":
            data[place:place] = draw(st.binary(min_size=1, max_size=6))
        elif action == "remove":
            del data[place : place + draw(st.integers(1, 6))]
        elif draw(st.booleans()):
            del data[place:]
    return bytes(data)


def assert_one_clear_line(message: str, path: Path) -> None:
    """A message names the file, stays on one line and does not flood the screen."""
    assert message.startswith(f"{path}: ")
    assert len(message.splitlines()) == 1
    assert len(message) < 600


def survives(name: str, content: bytes) -> None:
    """Read the content both ways: each gives a sound object or one clear line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        for reader in (read, read_set):
            try:
                found = reader(path)
            except InputError as error:
                assert_one_clear_line(str(error), path)
                continue
            instance = found if isinstance(found, Instance) else found[0]
            assert np.isfinite(instance.distances()).all()
            assert np.isfinite(instance.points()).all()


@pytest.mark.parametrize("name", SECTION_TEXT)
def test_spoiled_text(name: str) -> None:
    """A text file with spoiled lines and tokens loads or is refused, never anything else."""

    @settings(max_examples=150, deadline=None)
    @given(spoiled_text(SECTION_TEXT[name]))
    def run(text: str) -> None:
        survives(name, text.encode("utf-8", "surrogatepass"))

    run()


@pytest.mark.parametrize("name", BYTES)
def test_spoiled_bytes(name: str) -> None:
    """A file with spoiled bytes loads or is refused, never anything else."""

    @settings(max_examples=150, deadline=None)
    @given(spoiled_bytes(BYTES[name]))
    def run(content: bytes) -> None:
        survives(name, content)

    run()


@pytest.mark.parametrize("suffix", ["tsp", "vrp", "txt", "csv", "npz", "pkl"])
def test_noise(suffix: str) -> None:
    """Random bytes are refused in every format."""

    @settings(max_examples=40, deadline=None)
    @given(st.binary(max_size=200))
    def run(content: bytes) -> None:
        survives(f"a.{suffix}", content)

    run()


@pytest.mark.parametrize("name", ["a.tour", "a.sol", "a.json"])
def test_spoiled_solutions(name: str, tmp_path: Path) -> None:
    """A spoiled solution file is refused, or is a feasible solution still."""
    texts = {
        "a.tour": "DIMENSION : 4\nTOUR_SECTION\n1\n2\n3\n4\n-1\nEOF\n",
        "a.sol": "Route #1: 1 2\nRoute #2: 3\nCost 20\n",
        "a.json": '{"routes":\n[[1,\n2],\n[3]],\n"cost":\n20}\n',
    }
    base = tmp_path / ("i.tsp" if name == "a.tour" else "i.vrp")
    base.write_text(TSP if name == "a.tour" else VRP)
    instance = read(base)

    @settings(max_examples=120, deadline=None)
    @given(spoiled_text(texts[name]))
    def run(text: str) -> None:
        (tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            routes = read_solution(tmp_path / name, instance)
        except InputError as error:
            assert_one_clear_line(str(error), tmp_path / name)
        else:
            assert check(instance, routes).feasible

    run()
