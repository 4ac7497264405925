"""`dact train`."""

import csv
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from dact.cli import screen, train_view
from dact.cli.train_view import TrainView, line
from dact.cli.training import parse_sweep
from dact.policy import load_weights
from dact.training import Report

TINY = """
name = "tiny"
problem = "tsp"
size = 5
[schedule]
epochs = 2
batches = 1
rows = 3
horizon = 4
[ppo]
segment = 2
[validation]
count = 3
steps = 3
every_batches = 1
[runtime]
device = "cpu"
"""
"""Two horizons of two segments, with a validation after each."""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A config that trains in no time."""
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return path


def test_train(dact, config: Path, tmp_path: Path):
    """One line per validation, one JSON object about the end, and weights that can be used."""
    folder = tmp_path / "run"
    answer = dact("train", config, "--out", folder, "--no-tensorboard", "--json")
    assert answer.code == 0
    record = answer.record
    assert (record["finished"], record["interrupted"], record["segments"]) == (True, False, 4)
    assert answer.err.count(" min  ") == 3
    for word in ("segment 4", "100.0%", "rate ", "warm-up ", "KL ", "entropy ", "best cost"):
        assert word in answer.err
    card = load_weights(Path(record["weights"])).card
    assert (card.problem, card.size) == ("tsp", 5)
    assert "resume" not in answer.err
    assert "no best weights" not in answer.err


def test_limit_and_resume(dact, config: Path, tmp_path: Path):
    """A call that its minutes end says how to go on, and that command finishes the run."""
    folder = tmp_path / "run"
    answer = dact("train", config, "--out", folder, "--minutes", 0, "--set", "seed=5", "--no-tensorboard")
    assert answer.code == 0
    assert f"dact train --resume {folder}" in answer.err
    assert "there are no best weights yet" in answer.err
    again = dact("train", "--resume", folder, "--no-tensorboard", "--json").record
    assert (again["finished"], again["segments"]) == (True, 4)
    assert "seed = 5" in (folder / "config.toml").read_text()


def test_mistakes_are_one_sentence(dact, config: Path, tmp_path: Path):
    """Whatever is wrong is named, with exit code 2 and before anything is trained."""
    run = tmp_path / "run"
    dact("train").refused("config file is needed")
    dact("train", tmp_path / "gone.toml").refused("gone.toml", "does not exist")
    dact("train", config, "--out", run, "--set", "rows=-1").refused("schedule.rows is -1")
    dact("train", config, "--out", run, "--set", "nonsense=1").refused("'nonsense' is unknown")
    dact("train", config, "--out", run, "--set", "raws=1").refused("'raws' is unknown; did you mean 'rows'?")
    dact("train", config, "--out", run, "--minutes", -1).refused("minutes -1")
    dact("train", config, "--out", run, "--init", "nowhere.safetensors").refused("nowhere.safetensors")
    dact("train", "--resume", run, "--out", run).refused("--out")
    dact("train", "--resume", tmp_path / "none").refused("cannot be read")
    dact("train", config, "--sweep", "rate").refused("key=value,value")
    dact("train", config, "--sweep", "curriculum.rate=1,1").refused("twice")
    assert parse_sweep("sizes=[5, 6],[7],8") == ("sizes", ["[5, 6]", "[7]", "8"])
    dact("train", config, "--out", run, "--sweep", "curriculum.rate=1,-1").refused("curriculum.rate -1")
    config.write_text("name = [")
    dact("train", config).refused("is not TOML")
    assert not (run / "metrics.csv").exists()
    config.write_text(TINY)
    dact("train", config, "--out", config / "run").refused("cannot be made")


def test_interrupt(dact, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Ctrl-C ends the run with a checkpoint, the command to go on, and exit code 130."""
    show = TrainView.show

    def press(self: TrainView, report: Report) -> None:
        show(self, report)
        if report.segments == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(TrainView, "show", press)
    folder = tmp_path / "run"
    answer = dact("train", config, "--out", folder, "--no-tensorboard", "--json")
    assert answer.code == 130
    assert answer.record["interrupted"]
    assert f"interrupted; go on with: dact train --resume {folder}" in answer.err
    assert (folder / "checkpoint.pt").exists()


def test_terminated_process(config: Path, tmp_path: Path):
    """A real process that gets SIGTERM leaves a checkpoint and exits with code 130, without a traceback."""
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "dact", "train", config, "--out", folder, "--no-tensorboard"]
    command += ["--set", "epochs=1000000", "--set", "validation.every_batches=0"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        assert "[start]" in process.stderr.readline()
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "--resume" in err
    assert (folder / "checkpoint.pt").exists()


def test_sweep(dact, config: Path, tmp_path: Path):
    """One run per value, each in a folder of its own, and a row for each."""
    folder = tmp_path / "sweep"
    answer = dact("train", config, "--out", folder, "--sweep", "curriculum.rate=0.25,1", "--no-tensorboard", "--json")
    assert answer.code == 0
    assert [record["setting"] for record in answer.records] == ["curriculum.rate=0.25", "curriculum.rate=1"]
    assert "last cost" in answer.err
    for record in answer.records:
        assert Path(record["folder"], "metrics.csv").exists()
        assert record["last_cost"] > 0
    texts = [Path(record["folder"], "config.toml").read_text() for record in answer.records]
    assert ["rate = 0.25" in text for text in texts] == [True, False]


def test_a_sweep_checks_its_folders_first(dact, config: Path, tmp_path: Path):
    """A folder of a later value that holds a run is refused before the first is trained."""
    folder = tmp_path / "sweep"
    dact("train", config, "--out", folder / "seed=2", "--minutes", 0, "--no-tensorboard")
    dact("train", config, "--out", folder, "--sweep", "seed=1,2").refused("seed=2 holds a run already")
    assert not (folder / "seed=1").exists()


def test_live_view(monkeypatch: pytest.MonkeyPatch):
    """In a terminal a panel shows how far, how good and how steady, and a collapse stays on the screen."""
    console = Console(force_terminal=True, width=150, record=True, color_system=None)
    monkeypatch.setattr(screen, "CONSOLE", console)
    monkeypatch.setattr(train_view, "CONSOLE", console)
    numbers = {"approx_kl": 0.0123, "clip_fraction": 0.25, "entropy": 2.5, "explained_variance": 0.5, "reward": 0.01}
    shared = {"progress": 0.5, "warm_up_steps": 12, "actor_rate": 1e-4, "metrics": numbers}
    with TrainView("tiny") as view:
        view.show(Report(segments=8, minutes=1, validation_cost=3.9, validation_gap=1.5, best_cost=3.9, **shared))
        view.show(Report(segments=9, minutes=2, event="collapse: all is lost", collapsed=True, best_cost=3.9, **shared))
    text = console.export_text()
    for word in ("50%", "segments 9", "warm-up 12", "validation 3.9000 (1.500 %)", "KL 0.0123", "clipped 0.25"):
        assert word in text
    assert "all is lost" in text


def test_line_without_references():
    """A line holds no gap where there are no reference costs, and names the event."""
    report = Report(
        segments=3, minutes=0.5, progress=0.1, warm_up_steps=0, actor_rate=1e-4, validation_cost=4.0, event="start"
    )
    assert line(report, {}) == ("0.50 min  10.0%  segment 3  cost 4.0000  best -  rate 1.00e-04  warm-up 0  [start]")


def test_plot_training(dact, config: Path, tmp_path: Path):
    """The curves of a run, or of two, go to the folder or to the file named; a folder without metrics is refused."""
    folder = tmp_path / "run"
    dact("train", config, "--out", folder, "--no-tensorboard")
    assert dact("plot", "training", folder).code == 0
    assert (folder / "training.png").read_bytes().startswith(b"\x89PNG")
    assert dact("plot", "training", folder, "--out", tmp_path / "new/curves.svg").code == 0
    assert "<svg" in (tmp_path / "new/curves.svg").read_text()
    other = tmp_path / "other"
    other.mkdir()
    (other / "metrics.csv").write_bytes((folder / "metrics.csv").read_bytes())
    assert dact("plot", "training", folder, other, "--out", tmp_path / "both.png").code == 0
    assert (tmp_path / "both.png").read_bytes().startswith(b"\x89PNG")
    dact("plot", "training", tmp_path).refused("metrics.csv", "does not exist")
    dact("plot", "training", folder, "--out", tmp_path / "curves.txt").refused(".png")


def test_bench_train(dact, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A row for the config's shape, also appended to a CSV file; the paper's shapes need a GPU."""
    path = tmp_path / "train.csv"
    answer = dact("bench", "train", "--config", config, "--json", "--out", path)
    assert answer.record["batch_s"] > 0
    assert "tsp5 x 3" in answer.err
    (row,) = csv.DictReader(path.read_text().splitlines())
    assert {"device", "commit", "torch"} <= row.keys()
    dact("bench", "train", "--config", config, "--quick").refused("--quick")
    path.write_text("date,device\n")
    dact("bench", "train", "--config", config, "--out", path).refused("train.csv", "other columns")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    dact("bench", "train").refused("--quick")
