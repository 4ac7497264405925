"""Small files that ask for much: each is refused in one sentence, in little memory and time."""

import io
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from instance_cases import refusal

from bounds import within_megabytes, within_seconds
from dact.instances import InstanceSet, generate_set, read, read_set
from dact.instances.errors import InputError
from dact.instances.limits import FREE_NUMBERS

SECONDS, MEGABYTES = 4, 200


def header(shape: tuple[int, ...], dtype: str = "<f8", version: bytes = b"\x01\x00") -> bytes:
    """The head of an array that may claim anything."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + version + struct.pack("<H" if version[0] == 1 else "<I", len(text)) + text


def zipped(method: int = zipfile.ZIP_DEFLATED, **members: bytes) -> bytes:
    """An archive of members with any content."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return stream.getvalue()


def zeros(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    """An array of zeros, all there."""
    return header(shape, dtype) + bytes(int(np.prod(shape)) * np.dtype(dtype).itemsize)


POINT = zeros((1, 1, 2))
ARCHIVES = {
    "rows that are not there": zipped(coords=header((10**12, 10, 2))),
    "rows beyond all integers": zipped(coords=header((10**30, 10, 2))),
    "no rows of many nodes": zipped(coords=header((0, 10**12, 2))),
    "many nodes without axes": zipped(coords=header((1, 10**12, 0))),
    "negative rows": zipped(coords=header((-1, -1, 2))),
    "text as long as memory": zipped(coords=POINT, rule=header((), "<U1000000000")),
    "zeros by the gigabyte": zipped(coords=zeros((2**9, 2**14, 2), "<f2")),
    "bytes that become floats": zipped(coords=zeros((2**11, 2**14, 2), "|u1")),
    "many nodes of one instance": zipped(coords=zeros((1, 30_000, 2))),
    "many costs": zipped(coords=POINT, reference_cost=zeros((2**23,), "|u1")),
    "another compression": zipped(zipfile.ZIP_LZMA, coords=zeros((2**9, 2**14, 2), "<f2")),
    "a long header": zipped(coords=header((1, 1, 2), "<f8" + " " * 10**6, b"\x02\x00")),
    "a deep header": zipped(coords=header((1, 1, 2), "'" + "(" * 60_000, b"\x02\x00")),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives(tmp_path: Path, name: str) -> None:
    """What an archive claims to hold is held against its length before memory is taken."""
    with within_seconds(SECONDS), within_megabytes(MEGABYTES):
        assert refusal(tmp_path, "a.npz", ARCHIVES[name])


def repeated(points: int, times: int) -> bytes:
    """A pickle whose instances are one and the same list."""
    instance = [[0.5, 0.5]] * points
    return pickle.dumps([instance] * times)


def equal_hashes(count: int) -> bytes:
    """A dictionary with keys that all have the same hash, which takes quadratic time to build."""
    keys = b"".join(pickle.dumps(number * (2**61 - 1), 2)[2:-1] + b"N" for number in range(1, count))
    return b"\x80\x02](}(" + keys + b"ue."


PICKLES = {
    "a large number to remember under": b"\x80\x02]r\xff\xff\xff\x0b.",
    "a large number as text": b"(lp200000000\n.",
    "a number of a thousand digits": b"(lp" + b"9" * 1000 + b"\n.",
    "bytes that are not there": b"\x80\x04]\x8e\xff\xff\xff\xff\x03\x00\x00\x00.",
    "bytes to change that are not there": b"\x80\x05]\x96\xff\xff\xff\xff\x03\x00\x00\x00.",
    "text that is not there": b"\x80\x04]X\xff\xff\xff\x7f.",
    "sixteen million points": repeated(4000, 4000),
    "more nodes than are allowed": repeated(30_000, 1),
    "a long list as every point": pickle.dumps([[[0.5] * 10_000] * 10_000]),
    "a long list as every depot": pickle.dumps([([0.5] * 10_000, [[0, 0]], [1], 2)] * 10_000),
    "keys of equal hashes": equal_hashes(60_000),
    "a doubled stack": b"\x80\x02]" + b"2\x86" * 5000 + b".",
    "nested lists": b"\x80\x02" + b"]" * 50_000 + b"a" * 49_999 + b".",
}


@pytest.mark.parametrize("name", PICKLES)
def test_pickles(tmp_path: Path, name: str) -> None:
    """A pickle takes no more memory and time than its length warrants."""
    with within_seconds(SECONDS), within_megabytes(MEGABYTES):
        assert refusal(tmp_path, "a.pkl", PICKLES[name])


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_honest_pickles(tmp_path: Path, protocol: int) -> None:
    """Every protocol is read, also where it remembers more objects than fit a byte."""
    data = [([0.5, 0.25], [[0.125 * node, 1] for node in range(300)], [node % 9 for node in range(300)], 30.0)] * 2
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(data, protocol))
    instances = read_set(tmp_path / "a.pkl")
    assert instances.coordinates[1, 3].tolist() == [0.25, 1]
    assert instances.demand[0].sum() == sum(data[0][2])


TEXTS = {
    "a.tsp": f"TYPE : TSP\nDIMENSION : {10**9}\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n",
    "b.tsp": f"TYPE : TSP\nDIMENSION : {'9' * 400}\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n",
    "c.tsp": f"TYPE : TSP\nDIMENSION : {10**9}\nEDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : UPPER_ROW\n"
    "EDGE_WEIGHT_SECTION\n1\n",
    "a.csv": "0,0\n" * 20_001,
    "b.csv": f"# capacity: {'9' * 30}\n0,0,0\n1,1,1\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts(tmp_path: Path, name: str) -> None:
    """A text that claims more than it holds, or more nodes than are allowed, is refused."""
    with within_seconds(SECONDS), within_megabytes(MEGABYTES):
        assert refusal(tmp_path, name, TEXTS[name])


def test_more_nodes_where_they_are_wanted(tmp_path: Path) -> None:
    """The limit on nodes is the caller's to raise and to lower."""
    (tmp_path / "a.csv").write_text("0,0\n" * 20_001)
    assert read(tmp_path / "a.csv", max_nodes=20_001).size == 20_001
    with pytest.raises(InputError, match="has 20001 nodes, above the limit of 20000"):
        read_set(tmp_path / "a.csv")
    with pytest.raises(InputError, match="above the limit of 3"):
        read(tmp_path / "a.csv", max_nodes=3)


def test_a_file_that_is_too_long(tmp_path: Path) -> None:
    """A file of gigabytes is refused by its length, unread."""
    for name, length in (("a.tsp", 2**29), ("a.npz", 2**33)):
        with (tmp_path / name).open("wb") as stream:
            stream.truncate(length)
        with within_megabytes(1), pytest.raises(InputError, match="bytes long, above the limit of"):
            read(tmp_path / name)


def test_large_sets_of_ours_are_read_back(tmp_path: Path) -> None:
    """Sets that would compress too well are stored as they are, so that they are no bomb."""
    count = FREE_NUMBERS // 400 + 1
    shape = (count, 200)
    instances = InstanceSet(
        name="a",
        problem="tsp",
        coordinates=np.zeros((*shape, 2)),
        demand=np.zeros(shape, np.int64),
        capacity=np.zeros(count, np.int64),
    )
    instances.save_npz(tmp_path / "a.npz")
    assert len(read_set(tmp_path / "a.npz")) == count


@pytest.mark.parametrize(("size", "count"), [(10**26, 1), (20_001, 1), (100, 10**9), (1, 2**63)])
def test_generated_sets_fit_memory(size: int, count: int) -> None:
    """A set that no memory holds is refused before it is drawn."""
    with within_megabytes(1), pytest.raises(InputError, match="is above"):
        generate_set("tsp", size, count, seed=1)


@pytest.mark.parametrize(
    ("name", "unit", "told"),
    [("a.csv", "1,2\n", "line ends"), ("a.tsp", "1\r", "line ends"), ("a.csv", "1,1,1,1,", "a line of more than")],
)
def test_texts_of_many_pieces(tmp_path: Path, name: str, unit: str, told: str) -> None:
    """Millions of lines, or of cells on one line, are refused before the text is cut up."""
    content = unit * (20 * 2**20 // len(unit))
    with within_seconds(SECONDS), within_megabytes(MEGABYTES):
        assert told in refusal(tmp_path, name, content.encode())


def test_long_texts_of_short_lines(tmp_path: Path) -> None:
    """What is long in all, but has lines of usual length, is read."""
    path = tmp_path / "a.csv"
    path.write_text("# " + "a" * 2**20 + "\n" + "0,0\n1,1\n" + ("#" + "a" * 2**20 + "\n") * 18)
    assert read(path).size == 2
