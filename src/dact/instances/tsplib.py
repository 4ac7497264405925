"""TSPLIB .tsp and CVRPLIB .vrp text to an Instance."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dact.instances.arrays import FloatArray, IntArray
from dact.instances.errors import InputError, caution, naming, plural, shown
from dact.instances.facts import FACTS, Facts
from dact.instances.instance import Instance
from dact.instances.keywords import Document, Row, parse_keywords
from dact.instances.limits import MAX_NODES, check_nodes
from dact.instances.matrix import explicit_matrix
from dact.instances.numerals import positive, real, whole
from dact.instances.plane import warn_of_decimal_degrees
from dact.instances.published import stated_value

WEIGHT_TYPES = ("EUC_2D", "CEIL_2D", "MAN_2D", "MAX_2D", "ATT", "GEO", "EXPLICIT")
_SECTIONS = {"NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION", "DISPLAY_DATA_SECTION"}
_CONSTRAINTS = {
    "DISTANCE": "a limit on the length of a route",
    "SERVICE_TIME": "a service time",
    "FIXED_EDGES_SECTION": "edges that the tour must use",
}

NodeTable = dict[int, list[float]]


def parse_tsplib(text: str, path: Path, max_nodes: int = MAX_NODES) -> Instance:
    """Read an instance; its best known value is the one that its COMMENT states, if any."""
    document = parse_keywords(text)
    facts = _facts(document)
    _refuse_constraints(document, facts)
    size = positive(document.need("DIMENSION"), "DIMENSION")
    check_nodes(size, max_nodes)
    rule = _rule(document)
    coordinates = _node_table(document, "NODE_COORD_SECTION", size, ("x", "y"), real)
    matrix = explicit_matrix(document, size) if rule == "explicit" else None
    demand: NodeTable = {}
    if facts.capacity:
        document.rows("DEMAND_SECTION")
        demand = _node_table(document, "DEMAND_SECTION", size, ("demand",), whole)
    order = _order(document, facts, coordinates, demand, size)
    instance = Instance(
        name=_name(document, path),
        problem=facts.name,
        rule=rule,
        coordinates=np.array([coordinates[node] for node in order]) if coordinates else None,
        matrix=None if matrix is None else _permuted(matrix, np.array(order) - min(order)),
        node_ids=np.array(order),
        demand=np.array([int(demand[node][0]) if demand else 0 for node in order]),
        capacity=positive(document.need("CAPACITY"), "CAPACITY") if facts.capacity else 0,
        vehicles=positive(document.fields["VEHICLES"], "VEHICLES") if document.fields.get("VEHICLES") else 0,
        best_known=stated_value(document.fields.get("COMMENT", ""), rule),
        source=path,
    )
    _warn(instance, path, symmetric=not _asymmetric(document))
    return instance


def _warn(instance: Instance, path: Path, *, symmetric: bool) -> None:
    if instance.rule == "geo" and instance.coordinates is not None:
        warn_of_decimal_degrees(path, instance.coordinates)
    if symmetric and instance.matrix is not None and not instance.symmetric:
        row, column = np.argwhere(instance.matrix != instance.matrix.T)[0]
        there, back = instance.matrix[row, column], instance.matrix[column, row]
        ends = f"from {instance.label(row)} to {instance.label(column)} is {there:g} and back {back:g}"
        caution(path, f"the distance {ends}: costs are those of the direction driven")


def _name(document: Document, path: Path) -> str:
    return re.sub(r"\.(tsp|vrp)$", "", document.fields.get("NAME", "")) or path.stem


def _asymmetric(document: Document) -> bool:
    return document.need("TYPE").upper().startswith("A")


def _facts(document: Document) -> Facts:
    # Some files credit an author after the type: 'TSP (M.~Hofmeister)'.
    kind = document.need("TYPE").split()[0]
    known = {facts.title: facts for facts in FACTS.values()}
    title = kind.upper().removeprefix("A")
    if title not in known:
        raise InputError(f"TYPE {shown(kind)} is not supported, only {' and '.join(known)} are")
    return known[title]


def _refuse_constraints(document: Document, facts: Facts) -> None:
    for keyword, meaning in _CONSTRAINTS.items():
        value = document.fields.get(keyword, "")
        # A service time of zero has no effect.
        if keyword in document.sections or (value and (keyword, value) != ("SERVICE_TIME", "0")):
            raise InputError(f"{keyword} ({meaning}) is not supported")
    allowed = (
        _SECTIONS | ({"DEPOT_SECTION"} if facts.depot else set()) | ({"DEMAND_SECTION"} if facts.capacity else set())
    )
    for section in document.sections:
        if section not in allowed:
            raise InputError(f"the {section} is not supported for TYPE {facts.title}")


def _rule(document: Document) -> str:
    kind = document.need("EDGE_WEIGHT_TYPE").upper()
    if kind not in WEIGHT_TYPES:
        raise InputError(f"EDGE_WEIGHT_TYPE {shown(kind)} is not one of {', '.join(WEIGHT_TYPES)}")
    if kind != "EXPLICIT":
        document.rows("NODE_COORD_SECTION")
        if "EDGE_WEIGHT_SECTION" in document.sections:
            raise InputError(f"EDGE_WEIGHT_TYPE {kind} does not go with an EDGE_WEIGHT_SECTION")
    return kind.lower()


def _node_table(
    document: Document, section: str, size: int, columns: tuple[str, ...], parse: Callable[[str, str], float]
) -> NodeTable:
    """Read rows of a node id and numbers; empty where the section is absent."""
    table: NodeTable = {}
    if section not in document.sections:
        return table
    for number, line in document.sections[section]:
        with naming(f"line {number}"):
            node, values = _node_row(line, section, columns, parse)
            if node in table:
                raise InputError(f"node {node} is given twice in the {section}")
            table[node] = values
    if len(table) != size:
        raise InputError(f"DIMENSION is {size} but the {section} has {len(table)} {plural(len(table), 'row')}")
    _check_consecutive(table, section)
    return table


def _node_row(
    line: str, section: str, columns: tuple[str, ...], parse: Callable[[str, str], float]
) -> tuple[int, list[float]]:
    tokens = line.split(maxsplit=len(columns) + 1)
    if len(tokens) != len(columns) + 1:
        raise InputError(f"a row of the {section} is a node id, {', '.join(columns)}, but this one is {shown(line)}")
    node = whole(tokens[0], "the node id")
    values = [parse(token, f"the {column} of node {node}") for token, column in zip(tokens[1:], columns, strict=True)]
    if columns == ("demand",) and values[0] < 0:
        raise InputError(f"the demand of node {node} is {values[0]}, which is negative")
    return node, values


def _check_consecutive(table: NodeTable, section: str) -> None:
    """Ids must be 1..N (or 0..N-1); otherwise a node is missing."""
    first = 0 if 0 in table else 1
    for node in range(first, first + len(table)):
        if node not in table:
            raise InputError(f"node {node} is missing in the {section}")


def _order(document: Document, facts: Facts, coordinates: NodeTable, demand: NodeTable, size: int) -> list[int]:
    """Return the node ids in index order: ascending, but the depot first."""
    if coordinates and demand and coordinates.keys() != demand.keys():
        node = min(coordinates.keys() ^ demand.keys())
        raise InputError(f"node {node} is not in both the NODE_COORD_SECTION and the DEMAND_SECTION")
    ids = sorted(coordinates or demand or range(1, size + 1))
    if not facts.depot:
        return ids
    depot = _depot(document.rows("DEPOT_SECTION"))
    if depot not in ids:
        raise InputError(f"the depot {depot} of the DEPOT_SECTION is not a node")
    return [depot, *(node for node in ids if node != depot)]


def _depot(rows: list[Row]) -> int:
    depots: list[int] = []
    ended = False
    for number, line in rows:
        tokens = line.split(maxsplit=2)
        with naming(f"line {number}"):
            # CVRPLIB's own files give ids; two numbers on a line are coordinates in other dialects.
            if len(tokens) > 1 and tokens[1:] != ["-1"]:
                raise InputError(f"the DEPOT_SECTION holds {shown(line)}, not one node id")
            for token in tokens:
                node = whole(token, "the depot")
                if ended:
                    raise InputError(f"{node} comes after the -1 that ends the DEPOT_SECTION")
                ended = node == -1
                depots += [] if ended else [node]
    if len(depots) != 1:
        count = f"{len(depots)} depots" if depots else "no depot"
        raise InputError(f"the DEPOT_SECTION names {count}, but one is needed")
    return depots[0]


def _permuted(matrix: FloatArray, order: IntArray) -> FloatArray:
    return matrix[np.ix_(order, order)]
