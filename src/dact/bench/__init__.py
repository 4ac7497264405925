"""Measurements of speed (cpu, search, train) and of what a precision costs."""

from dact.bench.cpu import CASES, CpuCase, Timing, measure_cpu
from dact.bench.measurements import append_rows, check_columns, cpu_name
from dact.bench.precision import PAIRED_SIZES, Comparison, compare, comparison, paired_sets
from dact.bench.search import (
    QUICK_SEARCH_CASES,
    SEARCH_CASES,
    SearchCase,
    SearchTiming,
    measure_search,
    with_file,
)
from dact.bench.train import QUICK_CASES, TRAIN_CASES, TrainCase, TrainTiming, measure_training, paper_case

__all__ = [
    "CASES",
    "PAIRED_SIZES",
    "QUICK_CASES",
    "QUICK_SEARCH_CASES",
    "SEARCH_CASES",
    "TRAIN_CASES",
    "Comparison",
    "CpuCase",
    "SearchCase",
    "SearchTiming",
    "Timing",
    "TrainCase",
    "TrainTiming",
    "append_rows",
    "check_columns",
    "compare",
    "comparison",
    "cpu_name",
    "measure_cpu",
    "measure_search",
    "measure_training",
    "paired_sets",
    "paper_case",
    "with_file",
]
