"""Spoiled texts and bytes, and what a refusal must look like."""

from pathlib import Path

from hypothesis import strategies as st

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
        "VEHICLES : 1",
        "# vehicles: 1",
        "name",
        "lat",
        ";",
        '"',
        "1,5",
        "\ud7ff",
    ),
]


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
            separator = next((mark for mark in ";," if mark in lines[row]), " ")
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
