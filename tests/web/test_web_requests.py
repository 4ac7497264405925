"""What the server takes and what it refuses."""

import json
import re

import pytest
from web_client import BAKERY, HARBOUR, ISLANDS, Client, file_at, file_of

from dact.web.orders import MAX_BODY, MAX_NODES
from dact.web.server import STATIC

PLAIN = "x,y\n0,0\n0,1\n1,1\n1,0\n"
BAD_FILES = {
    "a word for a number": (file_of("a.csv", "x,y\n0,0\n1,one\n"), "a.csv: line 3: y is 'one', not a number"),
    "an empty file": (file_of("a.tsp", ""), "a.tsp: is empty"),
    "no capacity": (file_of("a.csv", "0,0,0\n1,1,2\n"), "or fill in the field Capacity"),
    "a small capacity": (
        file_of("a.csv", "0,0,0\n1,1,2\n", capacity=1),
        "capacity 1 is below the largest demand 2 (customer 1)",
    ),
    "too many nodes": (
        file_of("a.csv", "0,0\n" * (MAX_NODES + 1)),
        f"a.csv: has {MAX_NODES + 1} nodes, above the limit of {MAX_NODES}",
    ),
    "an unknown extension": (file_of("a.exe", PLAIN), "a.exe: the extension '.exe' is not one of"),
    "a hidden name": (file_of(".csv", PLAIN), "'.csv' is no name for a file"),
    "a name with a line break": (file_of("a\nb.csv", PLAIN), "is no name for a file"),
    "a name too long in bytes": (file_of("\U0001f600" * 90 + ".csv", PLAIN), "is no name for a file"),
    "a name that is a folder": (file_of("..", PLAIN), "is no name for a file"),
    "a harmful pickle": (file_of("a.pkl", b"cos\nsystem\n(S'true'\ntR."), "a.pkl: "),
    "no base64": ({"name": "a.csv", "data": "#"}, "data is not in base64"),
    "no data": ({"name": "a.csv"}, "data: Field required"),
    "an unknown field": (file_of("a.csv", PLAIN, colour="red"), "there is no field 'colour' in this request"),
    "no JSON": (b"{", "the request: Invalid JSON"),
}


@pytest.mark.parametrize(("path", "nodes", "depot"), [(HARBOUR, 61, True), (ISLANDS, 60, False), (BAKERY, 41, True)])
def test_files_are_described(server: Client, path, nodes: int, depot: bool):
    """The page learns what is in a file before it is solved."""
    status, answer, _ = server.ask("POST", "/api/instance", file_at(path))
    told = json.loads(answer)
    assert (status, told["name"], told["depot"]) == (200, path.stem, depot)
    assert len(told["points"]) == len(told["labels"]) == len(told["titles"]) == nodes


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_files_are_one_sentence(server: Client, case: str):
    """What is wrong with a file is told as `dact solve` tells it, and no folder of the server's is named."""
    file, sentence = BAD_FILES[case]
    for path in ("/api/instance", "/api/runs"):
        status, error = server.refusal(path, file)
        assert status == 400
        assert sentence in error
        assert "tmp" not in error


def test_warnings_are_told(server: Client):
    """A file that is taken but may be misread comes with a note."""
    rows = "1 52.75 13.30\n2 48.85 2.35\n3 41.90 12.90\n"
    text = f"TYPE : TSP\nDIMENSION : 3\nEDGE_WEIGHT_TYPE : GEO\nNODE_COORD_SECTION\n{rows}EOF\n"
    told = json.loads(server.ask("POST", "/api/instance", file_of("capitals.tsp", text))[1])
    assert len(told["notes"]) == 1
    assert told["notes"][0].startswith("capitals.tsp: ")


TABLE = "name,demand\nBase,0\nAnn,2\nBen,1\n"
ROADS = ",Base,Ann,Ben\nBase,0,4,6\nAnn,5,0,3\nBen,6,2,0\n"


def test_a_matrix_goes_with_a_table(server: Client):
    """A table without coordinates is read with the distances of a second file, in its directions."""
    table = file_of("towns.csv", TABLE, capacity=3)
    assert server.refusal("/api/instance", table)[0] == 400
    order = table | {"matrix": file_of("roads.csv", ROADS)}
    status, answer, _ = server.ask("POST", "/api/instance", order)
    assert (status, json.loads(answer)["titles"]) == (200, ["Base", "Ann", "Ben"])
    frames = server.begin(order | {"seconds": 0.3}).until("done")
    assert [frame["best"]["cost"] for frame in frames if "best" in frame][-1] == 13
    # The same name does no harm: the two files do not lie in one folder.
    assert server.ask("POST", "/api/instance", table | {"matrix": file_of("towns.csv", ROADS)})[0] == 200


def test_what_is_told_of_distances(server: Client):
    """Kilometres are told, and that a matrix alone gives no map."""
    matrix, degrees = file_of("roads.csv", ROADS), file_of("a.csv", "lat,lon\n52,5\n52,4\n")
    (roads, globe) = (json.loads(server.ask("POST", "/api/instance", file)[1]) for file in (matrix, degrees))
    assert roads["notes"] == ["roads: not a map: the places are laid out by their distances."]
    assert (globe["notes"], globe["kilometres"], roads["kilometres"]) == ([], True, False)


def test_a_run_starts_from_an_old_solution(server: Client):
    """Repairs are told before the search, and the answer is never worse than the repaired start."""
    old = file_of("old.csv", "route,name\n1,Ann\n1,Cem\n")
    order = file_of("shops.csv", "name,x,y,demand\nBase,0,0,0\nAnn,3,0,1\nBen,0,4,1\n", capacity=2, start=old)
    told = json.loads(server.ask("POST", "/api/instance", order)[1])
    assert any(note.startswith("old.csv: ") and "Cem" in note for note in told["notes"])
    assert any("Ben" in note for note in told["notes"])
    frames = server.begin(order | {"seconds": 0.3}).until("done")
    assert [frame["best"]["cost"] for frame in frames if "best" in frame][-1] == 12


@pytest.mark.parametrize(
    ("part", "file", "sentence"),
    [
        ("matrix", file_of("roads.csv", "0,1\n1,0\n"), "shops.csv: has 3 nodes, but the matrix roads.csv has 2"),
        ("matrix", file_of("roads.exe", "0"), "roads.exe"),
        ("matrix", file_of(".csv", "0"), "'.csv' is no name for a file"),
        ("start", file_of("old.sol", "Route #1: 1\nRoute #2: 1\n"), "old.sol"),
        ("start", file_of("old.tour", "1"), "old.tour"),
        ("start", {"name": "old.sol"}, "start.data: Field required"),
    ],
)
def test_bad_second_files_are_one_sentence(server: Client, part: str, file: dict[str, object], sentence: str):
    """They are named as the first file is, without a folder of the server's."""
    order = file_of("shops.csv", "x,y,demand\n0,0,0\n3,0,1\n0,4,1\n", capacity=2, **{part: file})
    for path in ("/api/instance", "/api/runs"):
        status, error = server.refusal(path, order)
        assert status == 400
        assert sentence in error
        assert "tmp" not in error


def test_vehicles_that_are_not_enough(server: Client):
    """They are refused with the name of the file, as on the command line."""
    order = file_of("shops.csv", "x,y,demand\n0,0,0\n3,0,2\n0,4,2\n", capacity=2, vehicles=1)
    for path in ("/api/instance", "/api/runs"):
        refusal = server.refusal(path, order)
        assert refusal == (400, "shops.csv: vehicles 1 is below 2, which the loads need at least")


def test_a_path_is_no_way_out(server: Client):
    """Of a name with folders in it only the last part counts."""
    status, answer, _ = server.ask("POST", "/api/instance", file_of("../../etc/square.csv", PLAIN))
    assert (status, json.loads(answer)["name"]) == (200, "square")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"seconds": 601}, "seconds is 601: Input should be less than or equal to 600"),
        ({"seconds": 0}, "seconds is 0: Input should be greater than 0"),
        ({"walks": 65}, "walks is 65: Input should be less than or equal to 64"),
        ({"search": "magic"}, "search is 'magic': Input should be 'hybrid' or 'policy'"),
        ({"search": "policy", "walks": 9}, "augment is 9, but must be 1 to 8"),
        ({"seed": -1}, "seed is -1: Input should be greater than or equal to 0"),
    ],
)
def test_settings_have_limits(server: Client, settings: dict[str, object], sentence: str):
    """A setting beyond its limit is refused by name."""
    assert server.refusal("/api/runs", file_of("a.csv", PLAIN, **settings)) == (400, sentence)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/api/nothing", 404), ("POST", "/api/limits", 405), ("GET", "/api/runs", 404), ("GET", "/none.html", 404)],
)
def test_unknown_requests_are_one_sentence(server: Client, method: str, path: str, status: int):
    """What the server has no answer to is an error like all others."""
    answered, answer, _ = server.ask(method, path, {} if method == "POST" else None)
    assert (answered, json.loads(answer)) == (status, {"error": f"there is nothing at {method} {path}"})


def test_large_requests_are_refused(server: Client):
    """A request beyond the limit gets an answer that names it."""
    status, error = server.refusal("/api/instance", b" " * (MAX_BODY + 1))
    assert status == 413
    assert "6.0 MiB at most" in error


def test_only_json_is_taken(server: Client):
    """Forms, which any page may send without asking, are refused."""
    headers = {"Content-Type": "text/plain"}
    assert server.ask("POST", "/api/instance", file_of("a.csv", PLAIN), headers)[0] == 400


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://localhost:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/api/limits"), ("POST", "/api/instance")])
def test_other_hosts_and_origins_are_refused(server: Client, headers: dict[str, str], method: str, path: str):
    """Neither another site's page nor a name that was pointed at this machine gets anything."""
    sent = {name: value.format(port=server.port) for name, value in headers.items()}
    body = file_of("a.csv", PLAIN) if method == "POST" else None
    assert server.ask(method, path, body, sent)[0] == 403


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_its_own_names_are_taken(server: Client, name: str):
    """The page works under every name of this machine's loopback."""
    host = f"{name}:{server.port}"
    headers = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
    assert server.ask("POST", "/api/instance", file_of("a.csv", PLAIN), headers)[0] == 200


def test_the_page_is_complete(server: Client):
    """The page and all files that it names are served, and nothing is named that lies elsewhere."""
    names = {"index.html"} | {path.name for path in STATIC.iterdir()}
    for name in names:
        status, answer, headers = server.ask("GET", f"/{name}")
        assert (status, answer) == (200, (STATIC / name).read_bytes())
        assert headers["Content-Security-Policy"].startswith("default-src 'self';")
        text = answer.decode().replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?://|url\(", text)
        assert set(re.findall(r'(?:from "\./|src="|href=")([^"#]+)"', text)) <= names
    assert server.ask("GET", "/")[1] == (STATIC / "index.html").read_bytes()


@pytest.mark.parametrize("path", ["/../runs.py", "/%2e%2e/runs.py", "/api/nothing", "/docs", "/openapi.json"])
def test_nothing_else_is_served(server: Client, path: str):
    """Files beside the page's are not found, and there are no pages of the framework's."""
    assert server.ask("GET", path)[0] == 404
