"""Limits on files, checked against what a file declares before memory is allocated."""

from __future__ import annotations

from dact.instances.errors import InputError

MAX_NODES = 20_000
"""Default limit on the nodes of an instance."""
MAX_TEXT_BYTES = 2**28
"""Length of a text file: a matrix of 7,000 nodes fits."""
MAX_LINES = 2**21
"""Lines of a text file: as separate strings they take far more memory."""
MAX_LINE_BYTES = 2**24
"""Length of one line: all distances of 2,000 nodes fit."""
MAX_SET_BYTES = 2**32
"""Length of a file with a set of instances."""
FREE_NUMBERS = 2**22
"""Numbers that any file may unpack to; larger files must have at least one byte per number."""
MAX_GENERATED = 2**29
"""Numbers of a set that is generated."""


def check_nodes(nodes: int, max_nodes: int) -> None:
    """Refuse an instance of too many nodes."""
    if nodes > max_nodes:
        raise InputError(f"has {nodes} nodes, above the limit of {max_nodes} (max_nodes allows more)")


def check_unpacked(numbers: int, file_bytes: int) -> None:
    """Refuse files that unpack to far more numbers than they have bytes."""
    if numbers > FREE_NUMBERS + file_bytes:
        raise InputError(f"unpacks to {numbers} numbers, far more than a file of {file_bytes} bytes should hold")


def check_lines(content: bytes) -> None:
    """Refuse a text with too many or too long lines before it is split."""
    lines = content.count(b"\n") + content.count(b"\r")
    if lines > MAX_LINES:
        raise InputError(f"has {lines} line ends, above the limit of {MAX_LINES}")
    begin = 0
    while len(content) - begin > MAX_LINE_BYTES:
        window = begin, begin + MAX_LINE_BYTES + 1
        end = max(content.rfind(b"\n", *window), content.rfind(b"\r", *window))
        if end < begin:
            raise InputError(f"has a line of more than {MAX_LINE_BYTES} bytes")
        begin = end + 1
