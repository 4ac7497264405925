"""Draw the instances of this folder: towns on islands, a harbour that supplies villages, a bakery's customers."""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def clusters(stream: np.random.Generator, centres: list[tuple[int, int]], each: int, spread: float) -> np.ndarray:
    """Points scattered round each centre, whole numbers, no two alike."""
    seen: set[tuple[int, int]] = set()
    points = []
    for centre in centres:
        count = 0
        while count < each:
            x, y = (int(v) for v in np.rint(stream.normal(centre, spread)).clip(0, 1000))
            if (x, y) not in seen:
                seen.add((x, y))
                points.append((x, y))
                count += 1
    return np.array(points)


def write_tsp() -> None:
    """Sixty towns on six islands round a lagoon."""
    ring = [(round(500 + 370 * np.cos(a)), round(500 + 330 * np.sin(a))) for a in np.arange(6) * np.pi / 3 + 0.4]
    towns = clusters(np.random.default_rng(5), ring, 10, 68)
    rows = [f"{node} {x} {y}" for node, (x, y) in enumerate(towns, start=1)]
    head = ["NAME : islands60", "TYPE : TSP", "COMMENT : sixty towns on six islands (DACT example, MIT)"]
    head += [f"DIMENSION : {len(towns)}", "EDGE_WEIGHT_TYPE : EUC_2D", "NODE_COORD_SECTION"]
    (HERE / "islands60.tsp").write_text("\n".join([*head, *rows, "EOF", ""]))


def write_cvrp() -> None:
    """Sixty villages in five valleys, supplied from a harbour at the edge."""
    stream = np.random.default_rng(8)
    valleys = [(180, 820), (480, 640), (830, 860), (760, 420), (300, 330)]
    villages = clusters(stream, valleys, 12, 85)
    demand = stream.integers(2, 19, len(villages))
    nodes = [(520, 60), *villages]
    places = [f"{node} {x} {y}" for node, (x, y) in enumerate(nodes, start=1)]
    loads = [f"{node} {load}" for node, load in enumerate([0, *demand], start=1)]
    head = ["NAME : harbour60", "TYPE : CVRP", "COMMENT : sixty villages and a harbour (DACT example, MIT)"]
    head += [f"DIMENSION : {len(nodes)}", "EDGE_WEIGHT_TYPE : EUC_2D", "CAPACITY : 90", "NODE_COORD_SECTION"]
    tail = ["DEMAND_SECTION", *loads, "DEPOT_SECTION", "1", "-1", "EOF", ""]
    (HERE / "harbour60.vrp").write_text("\n".join([*head, *places, *tail]))


def write_csv() -> None:
    """A bakery and the forty cafes it delivers trays of bread to; kilometres on a town map."""
    stream = np.random.default_rng(3)
    cafes = clusters(stream, [(260, 700), (420, 420), (700, 620), (620, 240)], 10, 95) / 100
    trays = stream.integers(1, 9, len(cafes))
    rows = [f"{x:.2f},{y:.2f},{load}" for (x, y), load in zip([(5.0, 5.0), *cafes], [0, *trays], strict=True)]
    (HERE / "bakery40.csv").write_text("\n".join(["# capacity: 30", "x,y,demand", *rows, ""]))


if __name__ == "__main__":
    write_tsp()
    write_cvrp()
    write_csv()
