"""Comparison with other solvers on the same instances, time, machine and checker."""

from dact.bench.peers.contest import Contest, Solver, cores_here
from dact.bench.peers.measure import LeftOut, measure
from dact.bench.peers.points import Point, Scale, points
from dact.bench.peers.report import COLUMNS, Report, cells
from dact.bench.peers.rows import PeerRow, RowsFile, merged, read_rows
from dact.bench.peers.solvers import OwnSolver, PeerSolver, all_solvers

__all__ = [
    "COLUMNS",
    "Contest",
    "LeftOut",
    "OwnSolver",
    "PeerRow",
    "PeerSolver",
    "Point",
    "Report",
    "RowsFile",
    "Scale",
    "Solver",
    "all_solvers",
    "cells",
    "cores_here",
    "measure",
    "merged",
    "points",
    "read_rows",
]
