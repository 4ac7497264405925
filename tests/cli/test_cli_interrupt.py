"""Ctrl-C: nothing found so far is lost."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dact.cli.screen import Bar
from dact.instances import read, read_solution
from dact.interrupts import Interrupts


def _interrupt_at(monkeypatch: pytest.MonkeyPatch, call: int) -> None:
    """Press Ctrl-C during the given report of progress."""
    calls = iter(range(1, 10**9))

    def show(self: Bar, fraction: float, detail: str, title: str | None = None) -> None:
        if next(calls) == call:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Bar, "show", show)


def test_best_so_far_is_printed_and_written(dact, depot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The search ends at the step of the Ctrl-C, its best is printed, written and drawn, and the code is 130."""
    _interrupt_at(monkeypatch, 5)
    out, picture = tmp_path / "best.sol", tmp_path / "best.png"
    answer = dact("solve", depot, "--steps", 10**6, "--json", "--out", out, "--plot", picture)
    assert answer.code == 130
    assert (answer.record["steps"], answer.record["feasible"]) == (5, True)
    assert "interrupted" in answer.err
    assert read_solution(out, read(depot))
    assert picture.exists()


def test_waiting_instances_are_answered_too(dact, square: Path, depot: Path, monkeypatch: pytest.MonkeyPatch):
    """Instances not yet searched are answered with their starts."""
    _interrupt_at(monkeypatch, 1)
    answer = dact("solve", square, depot, "--steps", 10**6, "--json")
    assert answer.code == 130
    assert [record["steps"] for record in answer.records] == [1, 0]


def test_evaluation_ends_with_130(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An evaluation cut short gives no figures."""
    path = tmp_path / "set.npz"
    dact("generate", "tsp", "--size", 5, "--count", 2, "--out", path)
    _interrupt_at(monkeypatch, 2)
    answer = dact("evaluate", path, "--steps", 10**6, "--json")
    assert (answer.code, answer.out) == (130, "")


def test_second_interrupt_is_immediate():
    """The first Ctrl-C waits to be obeyed, the second does not."""
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            interrupts.obey()


def test_patience_bears_many_interrupts():
    """Where one Ctrl-C may come twice, none is immediate."""
    with Interrupts(signal.SIGINT, signal.SIGTERM, patient=True) as interrupts:
        for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
            signal.raise_signal(number)
        assert interrupts.asked


def test_interrupted_process(depot: Path, tmp_path: Path):
    """A real process that gets SIGINT prints one JSON line and exits with code 130, without a traceback."""
    command = [sys.executable, "-m", "dact", "solve", depot, "--steps", "100000000", "--json", "--weights", "untrained"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        assert "untrained" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out.count("\n") == 1
    assert "Traceback" not in err
