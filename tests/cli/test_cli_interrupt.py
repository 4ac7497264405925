"""Ctrl-C: nothing found so far is lost."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from dact.cli.screen import Bar
from dact.instances import generate_set, read, read_set, read_solution
from dact.interrupts import Interrupts
from dact.search.hybrid import HybridSearcher

EXAMPLE = Path(__file__).parents[2] / "examples/harbour60.vrp"


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
    answer = dact("solve", depot, "--search", "policy", "--steps", 10**6, "--json", "--out", out, "--plot", picture)
    assert answer.code == 130
    assert (answer.record["steps"], answer.record["feasible"]) == (5, True)
    assert "interrupted" in answer.err
    assert read_solution(out, read(depot))
    assert picture.exists()


def test_waiting_instances_are_left_out(dact, square: Path, depot: Path, monkeypatch: pytest.MonkeyPatch):
    """Instances not yet searched have no answer."""
    _interrupt_at(monkeypatch, 1)
    answer = dact("solve", square, depot, "--search", "policy", "--steps", 10**6, "--json")
    assert answer.code == 130
    assert (answer.record["name"], answer.record["steps"], answer.record["interrupted"]) == ("square", 1, True)


@pytest.mark.parametrize("detail", ["drawing", "writing"])
def test_a_set_that_is_not_wanted_any_more(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, detail: str):
    """Ctrl-C while a set is drawn or written leaves nothing behind, says so, and the code is 130."""

    def show(self: Bar, fraction: float, shown: str, title: str | None = None) -> None:
        if shown == detail:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Bar, "show", show)
    monkeypatch.setattr("dact.instances.generate.AT_ONCE", 10)
    before = signal.getsignal(signal.SIGINT)
    answer = dact("generate", "cvrp", "--size", 5, "--count", 9, "--out", tmp_path / "set.npz")
    assert (answer.code, answer.out) == (130, "")
    assert answer.err == f"interrupted: {tmp_path / 'set.npz'} was not written\n"
    assert not list(tmp_path.iterdir())
    assert signal.getsignal(signal.SIGINT) == before


def test_a_set_that_is_written_already(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ctrl-C after a set has been written is too late: it is there, is told as usual, and the code is 0."""
    end = Bar.__exit__

    def late(self: Bar, *error) -> None:
        end(self, *error)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Bar, "__exit__", late)
    answer = dact("generate", "tsp", "--size", 5, "--count", 2, "--out", tmp_path / "set.npz")
    assert (answer.code, answer.err) == (0, f"{tmp_path / 'set.npz'}: 2 TSP instances of size 5, seed 1234\n")
    assert read_set(tmp_path / "set.npz").coordinates.shape == (2, 5, 2)


def test_evaluation_ends_with_130(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An evaluation cut short gives no figures."""
    path = tmp_path / "set.npz"
    dact("generate", "tsp", "--size", 5, "--count", 2, "--out", path)
    _interrupt_at(monkeypatch, 2)
    answer = dact("evaluate", path, "--steps", 10**6, "--json")
    assert (answer.code, answer.out) == (130, "")
    assert "nothing is kept without --out" in answer.err


def test_evaluation_keeps_finished_blocks(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """An evaluation cut short says what it kept, and the same command gives the figures of a run that was let be."""
    path, out = tmp_path / "set.npz", tmp_path / "kept.jsonl"
    dact("generate", "tsp", "--size", 6, "--count", 5, "--out", path)
    command = ("evaluate", path, "--steps", 4, "--rows", 2, "--json")
    with monkeypatch.context() as pressed:
        _interrupt_at(pressed, 6)
        answer = dact(*command, "--out", out)
    assert (answer.code, answer.out) == (130, "")
    assert f"{out} keeps 2 finished instances" in answer.err
    again, whole = dact(*command, "--out", out).record, dact(*command).record
    assert (again["instances"], again["mean_cost"]) == (5, whole["mean_cost"])


def test_evaluation_whose_partners_left(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where Ctrl-C has ended the other processes of a team, a broken connection is no error; otherwise it is."""
    path = tmp_path / "set.npz"
    dact("generate", "tsp", "--size", 5, "--count", 2, "--out", path)

    def lose(*arguments: object, **settings: object) -> None:
        if pressed:
            signal.raise_signal(signal.SIGINT)
        raise RuntimeError("connection closed by peer")

    monkeypatch.setattr("dact.cli.evaluating.evaluate", lose)
    pressed = True
    assert dact("evaluate", path).code == 130
    pressed = False
    with pytest.raises(RuntimeError, match="closed by peer"):
        dact("evaluate", path)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock that a test moves."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("dact.interrupts.time.monotonic", lambda: clock.now)
    return clock


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_later_interrupt_is_immediate(number: signal.Signals, clock: SimpleNamespace):
    """The first signal waits to be obeyed, and so do those that come with it; a later one does not wait."""
    with Interrupts() as interrupts:
        signal.raise_signal(number)
        clock.now += 0.05
        signal.raise_signal(number)
        clock.now += 1
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
        with pytest.raises(KeyboardInterrupt):
            interrupts.obey()


def test_answers_on_their_way_out_are_not_interrupted(clock: SimpleNamespace):
    """While an answer is written no signal is immediate, however many come; nor is one where we are patient."""
    for interrupts in (Interrupts(), Interrupts(patient=True)):
        with interrupts, interrupts.held_off():
            for number in (signal.SIGINT, signal.SIGINT, signal.SIGTERM):
                signal.raise_signal(number)
                clock.now += 1
            assert interrupts.asked
        assert interrupts.patient == (interrupts.patient is True)


def test_instances_that_were_not_begun_are_named(dact, square: Path, depot: Path, monkeypatch: pytest.MonkeyPatch):
    """After Ctrl-C the names of the instances still waiting are told."""
    _interrupt_at(monkeypatch, 1)
    answer = dact("solve", square, depot, "--search", "policy", "--steps", 10**6)
    assert (answer.code, "not begun, and so without an answer: depot\n" in answer.err) == (130, True)
    assert "depot" not in answer.out


def test_interrupted_process(depot: Path, tmp_path: Path):
    """A real process that gets SIGTERM and SIGINT in a row prints one JSON line and exits with code 130."""
    command = [sys.executable, "-m", "dact", "solve", depot, "--steps", "100000000", "--json", "--weights", "untrained"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        assert "untrained" in process.stderr.readline()
        for number in (signal.SIGTERM, signal.SIGINT):
            process.send_signal(number)
            time.sleep(0.03)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_process_that_has_hardly_begun(square: Path, number: signal.Signals):
    """A signal that comes while the program is still loading ends it with one line and code 130."""
    # The program tells us that it is about to load PyTorch.
    code = (
        "import sys, builtins\n"
        "from dact.__main__ import main\n"
        "load = builtins.__import__\n"
        "def told(name, *more, **named):\n"
        "    if name == 'torch': builtins.__import__ = load; print('loading', flush=True)\n"
        "    return load(name, *more, **named)\n"
        "builtins.__import__ = told\n"
        f"sys.argv = ['dact', 'solve', {str(square)!r}, '--steps', '100000000']\n"
        "sys.exit(main())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "interrupted: nothing had been searched\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["solve", "evaluate"])
def test_signals_while_compiling(dact, depot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command, number):
    """The first search on a machine compiles for half a minute; two signals at once end it then, with code 130."""
    forever = threading.Event()

    def compile_for_long() -> None:
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        forever.wait()

    monkeypatch.setattr("dact.cli.compiling.needs_compiling", lambda device: True)
    monkeypatch.setattr("dact.cli.compiling.compile_for_cpu", compile_for_long)
    answer = dact(command, depot, "--search", "hybrid", "--json")
    forever.set()
    assert (answer.code, answer.out) == (130, "")
    assert "compiling the local search" in answer.err
    assert "interrupted: " in answer.err


def test_what_is_watched_is_done():
    """Without a signal the work is done, and its errors come through."""
    done = []
    with Interrupts() as interrupts:
        interrupts.watch(lambda: done.append(1))
        with pytest.raises(ZeroDivisionError):
            interrupts.watch(lambda: done.append(1 // 0))
    assert done == [1]


def test_the_last_descent_can_be_interrupted(dact, depot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Of a large instance it takes a minute: a Ctrl-C ends it, what was found is kept, and no other is begun."""
    finish = HybridSearcher.finish

    def interrupted(self, batch, tour_BN, over):
        os.kill(os.getpid(), signal.SIGINT)
        assert over()
        return finish(self, batch, tour_BN, over)

    monkeypatch.setattr(HybridSearcher, "finish", interrupted)
    monkeypatch.setattr(HybridSearcher, "exact", lambda self, batch: None)
    out = tmp_path / "out"
    answer = dact("solve", depot, EXAMPLE, "--search", "hybrid", "--steps", 3, "--json", "--out", out)
    assert (answer.code, answer.record["interrupted"]) == (130, True)
    assert "not begun, and so without an answer: harbour60" in answer.err
    assert [path.name for path in out.glob("*.sol")] == [f"{depot.stem}.sol"]


def test_a_signal_behind_the_work(depot: Path):
    """Python's own end is not disturbed: the exit code is that of the work, and nothing else is said."""
    program = (
        "import atexit, os, signal, sys\n"
        "from dact.__main__ import main\n"
        "atexit.register(lambda: [os.kill(os.getpid(), each) for each in (signal.SIGINT, signal.SIGTERM)])\n"
        f"sys.argv = ['dact', 'solve', {str(depot)!r}, '--steps', '2', '--json', '--search', 'policy']\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "Exception" not in done.stderr
    assert "interrupted" not in done.stderr


def test_a_comparison_of_variants_keeps_what_was_measured(dact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ctrl-C in the second of two searches: the first one's row is printed and written, and the code is 130."""
    set_file, out = tmp_path / "set.npz", tmp_path / "out"
    generate_set("tsp", 10, 2, seed=1).save_npz(set_file)
    _interrupt_at(monkeypatch, 2)
    command = ("bench", "hybrid", set_file, "--count", 2, "--steps", "3,6", "--device", "cpu", "--out", out)
    answer = dact(*command)
    assert answer.code == 130
    assert "interrupted: 1 of 2 searches were measured" in answer.err
    assert "3 rounds" in (out / "hybrid.md").read_text()
    assert "6 rounds" not in (out / "hybrid.md").read_text()
