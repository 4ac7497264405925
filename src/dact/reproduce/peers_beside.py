"""Other solvers beside the main table: rows that `dact bench peers` measured on their own."""

from collections.abc import Sequence
from pathlib import Path

from dact.bench.peers import Scale, read_rows
from dact.instances import facts_of
from dact.peers import PEERS
from dact.reproduce.base import Cell, Table

FOLDER = Path("docs/reproduction/peers")
SCALE = Scale(instances=10_000, cores=16)
COLUMNS = {
    **dict.fromkeys(("set", "solver", "version", "on", "instances measured")),
    **{"seconds for 10,000": 0, "gap, %": 3, "+-": 3},
}


def beside(sets: Sequence[tuple[str, int]], folder: Path) -> tuple[list[Table], list[str], list[str]]:
    """The table, if there are any rows; what has to be said of it; and the sets that nobody has measured."""
    rows: list[tuple[Cell, ...]] = []
    missing = []
    for problem, size in sets:
        title = f"{facts_of(problem).title}{size}"
        found = _rows(title, sorted(folder.glob(f"{problem}{size}_*.csv")))
        rows += found
        missing += [] if found else [title]
    if not rows:
        return [], [], missing
    title = "Other solvers, in percent above LKH (TSP) and HGS (CVRP) of long runs"
    told = (
        "Other solvers were measured by `dact bench peers` on CPU cores, with instances of seed 4321, and their times "
        "are scaled to 10,000 instances on 16 cores: pages, pictures and all rows are in `peers/`."
    )
    solvers = {row[1] for row in rows}
    terms = [peer.terms for peer in PEERS if peer.terms and peer.name in solvers]
    return [Table(name="peers", title=title, columns=COLUMNS, rows=rows)], [told, *terms], missing


def _rows(title: str, files: Sequence[Path]) -> list[tuple[Cell, ...]]:
    peers = {peer.name for peer in PEERS}
    return [
        (title, row.solver, row.version, SCALE.place(row), row.instances, SCALE.seconds(row), row.gap, row.error)
        for file in files
        for row in read_rows(file)
        if row.solver in peers
    ]
