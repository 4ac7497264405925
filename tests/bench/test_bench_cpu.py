"""Timing steps on the CPU."""

from pathlib import Path

import pytest
import torch

from dact.bench import CASES, CpuCase, append_rows, cpu_name, measure_cpu
from dact.instances import InputError


def test_every_thread_count_is_timed(problem_name: str):
    """One row per number of threads, percentiles in order, and the number of threads put back."""
    before = torch.get_num_threads()
    case = CpuCase(problem=problem_name, size=5, rows=1, authors_ms=14, steps=3)
    rows = list(measure_cpu((case,), most_threads=2))
    assert [row.threads for row in rows] == [1, 2]
    assert all(0 < row.p20_ms <= row.p50_ms <= row.p80_ms for row in rows)
    assert torch.get_num_threads() == before


def test_authors_numbers():
    """The cases are those that the authors' code was timed with."""
    assert [(case.problem, case.rows, case.authors_ms) for case in CASES] == [
        ("tsp", 1, 14),
        ("tsp", 64, 333),
        ("cvrp", 1, 24),
    ]


def test_rows_are_appended(tmp_path: Path):
    """The header is written once; a folder in the way is named."""
    path = tmp_path / "cpu.csv"
    rows = list(measure_cpu((CpuCase(problem="tsp", size=5, rows=1, authors_ms=14, steps=2),), most_threads=1))
    append_rows(path, rows)
    append_rows(path, rows)
    assert len(path.read_text().splitlines()) == 3
    with pytest.raises(InputError, match="cannot be written"):
        append_rows(tmp_path, rows)


def test_cpu_has_a_name():
    """Rows say what they were measured on."""
    assert cpu_name()
