"""Measurements: how good (evaluate, precision) and how fast (cpu, search, train)."""

from dact.bench.cpu import CASES, Case, Timing, measure_cpu
from dact.bench.evaluate import Evaluation, evaluate
from dact.bench.judge import judge
from dact.bench.precision import PAIRED_SIZES, Comparison, compare, comparison, paired_sets
from dact.bench.recost import recost
from dact.bench.rows import append_rows, check_columns, cpu_name
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
    "Case",
    "Comparison",
    "Evaluation",
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
    "evaluate",
    "judge",
    "measure_cpu",
    "measure_search",
    "measure_training",
    "paired_sets",
    "paper_case",
    "recost",
    "with_file",
]
