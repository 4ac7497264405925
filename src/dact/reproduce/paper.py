"""The paper's own numbers, as it prints them."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class PaperRow:
    """A row of Table 1: objective, gap in percent (CVRP: to LKH3), time on one RTX 2080 Ti."""

    cost: float
    gap: float
    time: str


MAIN: dict[tuple[str, int], tuple[PaperRow, PaperRow, PaperRow, PaperRow]] = {
    ("tsp", 20): (
        PaperRow(3.83, 0.04, "2 min"),
        PaperRow(3.83, 0.00, "10 min"),
        PaperRow(3.83, 0.00, "21 min"),
        PaperRow(3.83, 0.00, "1.5 h"),
    ),
    ("tsp", 50): (
        PaperRow(5.70, 0.14, "7 min"),
        PaperRow(5.70, 0.02, "32 min"),
        PaperRow(5.70, 0.01, "1 h"),
        PaperRow(5.70, 0.00, "4 h"),
    ),
    ("tsp", 100): (
        PaperRow(7.89, 1.62, "20 min"),
        PaperRow(7.81, 0.61, "1.5 h"),
        PaperRow(7.79, 0.37, "3.5 h"),
        PaperRow(7.77, 0.09, "14 h"),
    ),
    ("cvrp", 20): (
        PaperRow(6.14, 0.04, "4 min"),
        PaperRow(6.13, -0.07, "20 min"),
        PaperRow(6.13, -0.07, "40 min"),
        PaperRow(6.13, -0.08, "4 h"),
    ),
    ("cvrp", 50): (
        PaperRow(10.55, 1.73, "16 min"),
        PaperRow(10.46, 0.80, "1.5 h"),
        PaperRow(10.43, 0.58, "2.5 h"),
        PaperRow(10.38, 0.08, "16 h"),
    ),
    ("cvrp", 100): (
        PaperRow(16.20, 3.52, "41 min"),
        PaperRow(15.95, 1.92, "3.5 h"),
        PaperRow(15.88, 1.51, "7 h"),
        PaperRow(15.74, 0.57, "41 h"),
    ),
}
"""Table 1, DACT: T = 1k, 5k, 10k, and augmented (x4 for TSP, x6 for CVRP) at 10k."""
PUBLISHED_MEANS = {
    ("tsp", 20): 3.827,
    ("tsp", 50): 5.696,
    ("tsp", 100): 7.765,
    ("cvrp", 20): 6.14,
    ("cvrp", 50): 10.38,
    ("cvrp", 100): 15.65,
}
"""Concorde (TSP) and LKH3 (CVRP) on other draws of 10,000 instances."""
SIZES = {("absolute", 20): 0.21, ("absolute", 100): 7.93, ("cyclic", 20): 0.10, ("cyclic", 100): 2.98}
"""Table 2b, gaps in percent of TSP50 models at T = 5k."""
LARGEST_RANGE = 0.005
"""Appendix E.3: of the mean over 10,000 instances in ten runs."""


@cache
def libraries() -> dict[str, dict[str, float]]:
    """Tables 4 and 5: gaps of ten runs by the instance's name in small letters; T = 3k (CVRP: 5k) is short."""
    text = files("dact.reproduce").joinpath("paper_libraries.csv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines())
    return {
        row["name"].lower(): {key: float(value) for key, value in row.items() if key not in ("name", "problem")}
        for row in rows
    }
