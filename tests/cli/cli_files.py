"""Small files for the command line, and reading what it wrote by hand."""

from pathlib import Path


def read_tour_ids(path: Path) -> list[int]:
    """The node ids of a .tour file as they stand there."""
    lines = path.read_text().split("TOUR_SECTION\n")[1].splitlines()
    return [int(line) for line in lines[: lines.index("-1")]]


def tsp_text(points: list[tuple[float, float]], first: int = 1) -> str:
    """A TSPLIB file whose nodes are numbered from `first`."""
    rows = [f"{node} {x} {y}" for node, (x, y) in enumerate(points, start=first)]
    head = ["NAME : inside", "TYPE : TSP", f"DIMENSION : {len(points)}", "EDGE_WEIGHT_TYPE : EUC_2D"]
    return "\n".join([*head, "NODE_COORD_SECTION", *rows, "EOF", ""])


def vrp_text(points: list[tuple[float, float]], demand: list[int], capacity: object) -> str:
    """A CVRPLIB file whose first node is the depot."""
    rows = [f"{node} {x} {y}" for node, (x, y) in enumerate(points, start=1)]
    loads = [f"{node} {load}" for node, load in enumerate(demand, start=1)]
    head = ["NAME : inside", "TYPE : CVRP", f"DIMENSION : {len(points)}", "EDGE_WEIGHT_TYPE : EUC_2D"]
    head += [f"CAPACITY : {capacity}", "NODE_COORD_SECTION"]
    return "\n".join([*head, *rows, "DEMAND_SECTION", *loads, "DEPOT_SECTION", "1", "-1", "EOF", ""])


SQUARE = [(0.0, 0.0), (0.0, 30.0), (40.0, 30.0), (40.0, 0.0), (20.0, 50.0), (10.0, 10.0)]
