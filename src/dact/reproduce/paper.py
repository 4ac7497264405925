"""Numbers printed in the paper."""

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


PUBLISHED_MEANS = {
    ("tsp", 20): 3.827,
    ("tsp", 50): 5.696,
    ("tsp", 100): 7.765,
    ("cvrp", 20): 6.14,
    ("cvrp", 50): 10.38,
    ("cvrp", 100): 15.65,
}
"""Concorde (TSP) and LKH3 (CVRP) on other draws of 10,000 instances."""
ASPECTS = {
    ("single", 50): {1000: (0.35, "2 min"), 5000: (0.05, "7 min")},
    ("single", 100): {1000: (3.49, "4 min"), 5000: (1.55, "22 min")},
    ("dual", 50): {1000: (0.14, "2 min"), 5000: (0.02, "8 min")},
    ("dual", 100): {1000: (1.62, "5 min"), 5000: (0.61, "25 min")},
}
"""Table 3: gaps in percent and times (on four GPUs, by Table 1), by aspects, nodes and steps."""
PARAMETERS = {"single": "0.37 M", "dual": "0.29 M"}
"""Table 3."""
SIZES = {("absolute", 20): 0.21, ("absolute", 100): 7.93, ("cyclic", 20): 0.10, ("cyclic", 100): 2.98}
"""Table 2b, gaps in percent of TSP50 models at T = 5k."""
LARGEST_RANGE = 0.005
"""Appendix E.3: range of the mean cost of 10,000 instances over ten runs."""


def above_published(problem: str, size: int, cost: float) -> float | None:
    """Percent by which a mean cost exceeds the published mean; None where there is none."""
    mean = PUBLISHED_MEANS.get((problem, size))
    return None if mean is None else 100 * (cost / mean - 1)


@cache
def main() -> dict[tuple[str, int], dict[str, PaperRow]]:
    """Table 1, DACT: by problem and customers, then by T, with `x4` or `x6` behind it where augmented."""
    sets: dict[tuple[str, int], dict[str, PaperRow]] = {}
    for row in _rows("paper_main.csv"):
        searches = sets.setdefault((row["problem"], int(row["size"])), {})
        searches[row["search"]] = PaperRow(float(row["cost"]), float(row["gap"]), row["time"])
    return sets


@cache
def libraries() -> dict[str, dict[str, float]]:
    """Tables 4 and 5: gaps of ten runs by the instance's name in small letters; T = 3k (CVRP: 5k) is short."""
    return {
        row["name"].lower(): {key: float(value) for key, value in row.items() if key not in ("name", "problem")}
        for row in _rows("paper_libraries.csv")
    }


def _rows(name: str) -> "csv.DictReader[str]":
    return csv.DictReader(files("dact.reproduce").joinpath(name).read_text(encoding="utf-8").splitlines())
