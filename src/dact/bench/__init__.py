"""Measurements: how good (evaluate) and how fast (cpu)."""

from dact.bench.cpu import CASES, Case, Timing, append_rows, cpu_name, measure_cpu
from dact.bench.evaluate import Evaluation, evaluate, part
from dact.bench.judge import judge

__all__ = [
    "CASES",
    "Case",
    "Evaluation",
    "Timing",
    "append_rows",
    "cpu_name",
    "evaluate",
    "judge",
    "measure_cpu",
    "part",
]
