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
from fuzz.mutators import assert_one_clear_line, spoiled_bytes, spoiled_text

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
