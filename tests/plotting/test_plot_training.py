"""Curves of a training run."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from dact.instances import InputError
from dact.plotting import read_training, save_comparison_plot, save_training_plot
from dact.plotting.comparison import distinct_names, plot_curves, plot_validations
from dact.plotting.training import plot_schedule, plot_validation, smoothed

HEAD = "segments,minutes,progress,warm_up_steps,actor_rate,reward,approx_kl,validation_cost,validation_gap,event"
ROWS = ("0,0.1,0,0,1e-4,,,6.0,5.0,start", "50,0.5,0.4,3,9e-5,0.1,0.2,,,", "100,1.0,1,7,8e-5,0.1,0.1,5.5,1.5,best")


def run_of(folder: Path, *rows: str, head: str = HEAD) -> Path:
    """A folder with a metrics file."""
    (folder / "metrics.csv").write_text("\n".join((head, *rows, "")))
    return folder


def test_read(tmp_path: Path):
    """Empty cells are left out of a series; a column that is not there is empty."""
    log = read_training(run_of(tmp_path, *ROWS))
    minutes, gap = log.series("validation_gap")
    assert (minutes.tolist(), gap.tolist()) == ([0.1, 1.0], [5.0, 1.5])
    assert len(log.series("entropy")[1]) == 0
    assert len(log.collapses()) == 0


def test_collapses(tmp_path: Path):
    """Collapses are found by their event."""
    log = read_training(run_of(tmp_path, *ROWS, "150,2.0,1,7,8e-5,0.1,0.1,9.5,9.5,collapse: too high"))
    assert log.collapses().tolist() == [2.0]


def test_validation_shows_the_best(tmp_path: Path):
    """The gap is drawn where there is one, else the cost; the best is written above."""
    log = read_training(run_of(tmp_path, *ROWS))
    ax = plot_validation(log, Figure().add_subplot())
    assert (ax.get_title("left"), ax.get_title("right")) == ("validation gap, %", "best 1.5")
    log = read_training(run_of(tmp_path, "0,0.1,0,0,1e-4,,,6.0,,start"))
    ax = plot_validation(log, Figure().add_subplot())
    assert (ax.get_title("left"), ax.get_title("right")) == ("validation cost", "best 6")


def test_schedule_scales_the_rate(tmp_path: Path):
    """The rate is drawn in its power of ten."""
    ax = plot_schedule(read_training(run_of(tmp_path, *ROWS)), Figure().add_subplot())
    assert ax.get_title("left").endswith("1e-4")
    assert ax.lines[0].get_ydata() == pytest.approx([1, 0.9, 0.8])


def test_smoothing_keeps_a_constant():
    """A running mean of a constant is that constant, ends included."""
    assert smoothed(np.full(100, 3.0)) == pytest.approx(np.full(100, 3.0))
    assert smoothed(np.array([5.0])) == pytest.approx([5.0])


def test_one_row_is_enough(tmp_path: Path):
    """A run that has only just begun can be drawn."""
    save_training_plot(run_of(tmp_path, ROWS[0]), tmp_path / "curves.png")
    assert (tmp_path / "curves.png").exists()


def test_rubbish_is_refused(tmp_path: Path):
    """Other files are named in one sentence."""
    with pytest.raises(InputError, match=r"metrics\.csv: holds no rows"):
        read_training(run_of(tmp_path, "1,2", head="a,b"))
    with pytest.raises(InputError, match="column 'minutes'"):
        read_training(run_of(tmp_path, ROWS[0].replace("0.1", "soon")))
    with pytest.raises(InputError, match="extension"):
        save_training_plot(tmp_path, tmp_path / "curves.txt")


def legend(ax) -> list[str]:
    """Its lines."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_runs_are_compared(tmp_path: Path):
    """A curve for each run in every panel, and the best of each beside its name."""
    folders = [tmp_path / name for name in ("a", "_b", "c$d$")]
    for folder in folders:
        folder.mkdir()
        run_of(folder, *ROWS)
    run_of(folders[1], *ROWS, "150,2.0,1,7,8e-5,0.1,0.1,5.4,0.75,best")
    logs = [read_training(folder) for folder in folders]
    ax = plot_validations(logs, distinct_names(folders), Figure().subplots())
    assert [line.get_ydata().tolist()[-1] for line in ax.lines] == [1.5, 0.75, 1.5]
    assert legend(ax) == [
        "best 1.5  a",
        "best 0.75  _b",
        "best 1.5  c$d$",
    ]
    assert len({line.get_color() for line in ax.lines}) == 3
    assert len(plot_curves(logs, "warm_up_steps", "warm-up steps", Figure().subplots()).lines) == 3
    save_comparison_plot(folders, tmp_path / "all.svg")
    assert "warm-up steps" in (tmp_path / "all.svg").read_text()


def test_costs_are_compared_where_a_run_has_no_gaps(tmp_path: Path):
    """A gap and a cost do not go into one panel; a run without validations is named all the same."""
    rows = (ROWS, ("50,0.5,0.4,3,9e-5,0.1,0.2,5.7,,best",), ("50,0.5,0.4,3,9e-5,0.1,0.2,,,",))
    folders = [tmp_path / name for name in "abc"]
    for folder, each in zip(folders, rows, strict=True):
        folder.mkdir()
        run_of(folder, *each)
    ax = plot_validations([read_training(folder) for folder in folders], "abc", Figure().subplots())
    assert ax.get_title(loc="left") == "validation cost"
    assert legend(ax) == [
        "best 5.5  a",
        "best 5.7  b",
        "not validated  c",
    ]


def test_runs_are_told_apart_by_as_little_as_possible(tmp_path: Path):
    """Folders of one name show those above them; the same one twice, or too many, are refused."""
    assert distinct_names([tmp_path / "x/run", tmp_path / "y/run"]) == ["x/run", "y/run"]
    assert distinct_names([tmp_path / "x/run1", tmp_path / "y/run2"]) == ["run1", "run2"]
    with pytest.raises(InputError, match="a run is named twice"):
        save_comparison_plot([tmp_path, tmp_path / "x" / ".."], tmp_path / "a.png")
    with pytest.raises(InputError, match="25 runs are too many for one picture: at most 24"):
        save_comparison_plot([tmp_path / str(number) for number in range(25)], tmp_path / "a.png")
