"""Is what a page shows what a command prints?

Costs, gaps, loads, lengths, numbers of routes and of rounds must be equal. Three things may differ: the column
`seconds` of a table; the order of routes, their numbers and the way they are driven, which depend on the number of
cores; and whatever three dots stand for.
"""

import re
from collections.abc import Iterable

DOTS = "..."
_GAP = re.compile(r"\s{2,}")
_ROUTE = re.compile(r"^Route #?\d+( \(.*\))?: (.+)$")
_LATER = ("note: compiling",)
"""Lines that are printed on a machine's first search only."""


def compare(what: str, shown: list[str], printed: str) -> None:
    """The lines of a command's output; three dots stand for anything."""
    wanted, got = plain("\n".join(shown)), plain(printed)
    pattern = "\n".join(map(re.escape, wanted)).replace(re.escape(DOTS), ".*")
    assert re.fullmatch(pattern, "\n".join(got), re.DOTALL), f"{what}: shown are {wanted}, but it prints {got}"


def same_text(what: str, shown: list[str], text: str) -> None:
    """The lines of a file, to the character; three dots at the end stand for the rest."""
    lines = text.splitlines()
    begun = shown[:-1] if shown and shown[-1] == DOTS else None
    assert (shown == lines) if begun is None else (begun == lines[: len(begun)]), (
        f"{what}: shown are {shown}, not {lines}"
    )


def plain(text: str) -> list[str]:
    """The lines without what may differ: routes in one order, seconds as dots."""
    lines: list[str] = []
    seconds, width = -1, 0
    for line in text.splitlines():
        cells = _GAP.split(line.strip())
        if "seconds" in cells:
            seconds, width = cells.index("seconds"), len(cells)
        elif len(cells) == width > 1:
            cells[seconds] = "-"
        joined = " ".join(cells)
        if joined and not joined.startswith(_LATER):
            lines.append(_route(joined))
    return list(_routes_in_order(lines))


def _route(line: str) -> str:
    """A route without its number, driven the way that comes first."""
    match = _ROUTE.match(line)
    if match is None:
        return line
    between = ", " if ", " in match[2] else " "
    stops = match[2].split(between)
    return f"Route{match[1] or ''}: {between.join(min(stops, stops[::-1]))}"


def _routes_in_order(lines: Iterable[str]) -> Iterable[str]:
    routes: list[str] = []
    for line in lines:
        if line.startswith("Route"):
            routes.append(line)
            continue
        yield from sorted(routes)
        routes = []
        yield line
    yield from sorted(routes)
