"""Solutions on disk: TSPLIB .tour, CVRPLIB .sol, and JSON or a CSV list of stops for both. Lists of stops may come
back as other tables, as spreadsheet programs save them.

The first three number nodes alike: by their ids in the instance's file, or customers 1..n, as the problem's facts say.
In memory routes are instance indices (`checker.Routes`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dact.instances.checker import Routes, check
from dact.instances.errors import InputError, naming, plural, shown
from dact.instances.files import numbered_lines, read_bytes, read_text, write_atomically
from dact.instances.instance import Instance
from dact.instances.keywords import parse_keywords
from dact.instances.limits import MAX_NODES
from dact.instances.numerals import finite, positive, whole
from dact.instances.stop_lists import Titles, parse_stop_list, stop_list
from dact.instances.workbooks import workbook_text

SUFFIXES = (".tour", ".sol", ".json", ".csv")
LISTS = (".csv", ".tsv", ".xlsx")
"""Extensions of lists of stops that are read; only the first is written."""
READ = (*SUFFIXES, *LISTS[1:])
"""Extensions of all files that are read."""
STOPS_PER_NODE = 3
"""Rows of a list of stops for each node: a route of one customer has three."""
# Adjacent parts match different characters, so that matching is linear in the line's length.
_ROUTE = re.compile(r"route\s*(?:#\s*)?(?:\d+\s*)?:(.*)", re.IGNORECASE)
_COST = re.compile(r"cost(?:\s*:)?\s+(\S+)", re.IGNORECASE)


def write_solution(path: str | Path, instance: Instance, routes: Sequence[Sequence[int]], cost: float) -> None:
    """Write a feasible solution in the format that the file's extension names."""
    path = Path(path)
    with naming(path):
        suffix = _suffix(path, instance)
        _refuse_infeasible(instance, routes)
    writers = {".tour": _tour_text, ".sol": _sol_text, ".json": _json_text, ".csv": stop_list}
    text = writers[suffix](instance, routes, cost)
    write_atomically(path, lambda stream: stream.write(text.encode(errors="replace")))


def read_solution(path: str | Path, instance: Instance) -> Routes:
    """Read routes; InputError with the reason if they are no solution of the instance."""
    return read_solution_cost(path, instance)[0]


def read_solution_cost(path: str | Path, instance: Instance) -> tuple[Routes, float | None]:
    """Read routes like `read_solution`, and the cost stated in the file, if any."""
    path = Path(path)
    with naming(path):
        stops, cost = _parsed(path, instance, strict=True)
        routes = _indexed(instance, stops)
        _refuse_infeasible(instance, routes)
        return routes, cost


def read_stops(path: Path, instance: Instance) -> list[list[int | str]]:
    """Read routes of numbers, or of names if the file has them, without checking them against the instance."""
    return _parsed(path, instance, strict=False)[0]


def _parsed(path: Path, instance: Instance, *, strict: bool) -> tuple[list[list[int | str]], float | None]:
    suffix = ".csv" if path.suffix.lower() in LISTS else _suffix(path, instance, READ)
    workbook = path.suffix.lower() == ".xlsx"
    most = STOPS_PER_NODE * max(instance.size, MAX_NODES)
    text = workbook_text(read_bytes(path), most) if workbook else read_text(path)
    routes: list[list[int]] | list[list[int | str]]
    cost = None
    if suffix == ".tour":
        routes = [_tour_nodes(text, instance if strict else None)]
    elif suffix == ".csv":
        routes = parse_stop_list(text, instance)
    elif suffix == ".sol":
        routes, cost = _sol_routes(text)
    else:
        routes = _json_routes(text, Titles(instance) if instance.names and not strict else None)
    return [list(route) for route in routes], cost


def suffixes_for(instance: Instance) -> tuple[str, ...]:
    """Return the extensions of files that can hold its solutions, the usual one first."""
    return instance.facts.suffix, ".json", ".csv"


def _suffix(path: Path, instance: Instance, known: tuple[str, ...] = SUFFIXES) -> str:
    suffix = path.suffix.lower()
    if suffix not in known:
        raise InputError(f"the extension {shown(suffix)} is not one of {', '.join(known)}")
    if suffix not in suffixes_for(instance):
        raise InputError(f"{suffix} files do not hold {instance.facts.title} solutions")
    return suffix


def _refuse_infeasible(instance: Instance, routes: Sequence[Sequence[int]]) -> None:
    violations = check(instance, routes).violations
    if violations:
        more = f" (and {len(violations) - 1} more faults)" if len(violations) > 1 else ""
        raise InputError(f"is not a solution of {shown(instance.name)}: {violations[0]}{more}")


def _indexed(instance: Instance, stops: list[list[int | str]]) -> Routes:
    """Convert numbers to instance indices, and drop empty routes."""
    index: dict[int | str, int] = {instance.number(node): node for node in range(instance.size)}
    titles = Titles(instance)
    if any(isinstance(stop, str) for route in stops for stop in route):
        index |= {instance.title(node): node for node in range(instance.size)}
    for stop in (stop for route in stops for stop in route):
        if isinstance(stop, str):
            titles.refuse_shared(stop)
        if stop not in index:
            kind = "node" if instance.facts.by_id else "customer"
            raise InputError(f"visits {kind} {shown(stop)}, which {shown(instance.name)} does not have")
    return tuple(tuple(index[stop] for stop in route) for route in stops if route)


def _cost_text(cost: float) -> str:
    return str(int(cost)) if float(cost).is_integer() else repr(float(cost))


def _tour_text(instance: Instance, routes: Sequence[Sequence[int]], cost: float) -> str:
    nodes = [str(instance.number(index)) for index in routes[0]]
    head = [
        f"NAME : {' '.join(instance.name.split())}.tour",
        f"COMMENT : Length {_cost_text(cost)}",
        "TYPE : TOUR",
        f"DIMENSION : {instance.size}",
        "TOUR_SECTION",
    ]
    return "\n".join([*head, *nodes, "-1", "EOF", ""])


def _sol_text(instance: Instance, routes: Sequence[Sequence[int]], cost: float) -> str:
    served = [route for route in routes if len(route)]
    lines = [
        f"Route #{number}: {' '.join(str(instance.number(customer)) for customer in route)}"
        for number, route in enumerate(served, start=1)
    ]
    return "\n".join([*lines, f"Cost {_cost_text(cost)}", ""])


def _json_text(instance: Instance, routes: Sequence[Sequence[int]], cost: float) -> str:
    content = {
        "name": instance.name,
        "problem": instance.problem,
        "cost": float(cost),
        "routes": [[instance.number(index) for index in route] for route in routes],
        **({"names": instance.titles(routes)} if instance.names else {}),
    }
    return json.dumps(content) + "\n"


def _tour_nodes(text: str, instance: Instance | None) -> list[int]:
    document = parse_keywords(text)
    if instance is not None and "DIMENSION" in document.fields:
        dimension = positive(document.need("DIMENSION"), "DIMENSION")
        if dimension != instance.size:
            size = f"{instance.size} {plural(instance.size, 'node')}"
            raise InputError(f"DIMENSION is {dimension} but {shown(instance.name)} has {size}")
    nodes: list[int] = []
    ended = False
    for number, line in document.rows("TOUR_SECTION"):
        with naming(f"line {number}"):
            for token in line.split():
                node = whole(token, "a node")
                # TSPLIB ends a tour with -1 and may end the section with another.
                if ended and node != -1:
                    raise InputError(f"node {node} comes after the -1 that ends the tour")
                ended = node == -1
                nodes += [] if ended else [node]
    return nodes


def _sol_routes(text: str) -> tuple[list[list[int]], float | None]:
    """Read 'Route #1: 4 2 7' and 'Cost 20'; other lines, such as times, are ignored.

    vrplib is not used: it takes every line with the word Route ('Routes: 3') for a route.
    """
    routes: list[list[int]] = []
    cost = None
    for number, line in numbered_lines(text):
        with naming(f"line {number}"):
            if match := _ROUTE.fullmatch(line):
                routes.append([whole(token, "a customer") for token in match[1].split()])
            elif match := _COST.fullmatch(line):
                cost = finite(match[1], "the cost")
    if not routes:
        raise InputError("holds no line of the form 'Route #1: 4 2 7'")
    return routes, cost


def _json_routes(text: str, titles: Titles | None) -> list[list[int | str]]:
    """The routes of a solution file, or of a line of `dact solve --json`: by names if there are titles to look them up,
    or else by numbers."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("is not JSON") from None
    content = content if isinstance(content, dict) else {}
    if titles is None or "names" not in content:
        return list(_json_lists(content, "routes", int, "node number"))
    names = _json_lists(content, "names", str, "name")
    numbers = _json_lists(content, "routes", int, "node number") if "routes" in content else []
    if [*map(len, names)] != [*map(len, numbers)]:
        return list(names)
    pairs = (zip(*each, strict=True) for each in zip(names, numbers, strict=True))
    return [[titles.stop(name, number) for name, number in route] for route in pairs]


def _json_lists(content: dict[str, Any], key: str, kind: type, what: str) -> list[list[Any]]:
    """Routes under a key, whose stops are all of one kind."""
    routes = content.get(key, [content["tour"]] if key == "routes" and "tour" in content else None)
    if not isinstance(routes, list) or not all(isinstance(route, list) for route in routes):
        raise InputError("has no list 'routes' of lists")
    for node in (node for route in routes for node in route):
        if type(node) is not kind:
            raise InputError(f"a route holds {shown(node)}, not a {what}")
    return routes
