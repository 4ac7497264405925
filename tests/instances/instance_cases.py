"""Small valid files that the tests of this folder read and spoil, and the way to the shared data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dact.instances import InputError, Instance, read, read_set

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"

# A 3-4-5 triangle and the rectangle that completes it.
RECTANGLE = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 4.0]])

TSP = """\
NAME : rectangle
TYPE : TSP
COMMENT : four corners
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 0
3 3 4
4 0 4
EOF
"""

VRP = """\
NAME : corners
TYPE : CVRP
COMMENT : a depot and three customers
DIMENSION : 4
CAPACITY : 10
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 0
3 3 4
4 0 4
DEMAND_SECTION
1 0
2 4
3 6
4 7
DEPOT_SECTION
1
-1
EOF
"""

EXPLICIT = """\
NAME : given
TYPE : TSP
DIMENSION : 3
EDGE_WEIGHT_TYPE : EXPLICIT
EDGE_WEIGHT_FORMAT : FULL_MATRIX
EDGE_WEIGHT_SECTION
0 3 5
3 0 4
5 4 0
EOF
"""

CSV = "# capacity: 10\nx,y,demand\n0,0,0\n3,0,4\n3,4,6\n0,4,7\n"


def saved(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file for a test."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def loaded(folder: Path, name: str, content: str | bytes) -> Instance:
    """Write a file and read it as an instance."""
    return read(saved(folder, name, content))


def refusal(folder: Path, name: str, content: str | bytes) -> str:
    """Write a file that must be refused; return the message, which is one line and names the file."""
    path = saved(folder, name, content)
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def set_refusal(folder: Path, name: str, content: bytes) -> str:
    """Write a set that must be refused; return the one-line message."""
    path = saved(folder, name, content)
    with pytest.raises(InputError) as caught:
        read_set(path)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def shared_files(*patterns: str) -> list[Path]:
    """List the shared data files of some patterns; none where the data is absent."""
    return sorted(path for pattern in patterns for path in DATA.glob(pattern))


needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data is not here")


def assert_plain(instance: Instance) -> None:
    """Four places and a capacity, however the table was written."""
    assert instance.coordinates is not None
    assert instance.coordinates.tolist() == RECTANGLE.tolist()
    assert (instance.demand.tolist(), instance.capacity) == ([0, 4, 6, 7], 12)
    assert instance.names == ("Home", "Ada", "Bob", "Cyd")
