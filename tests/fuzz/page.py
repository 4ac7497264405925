"""Requests of the page: what it may send, spoiled, and texts and numbers of every kind in its fields."""

import base64
import json
from pathlib import Path

from hypothesis import strategies as st

from dact.instances import InputError
from dact.web.orders import Order, described
from fuzz.mutators import TOKENS

FILES = {
    "a.csv": "# capacity: 3\nname,x,y,demand\nd,0,0,0\na,3,0,1\nb,3,4,2\nc,0,4,3\n",
    "a.tsp": "TYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 0\n3 3 4\nEOF\n",
    "a.npy": "rubbish",
}
MATRIX = ",d,a,b,c\nd,0,1,2,3\na,4,0,5,6\nb,7,8,0,9\nc,1,2,3,0\n"
START = "Route #1: 1 2\nRoute #2: 3\nCost 20\n"
SETTINGS = ["capacity", "demand_unit", "vehicles", "search", "seconds", "walks", "seed"]
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from([10**400, 1e308, "1", "hybrid", [], {}]),
    st.text(max_size=5),
)
NAMES = st.one_of(
    st.sampled_from([*FILES, "a.sol", "../a.csv", "\U0001f600" * 90 + ".csv", ".csv", "a/", "..", "a\x00.csv"]),
    st.text(max_size=120),
)


def _file(name: str, text: str, **more: object) -> dict[str, object]:
    return {"name": name, "data": base64.b64encode(text.encode("utf-8", "replace")).decode(), **more}


def samples() -> tuple[bytes, ...]:
    """Requests that are taken."""
    orders = (
        _file("a.csv", FILES["a.csv"], seconds=1, seed=3, vehicles=2),
        _file("a.tsp", FILES["a.tsp"], search="policy", walks=8),
        _file("a.csv", FILES["a.csv"], matrix=_file("m.csv", MATRIX), start=_file("a.sol", START)),
    )
    return tuple(json.dumps(order, indent=0).encode() for order in orders)


@st.composite
def odd_requests(draw: st.DrawFn) -> bytes:
    """The right fields with the wrong values."""
    order = _file(draw(NAMES), draw(st.sampled_from([*FILES.values(), MATRIX, START, *TOKENS])))
    for name in sorted(draw(st.sets(st.sampled_from(SETTINGS), max_size=2))):
        order[name] = draw(ODD)
    for name, content in (("matrix", MATRIX), ("start", START)):
        if draw(st.booleans()):
            order[name] = draw(ODD | NAMES.map(lambda named, content=content: _file(named, content)))
    return json.dumps(order).encode()


def request(path: Path) -> None:
    """What the server does with the body of a request before it searches."""
    try:
        order = Order.parse(path.read_bytes())
        task = order.read()
        order.config()
    except InputError as error:
        folder = "dact-page-" in str(error)
        # A message that names a folder of the server does not pass for a clear one.
        raise ValueError(f"{'' if folder else path}: {' '.join(str(error).split())}") from None
    json.dumps(described(task.instance, task.notes), allow_nan=False)
