"""Curves of a training run, from its CSV file."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dact.instances import InputError
from dact.instances.arrays import FloatArray
from dact.instances.errors import naming
from dact.instances.files import read_text, write_atomically
from dact.plotting.files import FORMATS
from dact.plotting.styles import COLOURS, INK, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METRICS_FILE = "metrics.csv"
NEEDED = ("segments", "minutes", "event")
FAINT = "#bbbbbb"


@dataclass(frozen=True, kw_only=True)
class TrainingLog:
    """The columns of a run's CSV; NaN where a cell is empty."""

    name: str
    columns: Mapping[str, FloatArray]
    events: tuple[str, ...]

    def series(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Minutes and values where there are finite values."""
        values = self.columns.get(name, np.full(len(self.events), np.nan))
        there = np.isfinite(values)
        return self.columns["minutes"][there], values[there]

    def collapses(self) -> FloatArray:
        """When training went back to its best weights."""
        return self.columns["minutes"][[event.startswith("collapse") for event in self.events]]


def read_training(folder: Path) -> TrainingLog:
    """Read the metrics of a run directory."""
    path = folder / METRICS_FILE
    with naming(path):
        rows = _rows(read_text(path))
        if not rows or any(name not in rows[0] for name in NEEDED):
            raise InputError(f"holds no rows with the columns {', '.join(NEEDED)}")
        columns = {name: _numbers(name, [row[name] for row in rows]) for name in rows[0] if name != "event"}
    return TrainingLog(name=folder.resolve().name, columns=columns, events=tuple(row["event"] for row in rows))


def _rows(text: str) -> list[dict[str, str]]:
    """By column; cells beyond the last column are left out, and missing ones are empty."""
    try:
        head, *rows = csv.reader(text.splitlines())
    except (csv.Error, ValueError):
        return []
    return [dict(zip_longest(head, row[: len(head)], fillvalue="")) for row in rows if row]


def save_training_plot(folder: Path, path: Path) -> None:
    """Draw all curves of a run into a file; the extension names the format."""
    check_format(path)
    log = read_training(folder)
    draw_panels([partial(panel, log) for panel in PANELS], _title(log), path)


def check_format(path: Path) -> None:
    """Refuse extensions that no picture has."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"{path}: the extension '{path.suffix}' is not one of {', '.join(FORMATS)}")


def draw_panels(panels: Sequence[Callable[["Axes"], "Axes"]], title: str, path: Path) -> None:
    """A picture of six panels over minutes of training; the extension names the format."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.6), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True)
    for ax, panel in zip(axes.flat, panels, strict=True):
        panel(ax)
    for ax in axes[1]:
        ax.set_xlabel("minutes of training")
    figure.suptitle(title, x=0.01, ha="left", fontweight="bold", color=INK, parse_math=False)
    picture = BytesIO()
    figure.savefig(picture, format=path.suffix.lower()[1:], dpi=160)
    write_atomically(path, lambda stream: stream.write(picture.getvalue()))


def plot_validation(log: TrainingLog, ax: "Axes") -> "Axes":
    """The gap to the reference costs where there is one, else the mean cost; dots are validations."""
    minutes, gap = log.series("validation_gap")
    if len(gap):
        title = "validation gap, %"
    else:
        minutes, gap = log.series("validation_cost")
        title = "validation cost"
    ax.plot(minutes, gap, color=COLOURS[0], marker="o", markersize=3, linewidth=1.4)
    if len(gap):
        ax.axhline(gap.min(), color=INK, linewidth=0.9, linestyle=":")
        ax.set_title(f"best {gap.min():.4g}", loc="right", fontsize="medium", color=INK)
    # The untrained start is often far off; what matters lies near the best.
    if len(gap) > 3 and gap.min() > 0 and gap.max() > 8 * gap.min():
        ax.set_yscale("log")
    return _dress(log, ax, title)


def plot_reward(log: TrainingLog, ax: "Axes") -> "Axes":
    """Mean reward of a step."""
    _curve(log, ax, "reward", COLOURS[2])
    return _dress(log, ax, "reward per step")


def plot_steps(log: TrainingLog, ax: "Axes") -> "Axes":
    """How far an update moves the policy: approximate KL, and the share of clipped ratios."""
    _curve(log, ax, "approx_kl", COLOURS[0])
    ax.set_ylim(bottom=0)
    _second(log, ax, "clip_fraction", "clip fraction")
    return _dress(log, ax, "approximate KL", COLOURS[0])


def plot_entropy(log: TrainingLog, ax: "Axes") -> "Axes":
    """The policy's entropy, and the norm of the actor's gradient before clipping."""
    _curve(log, ax, "entropy", COLOURS[4])
    _second(log, ax, "actor_norm", "gradient norm")
    return _dress(log, ax, "entropy, nats", COLOURS[4])


def plot_critic(log: TrainingLog, ax: "Axes") -> "Axes":
    """Explained variance of the returns: 1 for a perfect critic, 0 for one no better than their mean."""
    _curve(log, ax, "explained_variance", COLOURS[5])
    values = log.series("explained_variance")[1]
    if len(values):
        ax.set_ylim(max(-1.0, min(0.0, float(values.min()))) - 0.02, 1.02)
    return _dress(log, ax, "explained variance of the returns")


def plot_schedule(log: TrainingLog, ax: "Axes") -> "Axes":
    """The learning rate, and the warm-up steps of the curriculum."""
    minutes, rate = log.series("actor_rate")
    power = int(np.floor(np.log10(rate.max()))) if rate.any() else 0
    ax.plot(minutes, rate / 10.0**power, color=COLOURS[0], linewidth=1.4)
    ax.set_ylim(bottom=0)
    _second(log, ax, "warm_up_steps", "warm-up steps", smooth=False)
    return _dress(log, ax, f"actor's learning rate, 1e{power}", COLOURS[0])


PANELS: tuple[Callable[[TrainingLog, "Axes"], "Axes"], ...] = (
    plot_validation,
    plot_reward,
    plot_steps,
    plot_entropy,
    plot_critic,
    plot_schedule,
)


def smoothed(values: FloatArray) -> FloatArray:
    """A running mean over a fortieth of the run, shorter at the ends."""
    width = max(1, len(values) // 40)
    kernel = np.ones(2 * width + 1)
    weight = np.convolve(np.ones(len(values)), kernel, mode="same")
    return np.convolve(values, kernel, mode="same")[: len(values)] / weight[: len(values)]


def _curve(log: TrainingLog, ax: "Axes", name: str, colour: str, smooth: bool = True) -> None:
    """Draw the values faintly, and their running mean over them."""
    minutes, values = log.series(name)
    if smooth and len(values) > 40:
        ax.plot(minutes, values, color=colour, linewidth=0.7, alpha=0.35)
        values = smoothed(values)
    ax.plot(minutes, values, color=colour, linewidth=1.5)


def _second(log: TrainingLog, ax: "Axes", name: str, title: str, smooth: bool = True) -> None:
    """Another curve with an axis of its own on the right."""
    right = ax.twinx()
    _curve(log, right, name, COLOURS[3], smooth)
    right.set_title(title, loc="right", fontsize="medium", color=COLOURS[3])
    right.tick_params(axis="y", colors=COLOURS[3], labelsize="small")
    right.spines[["top", "left"]].set_visible(False)
    right.set_ylim(bottom=0)


def _dress(log: TrainingLog, ax: "Axes", title: str, colour: str = INK) -> "Axes":
    for minute in log.collapses():
        ax.axvline(minute, color=FAINT, linewidth=1.2, linestyle="--", zorder=0)
    return dress(ax, title, colour)


def dress(ax: "Axes", title: str, colour: str = INK) -> "Axes":
    """Set title, grid and margins in the common style."""
    ax.set_title(title, loc="left", fontsize="medium", color=colour)
    ax.tick_params(labelsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.01)
    ax.grid(axis="y", color="#eeeeee", linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def _title(log: TrainingLog) -> str:
    segments, minutes = log.columns["segments"], log.columns["minutes"]
    facts = [f"{segments.max():,.0f} segments in {minutes.max():.1f} minutes"]
    if count := len(log.collapses()):
        facts.append(f"{count} collapse{'s' if count > 1 else ''} (dashed)")
    return f"{plain(log.name)}  ·  " + "  ·  ".join(facts)


def _numbers(name: str, cells: list[str]) -> FloatArray:
    try:
        return np.array([float(cell) if cell else np.nan for cell in cells])
    except ValueError:
        raise InputError(f"column '{name}' holds something that is no number") from None
