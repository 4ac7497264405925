"""Measurements: how good (evaluate) and how fast (cpu, train)."""

from dact.bench.cpu import CASES, Case, Timing, append_rows, cpu_name, measure_cpu
from dact.bench.evaluate import Evaluation, evaluate, part
from dact.bench.judge import judge
from dact.bench.train import QUICK_CASES, TRAIN_CASES, TrainCase, TrainTiming, case_of, measure_training

__all__ = [
    "CASES",
    "QUICK_CASES",
    "TRAIN_CASES",
    "Case",
    "Evaluation",
    "Timing",
    "TrainCase",
    "TrainTiming",
    "append_rows",
    "case_of",
    "cpu_name",
    "evaluate",
    "judge",
    "measure_cpu",
    "measure_training",
    "part",
]
